#!/usr/bin/env python3
"""Checks what the shared library shows to a linker.

    check_library.py LIBRARY SYMBOLS SONAME [--bless]

Its dynamic symbols are exactly those of the golden list, all of them `dram_`; it carries the
SONAME; it is marked never to be unloaded; stripped it stays below 1.5 MB. Exit status 0 or 1.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 1_500_000  # bytes, stripped


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    library, golden, soname = sys.argv[1:4]
    bad = []
    symbols = sorted({line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", library).splitlines()})
    if "--bless" in sys.argv:
        with open(golden, "w") as out:
            out.write("\n".join(symbols) + "\n")
    want = open(golden).read().split()
    bad += [f"{s} is exported and not in the list" for s in symbols if s not in want]
    bad += [f"{s} is in the list and not exported" for s in want if s not in symbols]
    bad += [f"{s} does not begin with dram_" for s in symbols if not s.startswith("dram_")]
    dynamic = output("readelf", "-d", library)
    if not re.search(r"SONAME.*\[" + re.escape(soname) + r"\]", dynamic):
        bad.append(f"the SONAME is not {soname}")
    if "NODELETE" not in dynamic:
        bad.append("it may be unloaded: the flag NODELETE is missing")
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "stripped.so")
        shutil.copy(library, stripped)
        output("strip", stripped)
        size = os.path.getsize(stripped)
        if size >= LIMIT:
            bad.append(f"stripped it has {size} bytes, not below {LIMIT}")
    print(f"{len(symbols)} symbols, {size} bytes stripped")
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
