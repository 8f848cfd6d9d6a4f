#!/usr/bin/env python3
"""Checks what the library shows to a linker, and what it weighs.

    check_library.py linker LIBRARY SYMBOLS SONAME [--bless]
    check_library.py archive ARCHIVE SYMBOLS
    check_library.py exports LIBRARY SYMBOL...
    check_library.py size LIBRARY LIMIT

`linker`: its dynamic symbols are exactly those of the golden list, all of them `dram_`; it carries
the SONAME; it is marked never to be unloaded. `archive`: it is one object whose global symbols are
exactly those of the list, which asks for no symbol of Rust, and which has no sections of LLVM's,
such as bitcode, and no debug information. `exports`: its dynamic symbols are exactly those named;
`@FILE` names those of a list. `size`: stripped it stays below LIMIT bytes. Exit status 0 or 1.
`--bless` writes the golden list.
"""
import os
import re
import subprocess
import sys
import tempfile


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols_of(library, *options):
    """The names that nm lists; a member's or a file's name is none."""
    lines = output("nm", "--format=posix", *options, library).splitlines()
    return sorted({line.split()[0].split("@")[0] for line in lines if " " in line})


def compare(symbols, want):
    print(f"{len(symbols)} symbols")
    yield from (f"{s} is exported and not in the list" for s in symbols if s not in want)
    yield from (f"{s} is in the list and not exported" for s in want if s not in symbols)


def linker(library, golden, soname, *bless):
    symbols = symbols_of(library, "-D", "--defined-only")
    if bless == ("--bless",):
        with open(golden, "w") as out:
            out.write("\n".join(symbols) + "\n")
    with open(golden) as file:
        want = file.read().split()
    yield from compare(symbols, want)
    yield from (f"{s} does not begin with dram_" for s in symbols if not s.startswith("dram_"))
    dynamic = output("readelf", "-d", library)
    if not re.search(r"SONAME.*\[" + re.escape(soname) + r"\]", dynamic):
        yield f"the SONAME is not {soname}"
    if "NODELETE" not in dynamic:
        yield "it may be unloaded: the flag NODELETE is missing"


def archive(library, golden):
    members = output("ar", "t", library).split()
    if len(members) != 1:
        yield f"it has the members {members}"
    with open(golden) as file:
        yield from compare(symbols_of(library, "--extern-only", "--defined-only"), file.read().split())
    undefined = symbols_of(library, "--undefined-only")
    yield from (f"{s} is not in it" for s in undefined if re.match(r"_R|_ZN|rust_|__rust|__rdl", s))
    sections = output("readelf", "--wide", "--section-headers", library)
    yield from (f"it has a section {s}" for s in re.findall(r"\] (\.llvm\w+|\.debug_\w+)", sections))


def exports(library, *named):
    want = []
    for name in named:
        if name.startswith("@"):
            with open(name[1:]) as file:
                want += file.read().split()
        else:
            want.append(name)
    yield from compare(symbols_of(library, "-D", "--defined-only"), want)


def size(library, limit):
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "stripped.so")
        output("strip", "-o", stripped, library)
        size = os.path.getsize(stripped)
    print(f"{size} bytes stripped")
    if size >= int(limit):
        yield f"that is not below {limit}"


CHECKS = {"linker": linker, "archive": archive, "exports": exports, "size": size}


def main():
    what, *arguments = sys.argv[1:]
    bad = list(CHECKS[what](*arguments))
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
