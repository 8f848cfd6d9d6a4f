#!/usr/bin/env python3
"""Compiles and runs every code block of the guide: README.md and docs/*.md.

    tools/run_guide.py                      # everything, against an installed tree made for it
    tools/run_guide.py docs/integrate.md    # one page
    tools/run_guide.py --prefix /opt/dram   # against this installed tree
    tools/run_guide.py --bless              # write what was printed into the pages

A page is one session: its blocks run in order, in one scratch directory, with the command on the PATH;
`cd` and `export` carry over from block to block. What happens to a block depends on the word behind its
fence, and on comments right above it:

    sh        run by bash, must succeed
    cpp, c    a whole program is compiled with every warning an error, linked and run; a piece of one
              needs a frame
    python    run
    json      a program is planned and the plan verified; anything else needs a frame
    csv       planned
    text      compared with what the block before it printed; `...` stands for anything
    others    need one of the comments

    <!-- file: NAME -->        the block is written to NAME first; of cmake, make, json, csv: only that
    <!-- frame: NAME -->       the block replaces the line `@block@` of docs/frames/NAME, which is then run
    <!-- exit: N -->           the status that is expected instead of 0
    <!-- output -->            compared as text is, whatever its language
    <!-- not run: REASON -->   left alone; said in the summary

A block that none of this fits is a failure, and so is one whose output is another. Two kinds of parts of a page
are copies, which must be those of their source:

    <!-- table of FILE under HEADING: begin -->   up to `<!-- table: end -->`: the first table under a heading
    <!-- draws: FILE -->                          above a block: the block makes FILE, as committed in docs/pictures
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FRAMES = ROOT / "docs/frames"
PICTURES = ROOT / "docs/pictures"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
COMPILERS = {"cpp": ["g++", "-std=c++17"], "c": ["gcc", "-std=c11"]}
MARKERS = {"file", "frame", "exit", "output", "not run", "draws"}


class Wrong(Exception):
    """What is wrong with a block, for people."""


class Block:
    """A fenced block: its language, its markers, its text, and where it stands."""

    def __init__(self, language, markers, text, line):
        self.language, self.markers, self.text, self.line = language, markers, text, line
        self.end = line + text.count("\n") + 1  # The line of the closing fence.


def pages():
    """Every page of the guide."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(text):
    """The fenced blocks of a page, in order."""
    found, markers, opened = [], {}, None
    for number, line in enumerate(text.split("\n"), 1):
        fence = re.fullmatch(r"(```+)([^`]*)", line)
        marker = re.fullmatch(r"<!-- ([a-z ]+?)(?:: (.*?))? -->", line)
        if opened:
            if fence and not fence[2] and len(fence[1]) >= len(opened[0]):
                found.append(Block(opened[1], opened[2], "".join(l + "\n" for l in opened[3]), opened[4]))
                opened, markers = None, {}
            else:
                opened[3].append(line)
        elif fence:
            opened = (fence[1], fence[2].strip(), markers, [], number)
        elif marker and marker[1] in MARKERS:
            markers = {**markers, marker[1]: marker[2] or ""}
        elif line.strip():
            markers = {}
    if opened:
        raise Wrong(f"line {opened[4]}: the block is not closed")
    return found


def same_line(said, printed):
    """Whether a line is as the page says; three dots by themselves stand for anything in it."""
    first, *rest = re.split(r"(?<!\.)\.\.\.(?!\.)", said)
    if not rest or said == printed:
        return said == printed
    if not printed.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        found = printed.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return printed.endswith(rest[-1]) and len(printed) - len(rest[-1]) >= at


def matches(said, printed):
    """Whether a page says what was printed; a line of three dots alone stands for any lines."""
    said, printed = ([line.rstrip() for line in text.rstrip("\n").split("\n")] for text in (said, printed))
    fits = {0}  # How many of the printed lines may be used up so far.
    for line in said:
        if line == "...":
            fits = set(range(min(fits), len(printed) + 1)) if fits else fits
        else:
            fits = {n + 1 for n in fits if n < len(printed) and same_line(line, printed[n])}
    return len(printed) in fits


class Installed:
    """An installed tree, and the environment in which a reader of the guide has it."""

    def __init__(self, prefix):
        self.prefix = prefix
        libraries = sorted(prefix.rglob("libdramalloc.so"))
        if not libraries:
            raise SystemExit(f"{prefix}: there is no libdramalloc.so")
        self.lib = libraries[0].parent
        command = prefix / "bin/dramalloc"
        self.bin = command.parent if command.exists() else ROOT / "target/release"
        if not (self.bin / "dramalloc").exists():
            raise SystemExit(f"{self.bin}: there is no command")

    def environment(self, home):
        real = pathlib.Path.home()
        generator = {} if shutil.which("make") else {"CMAKE_GENERATOR": "Ninja"}
        return {
            **os.environ,
            **generator,
            "HOME": str(home),
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(real / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(real / ".rustup")),
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "DRAMALLOC": str(ROOT),
            "PREFIX": str(self.prefix),
            "LC_ALL": "C.UTF-8",
        }

    def compile(self, language, source, program):
        """The command that makes a program of one file."""
        return [*COMPILERS[language], *WARNINGS, "-I", str(self.prefix / "include"), str(source), "-o", str(program),
                "-L", str(self.lib), f"-Wl,-rpath,{self.lib}", "-ldramalloc", "-ldl", "-pthread"]


class Session:
    """One page: a scratch directory, a shell whose state is kept, and what was printed last."""

    def __init__(self, installed, scratch, bless=False):
        self.installed, self.scratch, self.bless = installed, scratch, bless
        (scratch / "home").mkdir()
        self.work = scratch / "work"
        self.work.mkdir()
        self.env = installed.environment(scratch / "home")
        self.state = scratch / "state"
        self.printed = None
        self.programs = 0

    def run(self, block):
        """Runs one block; what it did, in a word."""
        if "not run" in block.markers:
            if not block.markers["not run"]:
                raise Wrong("not run, and no reason is given")
            return "not run"
        if "output" in block.markers or block.language == "text":
            return self.compare(block)
        if "draws" in block.markers:
            return self.draw(block)
        self.printed = None
        if "frame" in block.markers:
            name = block.markers["frame"]
            text = framed((FRAMES / name).read_text(encoding="utf-8"), block.text)
            return self.execute(pathlib.Path(name).suffix[1:], text, block)
        if "file" in block.markers:
            path = self.directory() / block.markers["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            if block.language in ("cmake", "make", "makefile", "json", "csv", "toml"):
                return "written"
        return self.execute(block.language, block.text, block)

    def execute(self, language, text, block):
        """Runs a text by what it is."""
        expected = int(block.markers.get("exit", "0"))
        if language == "sh":
            return self.shell(text, expected)
        if language in COMPILERS:
            if not re.search(r"\bmain\s*\(", text):
                raise Wrong("a piece of a program needs a frame")
            self.programs += 1
            source = self.scratch / f"block{self.programs}.{language}"
            program = source.with_suffix("")
            source.write_text(text, encoding="utf-8")
            self.call(self.installed.compile(language, source, program), 0)
            return self.call([str(program)], expected)
        if language in ("python", "py"):
            return self.call(["python3", "-c", text], expected)
        if language == "json" and json.loads(text).get("format") == "dramalloc-program":
            program = self.scratch / "block.program.json"
            program.write_text(text, encoding="utf-8")
            self.call(["dramalloc", "plan", "-q", str(program), "-o", str(self.scratch / "block.plan.json")], expected)
            return self.call(["dramalloc", "verify", str(program), str(self.scratch / "block.plan.json")], expected)
        if language == "csv":
            rows = self.scratch / "block.csv"
            rows.write_text(text, encoding="utf-8")
            return self.call(["dramalloc", "plan", "-q", str(rows), "-o", os.devnull], expected)
        if language == "cmake":
            return self.configure(text, expected)
        raise Wrong(f"{language or 'a block without a language'}: nothing says how to run it")

    def configure(self, text, expected):
        """Configures and builds a project of one CMakeLists.txt."""
        project = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        (project / "CMakeLists.txt").write_text(text, encoding="utf-8")
        self.call(["cmake", "-S", str(project), "-B", str(project / "build")], expected)
        return self.call(["cmake", "--build", str(project / "build")], expected)

    def directory(self):
        """Where the shell is."""
        path = self.state / "cwd"
        return pathlib.Path(path.read_text().rstrip("\n")) if path.exists() else self.work

    def shell(self, text, expected):
        """Runs lines in the page's shell, which remembers where it is and what was exported."""
        self.state.mkdir(exist_ok=True)
        env, cwd = self.state / "env", self.state / "cwd"
        restore = f"[ ! -f {env} ] || . {env}; cd {self.directory()}\n"
        keep = f"trap 'status=$?; export -p > {env}; pwd > {cwd}; exit $status' EXIT\n"
        return self.call(["bash", "-e", "-o", "pipefail", "-c", f"{restore}{keep}{text}"], expected)

    def call(self, command, expected):
        """Runs a command and keeps what it prints, both streams as they come."""
        done = subprocess.run(command, cwd=self.directory(), env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        self.printed = done.stdout
        if done.returncode != expected:
            raise Wrong(f"status {done.returncode}, not {expected}; it printed:\n{done.stdout}")
        return "run"

    def draw(self, block):
        """Runs a block that draws pictures, which are committed: they must be those that it draws."""
        self.shell(block.text, 0)
        drawn = {name: self.directory() / name for name in block.markers["draws"].split(", ")}
        missing = [name for name, path in drawn.items() if not path.exists()]
        if missing:
            raise Wrong(f"it draws no {', '.join(missing)}")
        stale = {name: path for name, path in drawn.items()
                 if not (PICTURES / name).exists() or (PICTURES / name).read_bytes() != path.read_bytes()}
        if stale and not self.bless:
            raise Wrong(f"docs/pictures: stale: {', '.join(stale)}")
        for name, path in stale.items():
            shutil.copyfile(path, PICTURES / name)
        return "drawn"

    def compare(self, block):
        if self.printed is None:
            raise Wrong("there is no output before it to compare it with")
        printed, self.printed = self.printed, None
        # The scratch directory is where the reader's home is.
        printed = printed.replace(str(self.work), "~").replace(str(self.scratch / "home"), "~")
        if not matches(block.text, printed):
            raise Differs(printed)
        return "as printed"


class Differs(Wrong):
    """Another output than the page shows."""

    def __init__(self, printed):
        super().__init__(f"other output; it printed:\n{printed}")
        self.printed = printed


def framed(frame, text):
    """A frame with the block in the place of its line `@block@`, as far in."""
    lines = frame.replace("@root@", str(ROOT)).split("\n")
    at = [i for i, line in enumerate(lines) if "@block@" in line]
    if len(at) != 1:
        raise Wrong("its frame has no one line with @block@")
    line = lines[at[0]]
    indent = line[:len(line) - len(line.lstrip())]
    lines[at[0]] = "\n".join(indent + l if l else l for l in text.rstrip("\n").split("\n"))
    return "\n".join(lines)


COPY = re.compile(r"(<!-- table of (\S+) under ([^\n]+): begin -->\n)(.*?)(<!-- table: end -->)", re.DOTALL)


def copied(match):
    """The first table under a heading of a file, between the markers of its copy."""
    begin, path, heading, _, end = match.groups()
    source = (ROOT / path).read_text(encoding="utf-8")
    under = re.split(rf"^#+ {re.escape(heading)}$", source, maxsplit=1, flags=re.MULTILINE)
    table = re.search(r"(?:^\|.*\n)+", under[1], re.MULTILINE) if len(under) == 2 else None
    if table is None:
        raise Wrong(f"{path} has no table under {heading}")
    return f"{begin}\n{table[0]}\n{end}"


def run_page(page, installed, bless, tell):
    """Runs a page; how many blocks failed."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT)
    failed, counts, blessed = 0, {}, []
    fresh = COPY.sub(copied, text)
    if fresh != text and not bless:
        failed += 1
        tell(f"{name}: a copied table is stale; --bless copies it")
    elif fresh != text:
        text = fresh
        page.write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="guide-") as scratch:
        session = Session(installed, pathlib.Path(scratch), bless)
        for block in blocks(text):
            try:
                did = session.run(block)
            except Differs as differs:
                if bless:
                    blessed.append((block, differs.printed))
                    did = "blessed"
                else:
                    did, failed = "FAILED", failed + 1
                    tell(f"{name}:{block.line}: {differs}")
            except Exception as wrong:  # What goes wrong in one block hides no other.
                did, failed = "FAILED", failed + 1
                tell(f"{name}:{block.line}: {wrong}")
            if did == "not run":
                tell(f"{name}:{block.line}: not run: {block.markers['not run']}")
            counts[did] = counts.get(did, 0) + 1
    lines = text.split("\n")
    for block, printed in reversed(blessed):
        lines[block.line:block.end - 1] = printed.rstrip("\n").split("\n")
    if blessed:
        page.write_text("\n".join(lines), encoding="utf-8")
    tell(f"{name}: " + (", ".join(f"{n} {did}" for did, n in sorted(counts.items())) or "no blocks"))
    return failed


def install():
    """Builds the project through CMake and installs it, as a packager would."""
    build, prefix = ROOT / "target/guide/build", ROOT / "target/guide/installed"
    shutil.rmtree(prefix, ignore_errors=True)
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["cmake", "-S", str(ROOT), "-B", str(build), "-DBUILD_TESTING=OFF"], **quiet)
    subprocess.run(["cmake", "--build", str(build)], **quiet)
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(prefix)], **quiet)
    if not (prefix / "bin/dramalloc").exists():
        subprocess.run(["cargo", "build", "--release", "--locked", "-p", "dramalloc-cli"], cwd=ROOT, check=True)
    return prefix


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--prefix", type=pathlib.Path, help="an installed tree; without it one is made")
    parser.add_argument("--bless", action="store_true", help="write what was printed into the pages")
    args = parser.parse_args()
    installed = Installed((args.prefix or install()).resolve())
    chosen = [page.resolve() for page in args.pages] or pages()
    failed = sum(run_page(page, installed, args.bless, lambda line: print(line, flush=True)) for page in chosen)
    print(f"guide: {len(chosen)} pages, {failed} blocks failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
