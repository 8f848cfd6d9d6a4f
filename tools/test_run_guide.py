"""Tests of the guide that need nothing built: its links, its tables, and the runner of its blocks itself.

`python3 -m unittest discover -s tools`. What the blocks do, `run_guide.py` finds out.
"""

import importlib.util
import json
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

spec = importlib.util.spec_from_file_location("run_guide", ROOT / "tools/run_guide.py")
run_guide = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_guide)

# Pages that are written elsewhere and not here yet.
EXPECTED_LATER = set()


def prose(text):
    """A page without its blocks and inline code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


class Links(unittest.TestCase):
    def test_every_relative_link_leads_somewhere(self):
        elsewhere = [ROOT / "python/README.md", ROOT / "examples/mlir/README.md", ROOT / "benches/README.md"]
        for page in run_guide.pages() + [page for page in elsewhere if page.exists()]:
            text = page.read_text(encoding="utf-8")
            for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                there = (page.parent / path).resolve() if path else page
                name = str(there.relative_to(ROOT))
                if not there.exists():
                    self.assertIn(name, EXPECTED_LATER, f"{page.relative_to(ROOT)} links to {target}")
                elif anchor:
                    self.assertIn(anchor, anchors(there.read_text(encoding="utf-8")), f"{page.name}: {target}")

    def test_the_index_has_every_page(self):
        index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
        for page in (ROOT / "docs").glob("*.md"):
            if page.name not in ("README.md", "reference.md"):
                self.assertIn(f"]({page.name})", index)

    def test_every_picture_is_shown_somewhere(self):
        text = "".join(page.read_text(encoding="utf-8") for page in run_guide.pages())
        for picture in (ROOT / "docs/pictures").glob("*"):
            self.assertIn(f"pictures/{picture.name}", text)


class Formats(unittest.TestCase):
    """The tables of keys in formats.md are those of the schemas."""

    def keys(self, heading):
        text = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
        section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
        found = {}
        for row in re.findall(r"^\| (\w+) \| (`[^|]*`) \|", section, re.MULTILINE):
            found.setdefault(row[0], set()).update(re.findall(r"`(\w+)`", row[1]))
        return found

    def schema(self, name):
        defs = json.loads((ROOT / f"schema/{name}.schema.json").read_text(encoding="utf-8"))["$defs"]
        return {kind: set(of["properties"]) for kind, of in defs.items() if "properties" in of}

    def test_programs(self):
        keys, schema = self.keys("Program"), self.schema("program")
        for kind in keys:
            self.assertEqual(keys[kind], schema.get(kind) or schema.get("slice"), kind)
        self.assertTrue({"program", "module", "function", "memloc", "block", "instruction"} <= set(keys))

    def test_plans(self):
        keys, schema = self.keys("Plan"), self.schema("plan")
        for kind in keys:
            self.assertEqual(keys[kind], schema[kind], kind)
        self.assertTrue({"plan", "function", "memloc"} <= set(keys))


class Blocks(unittest.TestCase):
    def test_a_block_knows_its_language_its_markers_and_its_lines(self):
        text = "a\n\n<!-- exit: 1 -->\n<!-- file: x -->\n```sh\nfalse\n```\n<!-- exit: 2 -->\nb\n````text\n```\n````\n"
        first, second = run_guide.blocks(text)
        self.assertEqual((first.language, first.markers, first.text), ("sh", {"exit": "1", "file": "x"}, "false\n"))
        self.assertEqual((first.line, first.end), (5, 7))
        self.assertEqual((second.language, second.markers, second.text), ("text", {}, "```\n"))
        with self.assertRaises(run_guide.Wrong):
            run_guide.blocks("```sh\nnever closed\n")

    def test_output_may_have_gaps(self):
        for said, printed, same in [("a\nb\n", "a \nb\n", True), ("a\nb\n", "a\n", False), ("a\n", "a\nb\n", False),
                                    ("a\n...\nd\n", "a\nb\nc\nd\n", True), ("in ... ms\n", "in 3.5 ms\n", True),
                                    ("...\nend\n", "end\n", True), ("a.c\n", "abc\n", False), ("", "", True),
                                    ("a......b\n" * 40, "a......b\n" * 39 + "c\n", False),
                                    ("a ... b ... c\n", "a x b y b z c\n", True), ("ab...bc\n", "abc\n", False)]:
            self.assertEqual(run_guide.matches(said, printed), same, (said, printed))

    def test_a_frame_keeps_its_indentation(self):
        framed = run_guide.framed("int main() {\n  @block@\n}\n", "a;\n\nb;\n")
        self.assertEqual(framed, "int main() {\n  a;\n\n  b;\n}\n")
        with self.assertRaises(run_guide.Wrong):
            run_guide.framed("nothing\n", "a\n")

    def session(self, text):
        """What each block of a page did, with a shell and no library."""
        class Nothing:
            def environment(self, home):
                return {"HOME": str(home), "PATH": "/usr/bin:/bin"}

        did = []
        with tempfile.TemporaryDirectory() as scratch:
            session = run_guide.Session(Nothing(), pathlib.Path(scratch))
            for block in run_guide.blocks(text):
                try:
                    did.append(session.run(block))
                except run_guide.Wrong as wrong:
                    did.append(type(wrong).__name__)
        return did

    def test_a_page_is_one_session(self):
        page = ("```sh\nmkdir d\ncd d\nexport A=1\n```\n<!-- file: f -->\n```csv\nx\n```\n"
                "```sh\necho $A; ls; basename $PWD\n```\n```text\n1\nf\nd\n```\n")
        self.assertEqual(self.session(page), ["run", "written", "run", "as printed"])

    def test_what_is_wrong_or_unknown_is_a_failure(self):
        page = ("```sh\nfalse\n```\n<!-- exit: 1 -->\n```sh\nfalse; true\n```\n```fish\nls\n```\n```\nnothing\n```\n"
                "```text\nno output before it\n```\n```sh\necho a\n```\n```text\nb\n```\n```cpp\nint x;\n```\n"
                "<!-- not run:  -->\n```sh\nrm\n```\n<!-- not run: it needs a network -->\n```sh\ngit clone x\n```\n")
        self.assertEqual(self.session(page), ["Wrong", "run", "Wrong", "Wrong", "Wrong", "run", "Differs", "Wrong",
                                              "Wrong", "not run"])

    def test_a_copied_table_is_that_of_its_source(self):
        text = "<!-- table of docs/formats.md under CSV: begin -->\nold\n<!-- table: end -->\n"
        fresh = run_guide.COPY.sub(run_guide.copied, text)
        self.assertIn("| column | meaning |\n", fresh)
        self.assertEqual(run_guide.COPY.sub(run_guide.copied, fresh), fresh)


if __name__ == "__main__":
    unittest.main()
