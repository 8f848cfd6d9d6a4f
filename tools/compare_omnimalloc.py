#!/usr/bin/env python3
"""Run dramalloc and omnimalloc side by side on the same files, and print a table.

    tools/compare_omnimalloc.py [FILE.csv[.gz] ...] [--sizes 1e3 1e4] [--budget 3] [--json OUT]

omnimalloc comes from PyPI into an environment of its own below target/. Without files the
benchmark's own workloads are written and used. Both run on one thread, each run in a process of its
own; what searches gets the same seconds. Every placement is checked for overlaps by our own code.

Exit status: 0 compared; 1 a placement was wrong; 2 bad input; 3 omnimalloc could not be installed.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys

import placements

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "target" / "comparison"
LIBRARY = ROOT / "target" / "release" / "libdramalloc.so"
VERSION = "1.0.0"
OURS = ["dramalloc:reference", "dramalloc:fast", "dramalloc:best"]
THEIRS = ["omnimalloc:greedy_by_size", "omnimalloc:omni", "omnimalloc:supermalloc", "omnimalloc:tabu_search"]


class Missing(Exception):
    """What is needed and not there, in one line."""


def environment(folder, version):
    """The Python of an environment that has omnimalloc; made and filled where it is not there yet."""
    python = folder / "bin" / "python"
    wanted = f"import importlib.metadata as m; assert m.version('omnimalloc') == '{version}'; import omnimalloc"
    if python.exists() and subprocess.run([python, "-c", wanted], capture_output=True).returncode == 0:
        return python
    for command, what in (
        ([sys.executable, "-m", "venv", folder], "no Python environment (is python3-venv installed?)"),
        ([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1",
          f"omnimalloc=={version}"], f"omnimalloc {version} cannot be installed (no network, or no wheel for this machine)"),
    ):
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as e:
            raise Missing(f"{what}: {e}") from e
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
            raise Missing(f"{what}: {lines[-1]}")
    return python


def cargo(*words):
    done = subprocess.run(["cargo", *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"cargo {' '.join(words[:2])} fails: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def generated(sizes):
    """The benchmark's workloads as files."""
    folder = TARGET / "instances"
    # The profile of the library, which would be built twice otherwise, each time over the other.
    written = cargo("bench", "--locked", "--quiet", "--profile", "release", "-p", "dramalloc-benches", "--bench", "planning",
                    "--", "--write", str(folder), *sizes)
    return written.split("\n")[:-1]


def run(python, planner, file, budget, memory_gib, patience):
    """What a process of its own says about a planner on a file."""
    command = [python, ROOT / "tools" / "run_planner.py", planner, file, "--budget", str(budget),
               "--library", LIBRARY, "--memory-gib", str(memory_gib), "--patience", str(patience)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout)
    if done.returncode == -signal.SIGXCPU:
        return {"failed": f"no answer in {patience} s"}
    lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
    if any("MemoryError" in line or "bad_alloc" in line for line in lines):
        return {"failed": f"more than {memory_gib:g} GiB"}
    return {"failed": lines[-1], "wrong": "share bytes" in lines[-1]}


def name_of(file):
    """A file's name without endings that say nothing."""
    return re.sub(r"(\.csv)?(\.gz)?$", "", pathlib.Path(file).name)


def row(line, fast):
    """A line of the table; `fast` is the time that others are divided by, if there is one."""
    start = f"  {line['planner']:<28}"
    if "failed" in line:
        return f"{start}{line['failed']}"
    proven = " proven" if line["proven"] else ""
    ratio = line["seconds"] / fast if fast else math.nan
    return (f"{start}{line['peak'] / line['bound']:>11.5f}{line['seconds']:>12.4f}{ratio:>12.1f}"
            f"{line['memory_mib']:>11.1f}{proven}")


def verdict(lines):
    """How our best and their best end, over all instances; a list of sentences."""
    better = {"dramalloc": 0, "omnimalloc": 0, "equal": 0}
    for instance in dict.fromkeys(line["instance"] for line in lines):
        least = {}
        for package in ("dramalloc", "omnimalloc"):
            peaks = [line["peak"] for line in lines
                     if line["instance"] == instance and line["planner"].startswith(package) and "peak" in line]
            least[package] = min(peaks, default=math.inf)
        ours, theirs = least["dramalloc"], least["omnimalloc"]
        better["dramalloc" if ours < theirs else "omnimalloc" if theirs < ours else "equal"] += 1
    return [f"lowest peak of all planners: dramalloc alone on {better['dramalloc']} instances, "
            f"both on {better['equal']}, omnimalloc alone on {better['omnimalloc']}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--sizes", nargs="+", default=["1e3", "1e4"], help="of generated workloads")
    parser.add_argument("--budget", type=float, default=3.0, help="seconds of each search")
    parser.add_argument("--planners", nargs="+", default=OURS + THEIRS)
    parser.add_argument("--memory-gib", type=float, default=8, help="what one run may use")
    parser.add_argument("--patience", type=int, default=60, help="seconds of processor time that one run may take")
    parser.add_argument("--json", help="also write a line of JSON per run")
    parser.add_argument("--version", default=VERSION, help="of omnimalloc")
    args = parser.parse_args()
    try:
        TARGET.mkdir(parents=True, exist_ok=True)
        python = environment(TARGET / "venv", args.version)
        cargo("build", "--locked", "--release", "-p", "dramalloc-capi")
        files = args.files or generated(args.sizes)
    except Missing as e:
        print(f"skipped: {e}", file=sys.stderr)
        return 3
    lines, wrong = [], False
    print(f"omnimalloc {args.version}, one thread each, {args.budget:g} s for each search")
    for file in files:
        try:
            buffers = placements.read(file)
        except placements.Unsupported as e:
            print(f"\nleft out: {e}, which omnimalloc does not place")
            continue
        except (OSError, ValueError) as e:
            print(f"error: {e}", file=sys.stderr)
            return 2
        bound = placements.bound(buffers)
        print(f"\n{name_of(file)}: {len(buffers)} buffers, lower bound {bound}")
        print(f"  {'':<28}{'peak/bound':>11}{'s':>12}{'time/fast':>12}{'MiB grown':>11}")
        mine = []
        for planner in args.planners:
            result = run(python, planner, file, args.budget, args.memory_gib, args.patience)
            wrong |= result.pop("wrong", False)
            mine.append({"instance": name_of(file), "buffers": len(buffers), "bound": bound, "planner": planner,
                         **result})
        fast = next((line.get("seconds") for line in mine if line["planner"] == "dramalloc:fast"), None)
        print("\n".join(row(line, fast) for line in mine), flush=True)
        lines += mine
    print()
    print("\n".join(verdict(lines)))
    if args.json:
        header = {"machine": f"{platform.machine()}, {os.cpu_count()} cores", "omnimalloc": args.version,
                  "python": platform.python_version(), "budget": args.budget}
        text = "".join(json.dumps(line) + "\n" for line in [header, *lines])
        pathlib.Path(args.json).write_text(text, encoding="utf-8")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
