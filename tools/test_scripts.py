"""Tests of the project's Python scripts: `python3 -m unittest discover -s tools`."""

import importlib.util
import json
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def load(path):
    """The script at `path` as a module."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate_decoder = load("examples/generate_decoder.py")


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


if __name__ == "__main__":
    unittest.main()
