#!/usr/bin/env python3
"""Run a function before and after the pass, and demand that it prints the same.

    execute.py --tools DIR --plugin dramalloc-mlir.so [--options 'strategy=best'] FILE.mlir

Lowers FILE to LLVM twice, with its own allocations and in an arena, and runs its @main with
mlir-cpu-runner. Prints what both printed. Exit status: 0 the same, 1 not, 2 it could not be run.
The library is the one that DRAMALLOC_LIBRARY names.
"""

import argparse
import pathlib
import subprocess
import sys

LOWERING = [
    "convert-linalg-to-loops", "lower-affine", "convert-scf-to-cf", "expand-strided-metadata",
    "lower-affine", "convert-arith-to-llvm", "finalize-memref-to-llvm", "convert-func-to-llvm",
    "convert-cf-to-llvm", "reconcile-unrealized-casts",
]


class Failed(Exception):
    """A tool failed: what it said."""


def tool(command, text):
    """What a command prints when it reads `text`."""
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def place(text, tools, plugin, options=""):
    """The program after the pass."""
    return tool([tools / "mlir-opt", f"--load-pass-plugin={plugin}",
                 f"--pass-pipeline=builtin.module(dramalloc{{{options}}})"], text)


def run(text, tools):
    """What @main prints."""
    lowered = tool([tools / "mlir-opt", f"--pass-pipeline=builtin.module({','.join(LOWERING)})"], text)
    return tool([tools / "mlir-cpu-runner", "-e", "main", "-entry-point-result=void", "-O0",
                 f"-shared-libs={tools.parent / 'lib' / 'libmlir_c_runner_utils.so'}"], lowered)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--options", default="")
    parser.add_argument("file", type=pathlib.Path)
    args = parser.parse_args()
    text = args.file.read_text()
    try:
        before = run(text, args.tools)
        after = run(place(text, args.tools, args.plugin, args.options), args.tools)
    except Failed as e:
        print(e, file=sys.stderr)
        return 2
    sys.stdout.write(after)
    if before != after:
        print(f"before the pass it printed:\n{before}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
