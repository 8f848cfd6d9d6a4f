"""Tests of the project's Python scripts: `python3 -m unittest discover -s tools`."""

import gzip
import importlib.util
import io
import json
import pathlib
import tempfile
import unittest
import xml.dom.minidom
from contextlib import redirect_stdout
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent


def load(path):
    """The script at `path` as a module."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate_decoder = load("examples/generate_decoder.py")
draw_plan = load("tools/draw_plan.py")


def printed(main, *args):
    out = io.StringIO()
    with redirect_stdout(out), mock.patch("sys.argv", ["script", *map(str, args)]):
        main()
    return out.getvalue()


class GenerateDecoder(unittest.TestCase):
    committed = (ROOT / "examples/decoder_layers.program.json").read_text(encoding="utf-8")

    def test_the_committed_program_is_what_the_generator_writes(self):
        self.assertEqual(generate_decoder.text(generate_decoder.program()), self.committed)

    def test_every_operand_exists_and_every_location_is_used_inside_its_bytes(self):
        for function in json.loads(self.committed)["modules"][0]["functions"]:
            size = {m["name"]: m.get("bytes") or m["elem_count"] * m["elem_size"] for m in function["memlocs"]}
            self.assertEqual(len(size), len(function["memlocs"]))
            touched = set()
            for instruction in (i for b in function["blocks"] for i in b["instructions"]):
                for operand in instruction["uses"] + instruction["defs"]:
                    part = operand if isinstance(operand, dict) else {"loc": operand, "offset": 0, "bytes": size[operand]}
                    self.assertLessEqual(part["offset"] + part["bytes"], size[part["loc"]], part)
                    touched.add(part["loc"])
                for used, made in instruction.get("in_place", []):
                    self.assertIn(used, instruction["uses"])
                    self.assertIn(made, instruction["defs"])
                    self.assertLessEqual(size[made], size[used])
            views = {m["alias_of"] for m in function["memlocs"] if "alias_of" in m}
            self.assertEqual(set(size) - touched - views, set(), function["name"])

    def test_pins_do_not_overlap(self):
        pins = []
        for function in json.loads(self.committed)["modules"][0]["functions"]:
            for m in function["memlocs"]:
                if "address" in m:
                    pins.append((m["address"], m["address"] + m["bytes"], m["name"]))
        pins.sort()
        for below, above in zip(pins, pins[1:]):
            self.assertLessEqual(below[1], above[0], (below, above))


class DrawPlan(unittest.TestCase):
    def setUp(self):
        names = [("w", 8192, "weight", 0, []), ("a", 4096, "internal", 8192, [[0, 1]]),
                 ("b", 8192, "internal", 12288, [[1, 3]]), ("c<&>", 4096, "collective", 8192, [[2, 2], [4, 4]]),
                 ("gone", 4096, "internal", None, [])]
        memlocs = [{"name": n, "bytes": s, "usage": u} for n, s, u, _, _ in names]
        memlocs.append({"name": "view", "alias_of": "b", "offset": 0})
        blocks = [{"name": "body", "succs": [0], "instructions": [{"op": "op"}] * 5}]
        self.program = {"name": "small & quick", "modules": [
            {"core": 0, "functions": [{"name": "main", "memlocs": memlocs, "blocks": blocks}]}]}
        planned = [{"name": n, "space": "local", "address": a, "bytes": s, "aligned": s, "pinned": a == 0,
                    "segments": g} for n, s, _, a, g in names]
        planned.append({"name": "view", "space": "local", "address": 12288, "bytes": 8192, "aligned": 8192,
                        "pinned": False, "segments": [[1, 3]]})
        space = {"space": "local", "core": 0, "floor": 8192, "peak": 20480, "lower_bound": 20480}
        self.plan = {"spaces": [space], "modules": [{"core": 0, "functions": [{"name": "main", "memlocs": planned}]}]}

    def draw(self):
        picture = draw_plan.draw(self.program, self.plan, 0, "local")
        return picture, xml.dom.minidom.parseString(picture)

    def test_each_segment_of_each_placed_root_is_a_rectangle_at_its_place(self):
        _, document = self.draw()
        boxes = {}
        for rect in document.getElementsByTagName("rect"):
            if rect.firstChild and ": " in rect.firstChild.firstChild.data:
                key = rect.firstChild.firstChild.data.split(": ")
                boxes[key[0], key[1].split("live ")[1]] = {k: float(rect.getAttribute(k)) for k in ("x", "y", "width", "height")}
        self.assertEqual(set(boxes), {("a", "[0, 1]"), ("b", "[1, 3]"), ("c<&>", "[2, 2]"), ("c<&>", "[4, 4]")})
        a, b, c = boxes["a", "[0, 1]"], boxes["b", "[1, 3]"], boxes["c<&>", "[2, 2]"]
        self.assertAlmostEqual(b["height"], 2 * a["height"], delta=0.2)
        self.assertAlmostEqual(b["y"] + b["height"], a["y"], delta=0.2)  # b lies on a.
        self.assertAlmostEqual(a["x"] + a["width"], c["x"], delta=0.2)  # c follows a.
        self.assertAlmostEqual(a["width"], 2 * c["width"], delta=0.2)

    def test_the_peak_is_told_against_the_bound(self):
        self.assertIn("peak = lower bound", self.draw()[0])
        self.plan["spaces"][0]["lower_bound"] = 16384
        picture, _ = self.draw()
        self.assertIn("50.00% above the lower bound", picture)
        self.assertIn(">lower bound +8 KiB<", picture)

    def test_the_load_counts_an_in_place_pair_once(self):
        instructions = self.program["modules"][0]["functions"][0]["blocks"][0]["instructions"]
        instructions[1] = {"op": "op", "in_place": [["a", "b"]]}
        memlocs = self.plan["modules"][0]["functions"][0]["memlocs"]
        memlocs[2]["bytes"] = memlocs[2]["aligned"] = 4096

        def load():
            declared = self.program["modules"][0]["functions"][0]
            return draw_plan.Function(declared, {"name": "main", "memlocs": memlocs}, "local").load()

        self.assertEqual(load(), [4096, 8192, 8192, 4096, 4096])
        memlocs[2]["address"] = memlocs[1]["address"]  # Now they share their start.
        self.assertEqual(load(), [4096, 4096, 8192, 4096, 4096])

    def test_files_may_be_compressed_and_the_picture_never_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            program, plan, out = (pathlib.Path(folder) / n for n in ("p.json.gz", "plan.json", "out.svg"))
            program.write_bytes(gzip.compress(json.dumps(self.program).encode()))
            plan.write_text(json.dumps(self.plan), encoding="utf-8")
            shown = printed(draw_plan.main, program, plan, "-")
            printed(draw_plan.main, program, plan, out)
            self.assertEqual(out.read_text(encoding="utf-8"), shown)

    def test_a_space_with_nothing_in_it_is_said(self):
        with self.assertRaisesRegex(SystemExit, "nothing placed in shared"):
            draw_plan.draw(self.program, self.plan, 0, "shared")


if __name__ == "__main__":
    unittest.main()
