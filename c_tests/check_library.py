#!/usr/bin/env python3
"""Checks what the shared library shows to a linker, and what it weighs.

    check_library.py linker LIBRARY SYMBOLS SONAME [--bless]
    check_library.py size LIBRARY LIMIT

`linker`: its dynamic symbols are exactly those of the golden list, all of them `dram_`; it carries
the SONAME; it is marked never to be unloaded. `size`: stripped it stays below LIMIT bytes. Exit
status 0 or 1. `--bless` writes the golden list.
"""
import os
import re
import subprocess
import sys
import tempfile


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def linker(library, golden, soname, *bless):
    lines = output("nm", "-D", "--defined-only", library).splitlines()
    symbols = sorted({line.split()[-1].split("@")[0] for line in lines})
    if bless == ("--bless",):
        with open(golden, "w") as out:
            out.write("\n".join(symbols) + "\n")
    with open(golden) as file:
        want = file.read().split()
    print(f"{len(symbols)} symbols")
    yield from (f"{s} is exported and not in the list" for s in symbols if s not in want)
    yield from (f"{s} is in the list and not exported" for s in want if s not in symbols)
    yield from (f"{s} does not begin with dram_" for s in symbols if not s.startswith("dram_"))
    dynamic = output("readelf", "-d", library)
    if not re.search(r"SONAME.*\[" + re.escape(soname) + r"\]", dynamic):
        yield f"the SONAME is not {soname}"
    if "NODELETE" not in dynamic:
        yield "it may be unloaded: the flag NODELETE is missing"


def size(library, limit):
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "stripped.so")
        output("strip", "-o", stripped, library)
        size = os.path.getsize(stripped)
    print(f"{size} bytes stripped")
    if size >= int(limit):
        yield f"that is not below {limit}"


def main():
    what, *arguments = sys.argv[1:]
    bad = list({"linker": linker, "size": size}[what](*arguments))
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
