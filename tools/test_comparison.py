"""Tests of the scripts that compare planners: `python3 -m unittest discover -s tools`."""

import contextlib
import ctypes
import gzip
import io
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import compare_omnimalloc
import draw_quality
import placements
import run_planner
import write_results


def columns(*rows):
    """Buffers from (lower, upper, size)."""
    return placements.Buffers(*map(list, zip(*rows)))


class Placements(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.csv"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            return placements.read(path)

    def test_dialects(self):
        want = ([0, 2], [3, 5], [8, 4])
        for name, text in (
            ("half-open", "id,lower,upper,size\na,0,3,8\nb,2,5,4\n"),
            ("closed", "buffer_id,start,end,size\na,0,2,8\nb,2,4,4\n"),
            ("begin, blanks, a comment", "# made by hand\nid, begin , upper,size\na, 0,3, 8\nb,2,5,4\n"),
            ("empty columns", "id,lower,upper,size,alignment,offset\na,0,3,8,1,\nb,2,5,4,,\n"),
            ("what takes nothing is left out", "id,lower,upper,size\na,0,3,8\nc,2,2,9\nd,0,9,0\nb,2,5,4\n"),
            ("gzip", gzip.compress(b"id,lower,upper,size\na,0,3,8\nb,2,5,4\n")),
        ):
            got = self.read(text)
            self.assertEqual((got.lower, got.upper, got.size), want, name)

    def test_what_only_some_planners_can_do_is_refused(self):
        for column, value in (("alignment", "64"), ("offset", "0"), ("gaps", "1-2")):
            with self.assertRaisesRegex(placements.Unsupported, f"row 1 has {column}"):
                self.read(f"id,lower,upper,size,{column}\na,0,3,8,{value}\n")
        with self.assertRaisesRegex(ValueError, "needs lower, upper and size"):
            self.read("id,first,size\n")

    def test_overlaps_are_found_as_by_looking_at_all_pairs(self):
        draw, seen = random.Random(1), {True: 0, False: 0}
        for _ in range(3000):
            count = draw.randint(1, 6)
            lower = [draw.randrange(6) for _ in range(count)]
            upper = [t + draw.randint(1, 4) for t in lower]
            size = [draw.randint(1, 4) for _ in range(count)]
            at = [draw.randrange(12) for _ in range(count)]
            wrong = any(
                lower[i] < upper[j] and lower[j] < upper[i] and at[i] < at[j] + size[j] and at[j] < at[i] + size[i]
                for i in range(count) for j in range(i))
            buffers = placements.Buffers(lower, upper, size)
            seen[wrong] += 1
            if wrong:
                with self.assertRaises(ValueError):
                    placements.peak(buffers, at)
            else:
                self.assertEqual(placements.peak(buffers, at), max(a + s for a, s in zip(at, size)))
            live = [sum(s for l, u, s in zip(lower, upper, size) if l <= t < u) for t in range(10)]
            self.assertEqual(placements.bound(buffers), max(live))
        self.assertGreater(min(seen.values()), 300)

    def test_no_offset_and_a_negative_one_are_wrong(self):
        for offsets in ([0], [0, -1]):
            with self.assertRaises(ValueError):
                placements.peak(columns((0, 1, 4), (2, 3, 4)), offsets)


class RunPlanner(unittest.TestCase):
    def test_structs_are_laid_out_as_the_library_says(self):
        text = (ROOT / "src/ffi/layout.rs").read_text(encoding="utf-8")
        for name, ours in (("problem", run_planner.Problem), ("problem_result", run_planner.Result),
                           ("options", run_planner.Options), ("progress", run_planner.Progress),
                           ("control", run_planner.Control)):
            size, fields = re.search(rf"layout!\(dram_{name}, (\d+), \{{ (.*?) \}}\)", text).groups()
            theirs = dict(re.findall(r"(\w+): (\d+)", fields))
            # The library may know more fields, at the end.
            self.assertLessEqual(ctypes.sizeof(ours), int(size), name)
            for field, *_ in ours._fields_:
                self.assertEqual(getattr(ours, field).offset, int(theirs[field]), (name, field))

    def test_values_are_those_of_the_header(self):
        header = (ROOT / "include/dramalloc.h").read_text(encoding="utf-8")
        for name, value in run_planner.STRATEGIES.items():
            self.assertRegex(header, rf"DRAM_STRATEGY_{name.upper()} = {value},")
        self.assertRegex(header, rf"DRAM_PLAN_STATUS_OPTIMAL = {run_planner.PLAN_STATUS_OPTIMAL},")

    def test_a_limit_of_processor_time_does_not_make_the_clock_coarse(self):
        code = """
import resource, run_planner
resource.setrlimit(resource.RLIMIT_CPU, (60, 61))
for _ in range(20):
    start = run_planner.processor_time()
    sum(range(100000))
    assert run_planner.processor_time() > start
"""
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "tools", capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def measured(self, share, needs):
        """A search that computes for `needs` seconds, in a process that gets a share of the processor."""
        clock = {"wall": 0.0, "used": 0.0}
        asked = []

        def make(budget):
            asked.append(budget)

            def run():
                wall = min(budget, needs / share)
                clock["wall"] += wall
                clock["used"] += wall * share
                return len(asked)

            return run, lambda: {"proven": False}

        with mock.patch.object(run_planner, "processor_time", lambda: clock["used"]), \
                mock.patch.object(run_planner.time, "perf_counter", lambda: clock["wall"]):
            placed, runs, best = run_planner.measure(make, 3.0)
        return asked, placed, runs, best

    def test_a_search_gets_its_budget_of_processor_time(self):
        asked, placed, runs, best = self.measured(0.25, 100)
        self.assertEqual((asked, placed, runs), ([3.0, 12.0], 2, 2))
        self.assertAlmostEqual(best["seconds"], 3.0)
        asked, _, runs, _ = self.measured(1.0, 100)
        self.assertEqual((asked, runs), ([3.0], 1))

    def test_what_ends_early_is_repeated(self):
        asked, _, runs, best = self.measured(0.5, 0.001)
        self.assertEqual((asked, runs), ([3.0] * 5, 5))
        self.assertAlmostEqual(best["seconds"], 0.001)

    def test_offsets_go_back_to_their_buffers(self):
        placed = [mock.Mock(id=1, offset=8), mock.Mock(id=0, offset=4)]
        self.assertEqual(run_planner.in_order(placed, 2), [4, 8])
        with self.assertRaisesRegex(ValueError, "buffer 1 has no offset"):
            run_planner.in_order(placed[1:], 2)


def ran(returncode=0, stdout="", stderr=""):
    return subprocess.CompletedProcess([], returncode, stdout, stderr)


class Compare(unittest.TestCase):
    def test_a_package_that_cannot_be_installed_is_one_line_and_status_3(self):
        answers = {"venv": ran(), "pip": ran(1, stderr="noise\nERROR: no route\n")}
        out, err = io.StringIO(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(compare_omnimalloc, "TARGET", pathlib.Path(folder)), \
                mock.patch.object(compare_omnimalloc.subprocess, "run", lambda c, **_: answers[c[2]]), \
                mock.patch("sys.argv", ["compare"]), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.assertEqual(compare_omnimalloc.main(), 3)
        self.assertEqual(out.getvalue(), "")
        self.assertRegex(err.getvalue(), r"\Askipped: omnimalloc .* cannot be installed .*: ERROR: no route\n\Z")

    def test_what_a_run_says(self):
        for name, answer, want in (
            ("a result", ran(stdout='{"peak": 3}'), {"peak": 3}),
            ("memory", ran(1, stderr="Traceback\nMemoryError: std::bad_alloc\n"), {"failed": "more than 2 GiB"}),
            ("a crash", ran(-11), {"failed": "exit status -11"}),
            ("its patience is over", ran(-24), {"failed": "no answer in 9 s"}),
        ):
            with mock.patch.object(compare_omnimalloc.subprocess, "run", lambda *_, **__: answer):
                got = compare_omnimalloc.run("python", "p", "f.csv", 1, 2, 9)
            self.assertEqual({k: v for k, v in got.items() if k != "wrong"}, want, name)

    def test_a_wrong_placement_fails_the_comparison(self):
        with mock.patch.object(compare_omnimalloc.subprocess, "run",
                               lambda *_, **__: ran(1, stderr="ValueError: buffers 1 and 2 share bytes")):
            self.assertTrue(compare_omnimalloc.run("python", "p", "f", 1, 2, 9)["wrong"])

    def test_names(self):
        for file, want in (("a/b.csv", "b"), ("b.1048576.csv", "b.1048576"), ("x.csv.gz", "x")):
            self.assertEqual(compare_omnimalloc.name_of(file), want)


HEADER = {"machine": "x86_64, 2 cores", "omnimalloc": "1.0.0", "budget": 3.0}


def line(planner, peak, seconds, **more):
    return {"instance": "a<1>", "buffers": 10, "bound": 1000, "planner": planner, "peak": peak,
            "seconds": seconds, "proven": peak == 1000, "memory_mib": 1.0, **more}


COMPARED = [
    line("dramalloc:fast", 1100, 0.001),
    line("dramalloc:best", 1020, 3.0, better=[[0.001, 1100], [0.5, 1020]]),
    line("omnimalloc:omni", 1010, 0.1),
    {"instance": "a<1>", "buffers": 10, "bound": 1000, "planner": "omnimalloc:supermalloc", "failed": "no answer in 90 s"},
]


def planned(method, peak, seconds):
    return {"instance": "mix_1e3", "buffers": 10, "bound": 1000, "pairs": 5, "method": method, "peak": peak,
            "seconds": seconds, "steps": None}


PLANNED = [
    planned("reference", 1100, 0.001), planned("fast", 1000, 0.002), planned("best", 1000, 0.002),
    planned("first fit by size, engine", 1200, 0.001), planned("first fit by size, neighbours", 1200, 0.3),
    planned("best fit by size, neighbours", 1300, 0.4), planned("exact search, bisection", 1000, 0.001),
]


class DrawQuality(unittest.TestCase):
    def test_each_run_is_a_mark_and_lies_right_of_a_faster_one_and_above_a_better_one(self):
        document = xml.dom.minidom.parseString(draw_quality.draw(HEADER, COMPARED))
        titles = [t.firstChild.data for t in document.getElementsByTagName("title")]
        self.assertEqual(len(titles), 3)
        self.assertIn("omnimalloc:omni: 1.000 % above the bound in 0.1 s", titles)
        scale = draw_quality.Scale(COMPARED)
        self.assertLess(scale.x(0.001), scale.x(0.1))
        self.assertGreater(scale.y(1), scale.y(10))  # Down is larger.
        words = "".join(t.firstChild.data for t in document.getElementsByTagName("text"))
        self.assertIn("supermalloc: no answer in 90 s", words)
        self.assertIn("a<1>", words)

    def test_the_line_follows_the_search(self):
        picture = draw_quality.draw(HEADER, COMPARED)
        (steps,) = re.findall(r'd="(M[^"]*)" fill="none"', picture)
        self.assertRegex(steps, r"\AM[\d.]+ [\d.]+H[\d.]+V[\d.]+H[\d.]+\Z")


class WriteResults(unittest.TestCase):
    def test_cells(self):
        text = write_results.page(PLANNED, HEADER, COMPARED)
        self.assertIn("| mix_1e3 | 0.0 | 10.00 · 1 | 0 · 2 | 0 · 2 | 30.00 · 400 | - |", text)
        self.assertIn("| 300 |", text)  # The engine's ratio.
        self.assertIn("| no answer in 90 s |", text)

    def test_losses_are_told(self):
        self.assertEqual(write_results.losses(PLANNED, COMPARED), [
            "mix_1e3: exact search, bisection reaches the same peak 2.0 times faster than fast",
            "a<1>: omnimalloc omni ends 0.98 % below dramalloc best",
        ])

    def test_what_is_merely_faster_is_told(self):
        planned_too = [*PLANNED, planned("free list over time", 2000, 0.0005), dict(PLANNED[0], instance="b")]
        self.assertEqual(write_results.faster(planned_too, "method", write_results.OURS.__contains__),
                         ["free list over time is done before any of our strategies on 1 of 1 instances"])
        self.assertEqual(write_results.faster(COMPARED, "planner", lambda name: name.startswith("dramalloc")), [])

    def test_one_order_with_two_peaks_is_a_mistake(self):
        wrong = [dict(p, peak=1199) if p["method"] == "first fit by size, engine" else p for p in PLANNED]
        with self.assertRaises(AssertionError):
            write_results.page(wrong, HEADER, COMPARED)

    def test_the_committed_page_and_picture_are_what_the_committed_data_give(self):
        with mock.patch("sys.argv", ["write_results", "--check"]):
            write_results.main()

    def test_the_data_are_lines_of_json(self):
        for path in (ROOT / "benches/results").glob("*.jsonl"):
            for text in path.read_text(encoding="utf-8").splitlines():
                self.assertIsInstance(json.loads(text), dict)


if __name__ == "__main__":
    unittest.main()
