"""The page of `dramalloc draw` in headless Chromium: `python3 -m unittest discover -s tools/browser`.

Needs chromium, chromedriver and a built command: target/release/dramalloc, or what $DRAMALLOC names.
Pictures of what was seen are left in target/browser, to be looked at.
"""

import json
import os
import pathlib
import random
import subprocess
import unittest
import xml.dom.minidom

import webdriver

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("DRAMALLOC", ROOT / "target/release/dramalloc")
OUT = ROOT / "target/browser"

HOSTILE = [
    "</script><img src=x onerror=\"document.title='owned'\">",
    "quote\" and ' and \\ and `${1}`",
    "]]> <!-- <b>bold</b> & &amp;",
    "line\nbreak\ttab \u0001 \u2028 end",
    "h\u00f6he \u4e2d\u6587 \U0001f9ee",
    "__proto__",
]


def location(name, size, **more):
    return {"name": name, "bytes": size, **more}


def program(name, memlocs, instructions, core=0):
    function = {"name": "main", "memlocs": memlocs, "instructions": instructions}
    module = {"name": f"core{core}", "core": core, "functions": [function]}
    return {"format": "dramalloc-program", "version": 1, "name": name, "modules": [module]}


def chain(names, size=8192):
    """Each location is made from the one before, so that every other one may follow in its bytes."""
    makes = [{"op": "make", "uses": [names[i - 1]] if i else [], "defs": [name]} for i, name in enumerate(names)]
    return [location(name, size) for name in names], makes + [{"op": "end", "uses": [names[-1]], "defs": []}]


def many(count):
    """So many locations with lives of all lengths, some with holes."""
    dice = random.Random(7)
    memlocs, instructions, live = [], [], []
    for i in range(count):
        memlocs.append(location(f"t{i}", 4096 * dice.choice((1, 1, 2, 3, 8, 64, 400))))
        dying = [name for name, until in live if until <= i]
        live = [(name, until) for name, until in live if until > i]
        live.append((f"t{i}", i + 1 + int(dice.paretovariate(0.8))))
        instructions.append({"op": "make", "uses": dying, "defs": [f"t{i}"]})
        if dying and i % 50 == 0:  # Written again later: a hole in its life.
            instructions.append({"op": "again", "uses": [], "defs": dying[:1]})
            instructions.append({"op": "look", "uses": dying[:1], "defs": []})
    return program("many", memlocs, instructions)


def run(*args):
    done = subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def drawn(name, source, *more, plan=None):
    """The URL of a page that shows the program."""
    OUT.mkdir(parents=True, exist_ok=True)
    file, plan = OUT / f"{name}.program.json", plan or OUT / f"{name}.plan.json"
    file.write_text(json.dumps(source), encoding="utf-8")
    if not plan.exists() or plan.name == f"{name}.plan.json":
        run("plan", file, "-o", plan, "-q")
    run("draw", file, plan, "-o", OUT / f"{name}.html", *more)
    return (OUT / f"{name}.html").as_uri()


@unittest.skipIf(webdriver.missing(), f"not installed: {webdriver.missing()}")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = webdriver.Browser()
        cls.addClassCleanup(cls.browser.close)
        example = json.loads((ROOT / "examples/decoder_layers.program.json").read_text(encoding="utf-8"))
        cls.example = drawn("decoder", example)

    def setUp(self):
        self.browser.scheme("light")

    def tearDown(self):
        # The tests read pixels back, the page does not.
        errors = [line for line in self.browser.errors() if "willReadFrequently" not in line]
        self.assertEqual(errors, [], "the console complains")

    def open(self, url):
        self.browser.open(url)
        self.browser.settle()

    def script(self, code, *args):
        return self.browser.script(code, *args)

    def facts(self):
        return self.script("return document.getElementById('facts').innerText")

    def middle_of(self, name):
        """Where the middle of a location is, in pixels of the window."""
        return self.script(
            """const box = names.indexOf(arguments[0]), lane = lanes[laneOf[box]];
               const at = map.getBoundingClientRect();
               return [at.left + xOf((first[box] + firstEnd[box] + 1) / 2), at.top + yOf(lane, (low[box] + high[box]) / 2)]""",
            name,
        )

    def pixel(self, name):
        """The colour that the canvas has in the middle of a location."""
        return self.script(
            """const box = names.indexOf(arguments[0]), lane = lanes[laneOf[box]];
               const y = yOf(lane, low[box]) - 3, x = xOf(first[box]) + 3;
               return [...canvas.getImageData(Math.round(x * scale), Math.round(y * scale), 1, 1).data].slice(0, 3)""",
            name,
        )

    def test_the_example_is_drawn_and_says_what_it_is(self):
        self.open(self.example)
        self.browser.screenshot(OUT / "decoder.light.png")
        self.assertEqual(self.script("return document.title"), "decoder-layers")
        self.assertIn("499 locations drawn", self.script("return document.getElementById('summary').innerText"))
        self.assertEqual(self.pixel("l1.wgu"), self.script("return theme.usages[0][(Math.floor(first[names.indexOf('l1.wgu')] / 3) + names.indexOf('l1.wgu')) % 3]"))

    def test_nothing_is_asked_of_a_network(self):
        self.open(self.example)
        loaded = self.script("return performance.getEntriesByType('resource').map(entry => entry.name)")
        self.assertEqual([name for name in loaded if not name.startswith("data:")], [])

    def test_pointing_tells_the_facts(self):
        names = [f"step{i}" for i in range(5)]
        self.open(drawn("chain", program("chain", *chain(names))))
        self.browser.pointer(("move", *self.middle_of("step2")))
        told = self.facts()
        plan = json.loads((OUT / "chain.plan.json").read_text(encoding="utf-8"))
        placed = {m["name"]: m for m in plan["modules"][0]["functions"][0]["memlocs"]}
        self.assertIn("step2", told)
        self.assertIn("8\u202f192 (8 KiB)", told)
        self.assertIn(f"{placed['step2']['address']} (0x", told)
        self.assertIn(f"[{placed['step2']['segments'][0][0]}, {placed['step2']['segments'][0][1]}] of main", told)
        before = [n for n in ("step0", "step1") if placed[n]["address"] == placed["step2"]["address"]]
        self.assertEqual(before, ["step0"])
        sides = told.split("After it in these bytes")
        self.assertIn("step0 · 8 KiB", sides[0])
        self.assertIn("step4 · 8 KiB", sides[1])
        tip = self.script("const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.innerText")
        self.assertTrue(tip.startswith("step2: 8 KiB at "), tip)

    def test_search_finds_highlights_and_jumps(self):
        self.open(self.example)
        before = self.pixel("l0.wgu"), self.pixel("l2.wgu")
        self.browser.press("/")
        self.browser.type("#search", "l2.wgu")
        self.browser.settle()
        placed = self.script("return names.filter(name => name.includes('l2.wgu')).length")
        self.assertEqual(self.script("return document.getElementById('hits').innerText"), f"{placed} found")
        after = self.pixel("l0.wgu"), self.pixel("l2.wgu")
        self.assertNotEqual(before[0], after[0], "what was not found is dimmed")
        self.assertEqual(before[1], after[1], "what was found is not")
        self.browser.screenshot(OUT / "decoder.search.png")
        self.browser.press("Enter")
        self.assertEqual(self.script("return document.getElementById('hits').innerText"), f"1 of {placed}")
        self.assertEqual(self.script("return [names[look.selected], slots[slotOf[look.selected]].name]"), ["l2.wgu", "prefill"])
        self.browser.press("Enter")
        self.assertEqual(self.script("return slots[slotOf[look.selected]].name"), "decode")
        self.assertIn("l2.wgu", self.facts())
        self.browser.press("Escape")
        self.assertEqual(self.script("return [look.selected, look.hits.length, document.activeElement.id]"), [-1, 0, "map"])

    def test_a_jump_shows_what_is_too_small_to_see(self):
        url = drawn("many", many(3000))
        self.open(url)
        self.browser.type("#search", "t1234")
        self.browser.press("Enter")
        x, y = self.middle_of("t1234")
        wide = self.script("const b = look.selected; return xOf(last[b] + 1) - xOf(first[b])")
        self.assertGreater(wide, 20)
        self.browser.pointer(("move", x, y))
        self.assertEqual(self.script("return names[look.hovered]"), "t1234")

    def test_wheel_drag_and_keys_move_the_view(self):
        self.open(self.example)
        view = "return [view.from, view.to, ...view.bytes.local]"
        start = self.script(view)
        x, y = map(round, self.middle_of("l1.wgu"))
        instant = self.script("return instantOf(arguments[0])", x)
        self.browser.wheel(x, y, -240)
        zoomed = self.script(view)
        self.assertLess(zoomed[1] - zoomed[0], (start[1] - start[0]) * 0.8)
        self.assertEqual(zoomed[2:], start[2:])
        self.assertAlmostEqual(self.script("return instantOf(arguments[0])", x), instant, places=3)
        self.browser.pointer(("move", x, y), ("down",), ("move", x - 100, y + 30), ("up",))
        moved = self.script(view)
        self.assertGreater(moved[0], zoomed[0])
        self.assertGreater(moved[2], zoomed[2])
        self.browser.press("Left")
        self.assertLess(self.script(view)[0], moved[0])
        self.browser.press("i")
        self.assertLess(self.script("return view.bytes.local[1] - view.bytes.local[0]"), moved[3] - moved[2])
        self.browser.press("+")
        self.browser.press("0")
        self.assertEqual(self.script(view), start)

    def test_a_bitmap_that_was_moved_is_what_a_new_one_is(self):
        stale = """
            paint();
            const lane = lanes[0], moved = lane.painted.out.slice();
            lane.painted = null;
            paint();
            return lane.painted.out.reduce((sum, pixel, i) => sum + (pixel !== moved[i]), 0)"""
        for url in (self.example, drawn("many", many(3000))):
            self.open(url)
            for move in ("pan(0.037, 0)", "pan(-0.011, 0.02)", "pan(0, -0.3)", "zoomTime(0.3), zoomBytes(0.5)", "pan(0.1, 0.07)", "pan(-0.2, -0.03)"):
                self.script(move)
                self.assertEqual(self.script(stale), 0, move)

    def test_the_keyboard_walks_and_is_told(self):
        self.open(self.example)
        said = "return document.getElementById('said').textContent"
        self.browser.press("n", "n")
        self.assertEqual(self.script("return look.selected"), 1)
        self.assertTrue(self.script(said).startswith(self.script("return names[1]") + ": "))
        self.browser.press("p")
        self.assertEqual(self.script("return look.selected"), 0)
        self.browser.press("u")
        above = self.script("return [low[look.selected] > low[0], first[look.selected] <= first[0], last[look.selected] >= first[0]]")
        self.assertEqual(above, [True, True, True])
        self.browser.press("d")
        self.assertEqual(self.script("return look.selected"), 0)
        self.script("select(names.indexOf('l2.wgu'))")
        self.browser.press("b")
        self.assertEqual(self.script("return last[look.selected] <= first[names.indexOf('l2.wgu')]"), True)
        self.browser.press("?")
        self.assertTrue(self.script("return document.getElementById('help').open"))
        self.browser.screenshot(OUT / "decoder.help.png")
        self.browser.press("Escape")
        self.assertFalse(self.script("return document.getElementById('help').open"))

    def test_light_and_dark(self):
        self.open(self.example)
        paper = "return getComputedStyle(document.body).backgroundColor"
        light = self.script(paper)
        self.browser.scheme("dark")
        dark = self.script(paper)
        self.assertNotEqual(light, dark)
        self.assertTrue(self.script("return theme.isDark"))
        self.assertLess(max(self.script("return [...canvas.getImageData(2, 2, 1, 1).data].slice(0, 3)")), 64)
        self.browser.screenshot(OUT / "decoder.dark.png")
        self.browser.press("t")
        self.assertEqual(self.script(paper), light)

    def test_every_way_to_colour(self):
        self.open(self.example)
        seen = [self.pixel("l3.wgu")]
        for way in ("size", "reuse"):
            self.browser.press("c")
            self.assertEqual(self.script("return look.colour"), way)
            self.browser.screenshot(OUT / f"decoder.{way}.png")
            seen.append(self.pixel("l3.wgu"))
        self.assertEqual(len({tuple(colour) for colour in seen}), 3)
        # The chain of a location is one longer than the longest of those just before it.
        longest = self.script(
            """return [...names.keys()].every(box => {
                 const before = neighbours(box, -1).map(other => turnsOf()[other]);
                 return turnsOf()[box] >= Math.max(-1, ...before) + 1 || high[box] === low[box] })"""
        )
        self.assertTrue(longest)

    def test_names_are_text_and_nothing_else(self):
        self.open(drawn("hostile", program(HOSTILE[0], *chain(HOSTILE))))
        self.assertEqual(self.script("return [...names]"), HOSTILE)
        self.assertEqual(self.script("return document.title"), HOSTILE[0])
        for _ in HOSTILE:
            self.browser.press("n")
            self.assertEqual(self.script("return document.querySelector('#facts h2').textContent === names[look.selected]"), True)
        self.browser.type("#search", HOSTILE[2])
        self.assertEqual(self.script("return look.hits.length"), 1)
        self.assertEqual(self.script("return document.images.length"), 0)

    def test_pictures_for_documents_are_well_formed(self):
        drawn("hostile", program(HOSTILE[0], *chain(HOSTILE)))
        run("draw", OUT / "hostile.program.json", OUT / "hostile.plan.json", "-o", OUT / "hostile.svg")
        text = (OUT / "hostile.svg").read_text(encoding="utf-8")
        titles = [node.firstChild.data for node in xml.dom.minidom.parseString(text).getElementsByTagName("title")]
        shown = "".join(titles)
        for name in HOSTILE:  # What XML cannot say is replaced.
            self.assertIn(name.replace("\u0001", "\ufffd"), shown)
        self.open((OUT / "hostile.svg").as_uri())
        self.assertEqual(self.script("return document.documentElement.nodeName"), "svg")
        self.assertEqual(self.script("return document.getElementsByTagName('img').length"), 0)
        for name in ("decoder", "many"):
            if name == "many":
                drawn("many", many(3000))
            run("draw", OUT / f"{name}.program.json", OUT / f"{name}.plan.json", "-o", OUT / f"{name}.svg")
            xml.dom.minidom.parse(str(OUT / f"{name}.svg"))
            self.open((OUT / f"{name}.svg").as_uri())
            self.browser.screenshot(OUT / f"{name}.svg.png")

    def test_addresses_past_what_a_double_holds(self):
        base = (1 << 60) + 1
        memlocs = [location("far", 7, address=base), location("next", 9, address=base + 7), location("near", 5, address=3)]
        code = [{"op": "f", "uses": [], "defs": ["far", "next", "near"]}, {"op": "g", "uses": ["far", "next", "near"], "defs": []}]
        source = program("far", memlocs, code)
        file, plan = OUT / "far.program.json", OUT / "far.plan.json"
        file.write_text(json.dumps(source), encoding="utf-8")
        run("plan", file, "-o", plan, "-q", "--packed", "--floor", "holes")
        run("draw", file, plan, "-o", OUT / "far.html")
        self.open((OUT / "far.html").as_uri())
        self.assertTrue(self.script("return lanes[0].wide"))
        self.script("select(names.indexOf('next'))")
        self.assertIn(f"{base + 7} (0x1000000000000008)", self.facts())
        self.assertIn(str(base + 16), self.facts())

    def test_holes_in_a_life_are_rectangles_of_one_location(self):
        memlocs = [location("twice", 4096), location("between", 4096)]
        code = [
            {"op": "a", "uses": [], "defs": ["twice"]},
            {"op": "b", "uses": ["twice"], "defs": []},
            {"op": "c", "uses": [], "defs": ["between"]},
            {"op": "d", "uses": ["between"], "defs": []},
            {"op": "e", "uses": [], "defs": ["twice"]},
            {"op": "f", "uses": ["twice"], "defs": []},
        ]
        self.open(drawn("holes", program("holes", memlocs, code)))
        self.assertEqual(self.script("return lifeOf(names.indexOf('twice'))"), [[0, 1], [4, 5]])
        self.assertEqual(self.script("return [...lanes[0].rectBox].map(box => names[box])"), ["twice", "between", "twice"])
        for instant, name in ((0.5, "twice"), (2.5, "between"), (4.5, "twice")):
            at = self.script("const at = map.getBoundingClientRect(); return [at.left + xOf(arguments[0]), at.top + yOf(lanes[0], 2000)]", instant)
            self.browser.pointer(("move", *at))
            self.assertEqual(self.script("return names[look.hovered]"), name)
        self.browser.screenshot(OUT / "holes.png")
        self.assertIn("[0, 1] [4, 5]", self.facts())

    def test_two_pictures_are_linked(self):
        names = [f"step{i}" for i in range(6)]
        old = program("net", *chain(names))
        new = json.loads(json.dumps(old))
        function = new["modules"][0]["functions"][0]
        function["memlocs"][2]["bytes"] = 40960  # Grown.
        function["memlocs"].append(location("added", 4096))  # New.
        function["instructions"][1]["defs"].append("added")
        function["instructions"][4]["uses"].append("added")
        function["memlocs"] = [m for m in function["memlocs"] if m["name"] != "step5"]  # Gone.
        for instruction in function["instructions"]:
            for side in ("uses", "defs"):
                instruction[side] = [name for name in instruction[side] if name != "step5"]
        drawn("old", old)
        new_file, new_plan = OUT / "new.program.json", OUT / "new.plan.json"
        new_file.write_text(json.dumps(new), encoding="utf-8")
        run("plan", new_file, "-o", new_plan, "-q")
        run("draw", OUT / "old.program.json", OUT / "old.plan.json", "-o", OUT / "beside.html", "--beside", new_file, new_plan)
        self.open((OUT / "beside.html").as_uri())
        self.assertEqual(self.script("return lanes.map(lane => [lane.picture, lane.label])"), [[0, "core 0 · local"], [1, "core 0 · local"]])
        changes = self.script("return [...names.keys()].map(box => [laneOf[box], names[box], data.changes[change[box]][0]])")
        told = {(lane, name): change for lane, name, change in changes}
        self.assertEqual((told[0, "step5"], told[1, "added"], told[0, "step2"], told[1, "step2"]), ("gone", "new", "grown", "grown"))
        self.assertTrue(self.script("return [...names.keys()].every(box => partner[box] < 0 || (partner[partner[box]] === box && names[box] === names[partner[box]]))"))
        self.browser.pointer(("move", *self.middle_of("step2")))
        self.assertIn("grown by\n+32 KiB", self.facts())
        self.browser.screenshot(OUT / "beside.light.png")
        self.browser.scheme("dark")
        self.browser.screenshot(OUT / "beside.dark.png")
        self.script("select(names.indexOf('step2'))")
        self.browser.press("m")
        self.assertEqual(self.script("return [laneOf[look.selected], names[look.selected]]"), [1, "step2"])

    def test_a_hundred_thousand_rectangles(self):
        self.open(drawn("hundred", many(100_000)))
        count, paint = self.script("return [lanes[0].rectBox.length, performance.getEntriesByName('first-contentful-paint')[0].startTime]")
        self.assertGreaterEqual(count, 100_000)
        self.browser.screenshot(OUT / "hundred.png")
        self.script("frameTimes.length = 0")
        moving = """
            const done = arguments[0], gaps = [], begun = performance.now();
            let before = begun, n = 0;
            const frame = now => {
              if (n > 0) gaps.push(now - before);
              before = now;
              if (++n > 60) { done([gaps, frameTimes.splice(0)]); return; }
              MOVE;
              requestAnimationFrame(frame);
            };
            requestAnimationFrame(frame);"""
        print(f"\n{count} rectangles, first paint after {paint:.0f} ms; milliseconds per frame, median and worst of 60:")
        for name, move, at in (
            ("all in view, moving", "pan(n % 2 ? 0.004 : -0.004, 0.002)", "showPlaced()"),
            ("a tenth in view, moving", "pan(0.01, 0)", "setTime(0, data.length / 10)"),
            ("zooming in from all", "zoomTime(0.93)", "showPlaced()"),
        ):
            self.script(at)
            self.browser.settle()
            self.script("frameTimes.length = 0")
            gaps, painting = self.browser.wait(moving.replace("MOVE", move))
            middle = lambda values: sorted(values)[len(values) // 2]
            print(f"  {name}: painting {middle(painting):.1f}, {max(painting):.1f}; from frame to frame {middle(gaps):.1f}, {max(gaps):.1f}")


if __name__ == "__main__":
    unittest.main()
