#!/usr/bin/env python3
"""Random functions print the same before and after the pass.

    random_functions.py --tools DIR --plugin dramalloc-mlir.so [--count 20] [--seed 1] [--keep DIR]

Each function fills, combines, copies and prints small buffers, in loops and conditionals, structured
or not, through views, with buffers that are handed on, freed early or never. What it reads it has
written before, so what it prints does not depend on where the buffers lie, unless two of them share
bytes while both are wanted. Exit status: 0 all print the same and bytes were shared, 1 not, 2 a tool
failed.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys

import execute

SIZES = [4, 6, 16, 33]
OPS = ["arith.addi", "arith.subi", "arith.muli", "arith.xori"]


class Array:
    """A memref that may be read, and the allocations that it may be."""

    def __init__(self, name, size, roots, layout=""):
        self.name, self.size, self.roots, self.layout = name, size, frozenset(roots), layout

    @property
    def type(self):
        return f"memref<{self.size}xi32{self.layout}>"


class Writer:
    """One random function, as text."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.lines, self.indent, self.names = [], 1, 0
        self.blocks = 0
        # One list of readable arrays for each scope that is open.
        self.scopes = [[]]
        self.budget = rng.randint(12, 30)

    def emit(self, text):
        self.lines.append("  " * self.indent + text)

    def fresh(self, stem="v"):
        self.names += 1
        return f"%{stem}{self.names}"

    def constant(self, value, type="index"):
        name = self.fresh("c")
        self.emit(f"{name} = arith.constant {value} : {type}")
        return name

    # -- arrays --

    def visible(self, fits=lambda a: True):
        return [a for scope in self.scopes for a in scope if fits(a)]

    def pick(self, fits=lambda a: True):
        found = self.visible(fits)
        return self.rng.choice(found) if found else None

    def alloc(self, size=None, register=True):
        """A new buffer, with every element written."""
        size = size or self.rng.choice(SIZES)
        array = self.allocated(size)
        self.fill(array)
        if register:
            self.scopes[-1].append(array)
        return array

    def allocated(self, size):
        name = self.fresh("buf")
        aligned = self.rng.choice(["", "", " {alignment = 128 : i64}"])
        self.emit(f"{name} = memref.alloc(){aligned} : memref<{size}xi32>")
        return Array(name, size, [name])

    def fill(self, array):
        kind = self.rng.randrange(3)
        number = self.constant(self.rng.randint(-99, 99), "i32")
        if kind == 0:
            self.emit(f"linalg.fill ins({number} : i32) outs({array.name} : {array.type})")
            return
        source = self.pick(lambda a: a.size == array.size and not a.roots & array.roots)
        if kind == 1 and source:
            self.emit(f"memref.copy {source.name}, {array.name} : {source.type} to {array.type}")
            return
        i = self.open_loop(array.size)
        x, y = self.fresh(), self.fresh()
        self.emit(f"{x} = arith.index_cast {i} : index to i32")
        self.emit(f"{y} = {self.rng.choice(OPS)} {x}, {number} : i32")
        self.emit(f"memref.store {y}, {array.name}[{i}] : {array.type}")
        self.close()

    def combine(self, into, a, b):
        """into[i] = a[i] op b[i]; any of them may be the same."""
        op = self.rng.choice(OPS)
        if self.rng.random() < 0.5:
            x, y, z = self.fresh("e"), self.fresh("e"), self.fresh("e")
            out = self.fresh("e")
            self.emit("linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>,"
                      " affine_map<(d) -> (d)>], iterator_types = [\"parallel\"]}"
                      f" ins({a.name}, {b.name} : {a.type}, {b.type}) outs({into.name} : {into.type}) {{")
            self.emit(f"^bb0({x}: i32, {y}: i32, {out}: i32):")
            self.emit(f"  {z} = {op} {x}, {y} : i32")
            self.emit(f"  linalg.yield {z} : i32")
            self.emit("}")
            return
        parallel = self.rng.random() < 0.3
        i = self.open_loop(into.size, parallel)
        x, y, z = self.fresh(), self.fresh(), self.fresh()
        self.emit(f"{x} = memref.load {a.name}[{i}] : {a.type}")
        self.emit(f"{y} = memref.load {b.name}[{i}] : {b.type}")
        self.emit(f"{z} = {op} {x}, {y} : i32")
        self.emit(f"memref.store {z}, {into.name}[{i}] : {into.type}")
        self.close()

    def load(self, array):
        at = self.constant(self.rng.randrange(array.size))
        x = self.fresh()
        self.emit(f"{x} = memref.load {array.name}[{at}] : {array.type}")
        return x

    def condition(self):
        array = self.pick() or self.alloc()
        x, zero, c = self.load(array), self.constant(self.rng.randint(-9, 40), "i32"), self.fresh("cond")
        self.emit(f"{c} = arith.cmpi {self.rng.choice(['slt', 'sge', 'ne'])}, {x}, {zero} : i32")
        return c

    # -- blocks of text --

    def open_loop(self, count, parallel=False):
        zero, one, end = self.constant(0), self.constant(1), self.constant(count)
        i = self.fresh("i")
        if parallel:
            self.emit(f"scf.parallel ({i}) = ({zero}) to ({end}) step ({one}) {{")
        else:
            self.emit(f"scf.for {i} = {zero} to {end} step {one} {{")
        self.indent += 1
        return i

    def close(self, text="}"):
        self.indent -= 1
        self.emit(text)

    def body(self, depth):
        """Statements in a scope of their own; returns its arrays, still readable by the caller."""
        self.scopes.append([])
        for _ in range(self.rng.randint(1, 4)):
            self.statement(depth)
        return self.scopes.pop()

    def free_some(self, arrays):
        """Deallocs some buffers of a scope that ends."""
        for array in arrays:
            if array.roots == {array.name} and self.rng.random() < 0.6:
                self.emit(f"memref.dealloc {array.name} : {array.type}")

    # -- statements --

    def statement(self, depth):
        self.budget -= 1
        simple = [self.new, self.new, self.write, self.write, self.print, self.print, self.view,
                  self.partial, self.part, self.choose, self.free, self.forget]
        nested = [self.loop, self.conditional, self.carried, self.yielding, self.while_loop,
                  self.accumulate]
        if depth < 3 and self.budget > 0 and self.rng.random() < 0.35:
            self.rng.choice(nested)(depth + 1)
        else:
            self.rng.choice(simple)()

    def new(self):
        self.alloc()

    def write(self):
        into = self.pick()
        if not into:
            return self.new()
        same = lambda a: a.size == into.size
        self.combine(into, self.pick(same), self.pick(same))

    def print(self):
        array = self.pick()
        if array:
            self.print_array(array)

    def print_array(self, array):
        zero, one, end = self.constant(0), self.constant(1), self.constant(array.size)
        none = self.constant(0, "i64")
        total, i, sum, x, y, w, wide, p, s = (self.fresh() for _ in range(9))
        self.emit(f"{total} = scf.for {i} = {zero} to {end} step {one} iter_args({sum} = {none}) -> (i64) {{")
        self.emit(f"  {x} = memref.load {array.name}[{i}] : {array.type}")
        self.emit(f"  {y} = arith.extsi {x} : i32 to i64")
        self.emit(f"  {w} = arith.addi {i}, {one} : index")
        self.emit(f"  {wide} = arith.index_cast {w} : index to i64")
        self.emit(f"  {p} = arith.muli {y}, {wide} : i64")
        self.emit(f"  {s} = arith.addi {sum}, {p} : i64")
        self.emit(f"  scf.yield {s} : i64")
        self.emit("}")
        self.emit(f"func.call @printI64({total}) : (i64) -> ()")
        self.emit("func.call @printNewline() : () -> ()")

    def view(self):
        """A part of an array, readable and writable from now on."""
        array = self.pick(lambda a: not a.layout and a.size >= 6)
        if not array:
            return
        size = self.rng.choice([s for s in SIZES if s < array.size])
        offset = self.rng.randint(0, array.size - size)
        name, layout = self.fresh("view"), f", strided<[1], offset: {offset}>"
        view = Array(name, size, array.roots, layout)
        self.emit(f"{name} = memref.subview {array.name}[{offset}] [{size}] [1] : {array.type} to {view.type}")
        self.scopes[-1].append(view)

    def partial(self):
        """Writes one element."""
        array = self.pick()
        if array:
            x = self.load(self.pick())
            at = self.constant(self.rng.randrange(array.size))
            self.emit(f"memref.store {x}, {array.name}[{at}] : {array.type}")

    def pair(self):
        a = self.pick(lambda a: not a.layout)
        b = a and self.pick(lambda b: b.type == a.type)
        return (a, b) if a else (None, None)

    def choose(self):
        a, b = self.pair()
        if a:
            c, name = self.condition(), self.fresh("either")
            self.emit(f"{name} = arith.select {c}, {a.name}, {b.name} : {a.type}")
            self.scopes[-1].append(Array(name, a.size, a.roots | b.roots))

    def free(self):
        """Ends a buffer of this scope, and everything that may be it."""
        own = [a for a in self.scopes[-1] if a.roots == {a.name}]
        if own:
            array = self.rng.choice(own)
            self.emit(f"memref.dealloc {array.name} : {array.type}")
            for scope in self.scopes:
                scope[:] = [a for a in scope if not a.roots & array.roots]

    def forget(self):
        """No longer reads an array, and does not free it."""
        if self.scopes[-1]:
            self.scopes[-1].remove(self.rng.choice(self.scopes[-1]))

    def part(self):
        """Overwrites a part of an array, just after others have come and gone."""
        array = self.pick(lambda a: not a.layout and a.size >= 6)
        if array:
            self.short_lived(array.size)
            size = self.rng.choice([s for s in SIZES if s < array.size])
            offset, name = self.rng.randint(0, array.size - size), self.fresh("part")
            part = Array(name, size, array.roots, f", strided<[1], offset: {offset}>")
            self.emit(f"{name} = memref.subview {array.name}[{offset}] [{size}] [1] : {array.type} to {part.type}")
            self.fill(part)

    def short_lived(self, size):
        """A buffer that is dead as soon as it is printed, perhaps in a branch."""
        branch = self.rng.random() < 0.5
        if branch:
            self.emit(f"scf.if {self.condition()} {{")
            self.indent += 1
        self.scopes.append([])
        self.print_array(self.alloc(size))
        self.scopes.pop()
        if branch:
            self.close()

    def loop(self, depth):
        self.open_loop(self.rng.randint(0, 4))
        self.free_some(self.body(depth))
        self.close()

    def accumulate(self, depth):
        """Every access is in a loop, and each turn wants what the one before has left."""
        array = self.allocated(self.rng.choice(SIZES))
        i = self.open_loop(self.rng.randint(1, 4))
        zero, first = self.constant(0), self.fresh("cond")
        self.emit(f"{first} = arith.cmpi eq, {i}, {zero} : index")
        self.emit(f"scf.if {first} {{")
        self.indent += 1
        self.fill(array)
        self.close()
        self.scopes.append([array])
        self.partial()
        self.print_array(array)
        self.scopes.append([])
        self.statement(depth)
        self.short_lived(array.size)
        self.scopes.pop()
        self.scopes.pop()
        self.close()

    def conditional(self, depth):
        self.emit(f"scf.if {self.condition()} {{")
        self.indent += 1
        self.free_some(self.body(depth))
        if self.rng.random() < 0.7:
            self.close("} else {")
            self.indent += 1
            self.free_some(self.body(depth))
        self.close()

    def carried(self, depth):
        """A loop that hands an array on: a new one each time, an old one, or the same again."""
        start = self.pick(lambda a: not a.layout) or self.alloc()
        other = self.pick(lambda a: a.type == start.type)
        zero, one, end = self.constant(0), self.constant(1), self.constant(self.rng.randint(0, 4))
        i, held, out = self.fresh("i"), self.fresh("held"), self.fresh("out")
        second, second_out = self.fresh("held"), self.fresh("out")
        # Which allocations of the body come around is not known yet: a token that nobody frees.
        roots = start.roots | other.roots | {held}
        self.emit(f"{out}, {second_out} = scf.for {i} = {zero} to {end} step {one}"
                  f" iter_args({held} = {start.name}, {second} = {other.name})"
                  f" -> ({start.type}, {start.type}) {{")
        self.indent += 1
        self.scopes.append([Array(held, start.size, roots), Array(second, start.size, roots)])
        for _ in range(self.rng.randint(0, 2)):
            self.statement(depth)
        kind = self.rng.randrange(3)
        if kind == 0:
            next, then = self.allocated(start.size), held
            self.combine(next, Array(held, start.size, roots), Array(second, start.size, roots))
        elif kind == 1:
            next, then = self.alloc(start.size), second
        else:
            next, then = Array(second, start.size, roots), held
        self.emit(f"scf.yield {next.name}, {then} : {start.type}, {start.type}")
        self.scopes.pop()
        self.close()
        for name in (out, second_out):
            self.scopes[-1].append(Array(name, start.size, roots | {out}))

    def yielding(self, depth):
        a = self.pick(lambda a: not a.layout) or self.alloc()
        out = self.fresh("out")
        self.emit(f"{out} = scf.if {self.condition()} -> ({a.type}) {{")
        self.indent += 1
        self.body(depth)
        fresh = self.alloc(a.size, register=False)
        self.emit(f"scf.yield {fresh.name} : {a.type}")
        self.close("} else {")
        self.indent += 1
        self.body(depth)
        self.emit(f"scf.yield {a.name} : {a.type}")
        self.close()
        self.scopes[-1].append(Array(out, a.size, a.roots | {out}))

    def while_loop(self, depth):
        """Counts to a limit; the array comes around through both regions."""
        a = self.pick(lambda a: not a.layout) or self.alloc()
        zero, one, end = self.constant(0), self.constant(1), self.constant(self.rng.randint(0, 3))
        n, x, m, y = self.fresh("n"), self.fresh("w"), self.fresh("n"), self.fresh("w")
        last, out, c, next = self.fresh("n"), self.fresh("out"), self.fresh("cond"), self.fresh("n")
        roots = a.roots | {out}
        types = f"index, {a.type}"
        self.emit(f"{last}, {out} = scf.while ({n} = {zero}, {x} = {a.name}) : ({types}) -> ({types}) {{")
        self.indent += 1
        self.scopes.append([Array(x, a.size, roots)])
        self.statement(depth)
        self.scopes.pop()
        self.emit(f"{c} = arith.cmpi ult, {n}, {end} : index")
        self.emit(f"scf.condition({c}) {n}, {x} : {types}")
        self.close("} do {")
        self.indent += 1
        self.emit(f"^bb0({m}: index, {y}: {a.type}):")
        self.scopes.append([Array(y, a.size, roots)])
        self.statement(depth)
        handed = y
        if self.rng.random() < 0.6:
            handed = self.alloc(a.size).name
        self.scopes.pop()
        self.emit(f"{next} = arith.addi {m}, {one} : index")
        self.emit(f"scf.yield {next}, {handed} : {types}")
        self.close()
        self.scopes[-1].append(Array(out, a.size, roots))

    # -- unstructured control flow, at the top only --

    def label(self):
        self.blocks += 1
        return f"^b{self.blocks}"

    def diamond(self):
        """Two blocks; each hands on an array of its own or an older one."""
        a = self.pick(lambda a: not a.layout) or self.alloc()
        c = self.condition()
        arms, join = (self.label(), self.label()), self.label()
        self.emit(f"cf.cond_br {c}, {arms[0]}, {arms[1]}")
        for arm in arms:
            self.emit(f"{arm}:")
            self.free_some(self.body(2))
            handed = a.name if self.rng.random() < 0.4 else self.alloc(a.size, register=False).name
            self.emit(f"cf.br {join}({handed} : {a.type})")
        name = self.fresh("joined")
        self.emit(f"{join}({name}: {a.type}):")
        self.scopes[-1].append(Array(name, a.size, a.roots | {name}))

    def cycle(self):
        """A loop of blocks that hands an array on."""
        a = self.pick(lambda a: not a.layout) or self.alloc()
        zero, one, end = self.constant(0), self.constant(1), self.constant(self.rng.randint(1, 4))
        head, body, done = self.label(), self.label(), self.label()
        n, x, c, next = self.fresh("n"), self.fresh("x"), self.fresh("cond"), self.fresh("n")
        roots = a.roots | {x}
        self.emit(f"cf.br {head}({zero}, {a.name} : index, {a.type})")
        self.emit(f"{head}({n}: index, {x}: {a.type}):")
        self.scopes.append([Array(x, a.size, roots)])
        self.statement(2)
        inner = self.scopes.pop()
        self.emit(f"{c} = arith.cmpi ult, {n}, {end} : index")
        self.emit(f"cf.cond_br {c}, {body}, {done}")
        self.emit(f"{body}:")
        self.scopes.append([Array(x, a.size, roots)])
        for _ in range(self.rng.randint(1, 3)):
            self.statement(2)
        handed = self.alloc(a.size).name if self.rng.random() < 0.5 else x
        self.scopes.pop()
        self.emit(f"{next} = arith.addi {n}, {one} : index")
        self.emit(f"cf.br {head}({next}, {handed} : index, {a.type})")
        self.emit(f"{done}:")
        # What the head has made is there, unless it was freed: then it is not in its scope.
        self.scopes[-1].extend(inner)

    def function(self):
        self.lines.append(f"func.func @{self.name}() {{")
        for _ in range(self.rng.randint(1, 3)):
            self.new()
        while self.budget > 0:
            kind = self.rng.random()
            if kind < 0.12:
                self.budget -= 2
                self.diamond()
            elif kind < 0.2:
                self.budget -= 2
                self.cycle()
            else:
                self.statement(0)
        for array in self.visible():
            if self.rng.random() < 0.5:
                self.print_array(array)
        self.free_some(self.scopes[0])
        self.emit("return")
        self.lines.append("}")
        return "\n".join(self.lines)


def module(seed, count):
    """A module of `count` random functions, and a @main that runs them, each after its number."""
    rng = random.Random(seed)
    functions = [Writer(rng, f"f{i}").function() for i in range(count)]
    calls = []
    for i in range(count):
        calls += [f"  %n{i} = arith.constant {i} : i64", f"  call @printI64(%n{i}) : (i64) -> ()",
                  "  call @printNewline() : () -> ()", f"  call @f{i}() : () -> ()"]
    return "\n\n".join([
        "func.func private @printI64(i64)", "func.func private @printNewline()", *functions,
        "\n".join(["func.func @main() {", *calls, "  return", "}"])]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="where to write the module, before and after")
    args = parser.parse_args()

    before = module(args.seed, args.count)
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
        (args.keep / f"{args.seed}.before.mlir").write_text(before)
    command = [args.tools / "mlir-opt", f"--load-pass-plugin={args.plugin}",
               "--pass-pipeline=builtin.module(dramalloc{summary=true alignment=4})"]
    done = subprocess.run(list(map(str, command)), input=before, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return 2
    after = done.stdout
    if args.keep:
        (args.keep / f"{args.seed}.after.mlir").write_text(after)
    figures = [tuple(map(int, found)) for found in re.findall(
        r"(\d+) buffers of (\d+) bytes in an arena of (\d+), no arena is below (\d+); (\d+) stay", done.stderr)]
    placed, bytes, arenas, bounds, stay = map(sum, zip(*figures))
    print(f"seed {args.seed}: {args.count} functions, {placed} buffers of {bytes} bytes"
          f" in arenas of {arenas} (bound {bounds}), {stay} stay")
    try:
        outputs = [execute.run(text, args.tools) for text in (before, after)]
    except execute.Failed as e:
        print(e, file=sys.stderr)
        return 2
    print(f"{len(outputs[0].splitlines())} lines printed")
    if outputs[0] != outputs[1]:
        for number, (a, b) in enumerate(zip(*(o.splitlines() for o in outputs)), 1):
            if a != b:
                print(f"line {number}: before {a}, after {b}", file=sys.stderr)
                break
        return 1
    if not arenas < bytes:
        print("no bytes were shared", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
