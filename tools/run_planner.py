#!/usr/bin/env python3
"""Run one planner on one CSV file and print a line of JSON: peak, seconds, whether it is proven.

    run_planner.py dramalloc:best FILE.csv --budget 3 --library target/release/libdramalloc.so
    run_planner.py omnimalloc:supermalloc FILE.csv --budget 3

A process of its own per run, so that memory and a crash are the planner's alone. Reading the file
and making the planner's own objects is not timed; the call is, in processor time (`seconds`) and by the
wall (`wall`). The placement is checked here.
"""

import argparse
import ctypes
import json
import resource
import sys
import time

import placements

# Of dramalloc.h; `tools/test_comparison.py` holds them against it.
STRATEGIES = {"fast": 0, "reference": 1, "best": 2}
PLAN_STATUS_OPTIMAL = 0
NO_LIMIT = 2**64 - 1
SIZE, U64, U32, POINTER = ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_void_p


class Problem(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("count", SIZE), ("starts", POINTER), ("intervals", POINTER),
                ("sizes", POINTER), ("alignments", POINTER), ("pins", POINTER), ("labels", POINTER),
                ("regions", POINTER), ("region_count", SIZE)]


class Result(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("peak", U64), ("bound", U64), ("floor", U64), ("status", U32),
                ("straddler_count", U32)]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("capacity", U64), ("budget_ms", U64), ("budget_steps", U64),
                ("align", U64), ("cc_limit", ctypes.c_int64), ("runtime_page", U64),
                ("shared_mib_per_core", U64), ("regions", POINTER), ("region_count", SIZE),
                ("strategy", U32), ("preset", U32), ("floor", U32), ("geometry", U32), ("packed", U32),
                ("reuse_io", U32), ("strict", U32), ("trim_cc", U32), ("usage_mask", U32),
                ("separate_functions", U32)]


class Text(ctypes.Structure):
    _fields_ = [("data", POINTER), ("length", SIZE)]


class Progress(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("phase", Text), ("done", U64), ("total", U64), ("bound", U64),
                ("incumbent", U64), ("elapsed_us", U64)]


PROGRESS = ctypes.CFUNCTYPE(None, POINTER, ctypes.POINTER(Progress))


class Control(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("cancel", POINTER), ("progress", PROGRESS), ("progress_user", POINTER),
                ("shared", POINTER), ("shared_user", POINTER)]


def processor_time():
    """Seconds that this process has computed.

    Not time.process_time(): a limit of processor time makes that one count in ticks of milliseconds.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def dramalloc(buffers, strategy, budget, path):
    """A function that places the buffers through the C ABI and returns offsets, and one that says what
    else is known of its last call."""
    library = ctypes.CDLL(path)
    library.dram_error_message.restype = ctypes.c_char_p
    library.dram_error_message.argtypes = [POINTER]
    count = len(buffers)
    intervals = (ctypes.c_int64 * (2 * count))()
    intervals[0::2], intervals[1::2] = buffers.lower, buffers.upper
    sizes = (U64 * count)(*buffers.size)
    problem = Problem(struct_size=ctypes.sizeof(Problem), count=count,
                      intervals=ctypes.addressof(intervals), sizes=ctypes.addressof(sizes))
    options = Options(struct_size=ctypes.sizeof(Options), strategy=STRATEGIES[strategy])
    if strategy == "best":  # Time alone ends the search, as it does the others'.
        options.budget_ms, options.budget_steps = max(1, round(budget * 1000)), NO_LIMIT
    better, begun = [], [0.0]

    def note(_, progress):
        found = progress.contents.incumbent
        if found != NO_LIMIT and (not better or found < better[-1][1]):
            better.append((round(processor_time() - begun[0], 7), found))

    control = Control(struct_size=ctypes.sizeof(Control), progress=PROGRESS(note))
    offsets = (U64 * count)()
    result = Result(struct_size=ctypes.sizeof(Result))
    error = POINTER()

    def run():
        better.clear()
        begun[0] = processor_time()
        status = library.dram_problem_solve(ctypes.byref(problem), ctypes.byref(options), ctypes.byref(control),
                                            offsets, ctypes.byref(result), ctypes.byref(error))
        if status != 0:
            raise RuntimeError(library.dram_error_message(error).decode())
        return offsets

    def known():
        return {"proven": result.status == PLAN_STATUS_OPTIMAL, "better": list(better)}

    run.keep = intervals, sizes  # What `problem` points at lives as long as the function.
    return run, known


def omnimalloc(buffers, name, budget):
    """The same for a planner of that package, on one thread."""
    import omnimalloc as package
    from omnimalloc import allocators

    package.set_max_threads(1)
    many = 10**9  # Iterations: time alone ends a search.
    make = {
        "omni": lambda: allocators.OmniAllocator(),
        "greedy_by_size": lambda: allocators.GreedyBySizeAllocator(),
        "best_fit": lambda: allocators.BestFitAllocator(),
        "supermalloc": lambda: allocators.SupermallocAllocator(timeout=budget, num_threads=1),
        "tabu_search": lambda: allocators.TabuSearchAllocator(timeout=budget, max_iterations=many),
        "hill_climb": lambda: allocators.HillClimbAllocator(timeout=budget, max_iterations=many),
        "telamalloc": lambda: allocators.TelamallocAllocator(timeout=budget, max_backtracks=many),
    }
    planner = make[name]()
    rows = zip(buffers.size, buffers.lower, buffers.upper)
    todo = tuple(package.Allocation(i, size, lower, upper) for i, (size, lower, upper) in enumerate(rows))
    proven = []

    def run():
        if name == "supermalloc":  # The call that also says whether it has a proof.
            solved = planner.solve(todo)
            proven.append(solved.proved_optimal)
            return solved.allocations
        return planner.allocate(todo)

    return run, lambda: {"proven": bool(proven and proven[-1])}


def measure(make, budget):
    """Runs what `make` makes for a budget; the placement, the number of runs, what is known of the fastest.

    Both packages stop by the wall's clock. Where other work takes the processor, a search that used all
    of its budget computed for less; it is run again for so much longer that it gets about its budget of
    processor time. What ends early is repeated, and the least time counts.
    """
    asked, begun, runs, seconds = budget, time.perf_counter(), 0, 0.0
    while True:
        run, known = make(asked)
        wall, start = time.perf_counter(), processor_time()
        result = run()
        used, passed, runs = processor_time() - start, time.perf_counter() - wall, runs + 1
        cut = passed >= 0.9 * asked
        if runs == 1 or cut or used <= seconds:
            seconds, placed = used, result
            best = {"seconds": round(used, 7), "wall": round(passed, 7), "asked": round(asked, 3), **known()}
        if cut and used < 0.8 * budget and runs < 4:
            asked = passed * min(budget / max(used, 1e-3), 20)
        elif cut or runs >= 5 or time.perf_counter() - begun >= min(1.0, budget / 2):
            return placed, runs, best


def in_order(placed, count):
    """Offsets by buffer, from either planner's result."""
    if isinstance(placed, ctypes.Array):
        return list(placed)
    offsets = [None] * count
    for allocation in placed:
        offsets[allocation.id] = allocation.offset
    if None in offsets:
        raise ValueError(f"buffer {offsets.index(None)} has no offset")
    return offsets


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planner")
    parser.add_argument("file")
    parser.add_argument("--budget", type=float, default=3.0)
    parser.add_argument("--library", default="")
    parser.add_argument("--memory-gib", type=float, default=0, help="end above this")
    parser.add_argument("--patience", type=int, default=0, help="end by SIGXCPU after these seconds of processor time")
    args = parser.parse_args()
    if args.memory_gib:
        limit = int(args.memory_gib * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    if args.patience:
        resource.setrlimit(resource.RLIMIT_CPU, (args.patience, args.patience + 1))
    buffers = placements.read(args.file)
    package, name = args.planner.split(":")

    def make(seconds):
        if package == "dramalloc":
            return dramalloc(buffers, name, seconds, args.library)
        return omnimalloc(buffers, name, seconds)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    placed, runs, shortest = measure(make, args.budget)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KiB, at the highest.
    peak = placements.peak(buffers, in_order(placed, len(buffers)))
    line = {"peak": peak, "runs": runs, "memory_mib": round(grown / 1024, 1), **shortest}
    json.dump(line, sys.stdout)


if __name__ == "__main__":
    main()
