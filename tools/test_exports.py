"""Tests of what `dramalloc convert` writes for other people's viewers, by Python's own readers.

The command's tests compare the two files with what it writes now; here they are read as a viewer
would, without anything of ours.
"""

import collections
import importlib.util
import json
import pathlib
import pickle
import pickletools
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent
DATA = TOOLS.parent / "tests/data/xla"
HEAP = 147456  # What XLA says of this program.


class MemorySnapshot(unittest.TestCase):
    path = DATA / "mlp_train_step.snapshot.pickle"

    def setUp(self):
        with self.path.open("rb") as file:
            self.snapshot = pickle.load(file)

    def test_it_is_a_pickle_of_protocol_2_and_of_plain_values(self):
        content = self.path.read_bytes()
        names = set()
        for opcode, argument, _ in pickletools.genops(content):
            self.assertLessEqual(opcode.proto, 2)
            if opcode.name == "PROTO":
                self.assertEqual(argument, 2)
            names.add(opcode.name)
        self.assertFalse(names & {"GLOBAL", "REDUCE", "BUILD", "INST", "OBJ", "NEWOBJ"})

    def test_events_replayed_reach_the_heap_and_overlap_nowhere(self):
        [segment], [trace] = self.snapshot["segments"], self.snapshot["device_traces"]
        self.assertEqual((segment["address"], segment["total_size"]), (0, HEAP))
        live, highest, time = {}, 0, 0
        for event in trace[1:]:
            start, size = event["addr"], event["size"]
            self.assertGreaterEqual(event["time_us"], time)
            time = event["time_us"]
            self.assertTrue(event["frames"])
            if event["action"] == "alloc":
                for other, bytes_ in live.items():
                    self.assertTrue(start + size <= other or other + bytes_ <= start)
                live[start] = size
                highest = max(highest, start + size)
            elif event["action"] == "free_completed":
                self.assertEqual(live.pop(start), size)
            else:
                self.assertEqual((event["action"], live[start]), ("free_requested", size))
        self.assertEqual(highest, HEAP)
        left = {b["address"]: b["size"] for b in segment["blocks"] if b["state"] != "inactive"}
        self.assertEqual(left, live)
        self.assertEqual(sum(b["size"] for b in segment["blocks"]), HEAP)

    def test_memory_viz_finds_the_category_that_it_wants(self):
        categories = {event["category"] for event in self.snapshot["device_traces"][0]}
        self.assertEqual(categories, {"unknown", "internal"})


class ChromeTrace(unittest.TestCase):
    def setUp(self):
        text = (DATA / "mlp_train_step.trace.json").read_text(encoding="utf-8")
        self.events = json.loads(text)["traceEvents"]

    def test_slices_of_one_thread_nest(self):
        threads = collections.defaultdict(list)
        for event in self.events:
            if event["ph"] == "X":
                threads[event["pid"], event["tid"]].append((event["ts"], -event["dur"]))
        self.assertGreater(len(threads), 2)
        for slices in threads.values():
            open_ = []
            for start, duration in sorted(slices):
                while open_ and open_[-1] <= start:
                    open_.pop()
                self.assertTrue(not open_ or start - duration <= open_[-1])
                open_.append(start - duration)

    def test_the_load_is_that_of_the_slices_and_the_peak_that_of_the_heap(self):
        lives = [e for e in self.events if e["ph"] == "X" and "address" in e["args"]]
        counters = [e for e in self.events if e["ph"] == "C"]
        highest = [e["args"]["bytes"] for e in counters if e["name"] == "local highest address"]
        self.assertEqual(max(highest), HEAP)
        load = {e["ts"]: e["args"]["bytes"] for e in counters if e["name"] == "local load"}
        self.assertEqual(load[max(load)], 0)
        for time, said in load.items():
            there = (e for e in lives if e["ts"] <= time < e["ts"] + e["dur"])
            self.assertEqual(said, sum(e["args"]["bytes_as_placed"] for e in there))


class Dumps(unittest.TestCase):
    def setUp(self):
        spec = importlib.util.spec_from_file_location("dumps", TOOLS / "make_xla_dumps.py")
        self.dumps = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.dumps)

    def test_the_committed_ones_have_what_the_script_keeps_and_nothing_else(self):
        for ending, keep in self.dumps.KEPT.items():
            files = [f for f in DATA.iterdir() if f.name.endswith(ending)]
            self.assertGreaterEqual(len(files), 3, ending)
            for file in files:
                text = file.read_text(encoding="utf-8")
                self.assertEqual(keep(text), text, file.name)

    def test_reports_and_instructions_are_cut(self):
        ranges = "HloLiveRange (max 1):\n  BufferLiveRange:\n    p{}:0-1\n"
        report = "  Live ranges at 0 (peak):\n    p{}: 4 bytes\n"
        self.assertEqual(self.dumps.ranges_only(ranges + report), ranges)
        value = "<0 p @0>\n positions:\n  p\n uses:\n  (none)\n"
        text = self.dumps.without_instructions(value + " from instruction: %p = f32[]\n")
        self.assertEqual(text, value)


if __name__ == "__main__":
    unittest.main()
