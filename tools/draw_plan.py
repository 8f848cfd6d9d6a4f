#!/usr/bin/env python3
"""Draw a plan: time runs to the right, addresses run up, each location is a rectangle.

    draw_plan.py PROGRAM PLAN OUT.svg [--core N] [--space local|shared|debug]

PROGRAM and PLAN are JSON files, gzip or not; OUT may be - for stdout. One panel per function of the
core. What the host has pinned below the floor is folded into one band. The dark line is the sum of
live bytes on top of the floor: whatever is drawn above it is lost to fragmentation. Standard
library only; the same picture on every machine.
"""

import argparse
import gzip
import json
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 1280, 640
LEFT, RIGHT, TOP, BOTTOM = 92, 24, 96, 64  # Margins of the panels.
BETWEEN = 28  # From panel to panel.
BAND = 30  # The folded pins, below the floor.
FONT = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"

INK, FAINT, GRID = "#1f2733", "#667085", "#e4e7ec"
# Usage -> three tints, so that neighbours stay apart.
FILLS = {
    "internal": ("#4e8fd0", "#77addf", "#3b78b8"),
    "collective": ("#f2a541", "#f6bd72", "#e2912a"),
    "input": ("#5bb58a", "#7fc7a4", "#469f75"),
    "output": ("#d9658b", "#e38aa7", "#c64d75"),
    "weight": ("#9a8fc9", "#b3aada", "#8479b8"),
    "constant": ("#8d99a8", "#a9b3bf", "#748193"),
}
PAPER = "#ffffff"
PEAK, BOUND, LOAD = "#c0392b", "#1e8449", INK


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return json.loads(data)


def human(n):
    """Bytes in the largest unit that keeps three digits."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if n >= 1 << power:
            value = n / (1 << power)
            return f"{value:.0f} {unit}" if value == int(value) or value >= 100 else f"{value:.3g} {unit}"
    return f"{n} B"


def step(span, most):
    """The smallest round number of bytes of which at most `most` fit in `span`."""
    size = 1
    while span / size > most:
        size *= 2
    return size


class Function:
    """What is drawn of one function."""

    def __init__(self, program, plan, space):
        self.name = plan["name"]
        self.blocks, first = [], 0
        blocks = program.get("blocks") or [{"name": "", "instructions": program.get("instructions", [])}]
        for number, block in enumerate(blocks):
            count = len(block.get("instructions", []))
            loops = any(s <= number for s in block.get("succs", []))
            self.blocks.append((block.get("name", ""), first, first + count, loops))
            first += count
        self.length = max(first, 1)
        declared = {m["name"]: m for m in program.get("memlocs", [])}
        roots = [m for m in plan["memlocs"] if not declared.get(m["name"], {}).get("alias_of")]
        self.boxes, self.pins = [], []
        for m in roots:
            if m["address"] is None or m["space"] != space:
                continue
            usage = declared.get(m["name"], {}).get("usage", "internal")
            box = (int(m["address"]), int(m["bytes"] if m["pinned"] else m["aligned"]), usage, m["name"], m["segments"])
            (self.pins if m["pinned"] else self.boxes).append(box)
        self.boxes.sort(key=lambda b: (-b[1], b[0], b[3]))
        self.pairs = self.in_place(program, {b[3]: b for b in self.boxes})

    def in_place(self, program, boxes):
        """Bytes that a pair shares at its instruction: counted once in the load."""
        shared, at = {}, 0
        for block in program.get("blocks") or [program]:
            for ins in block.get("instructions", []):
                for used, made in ins.get("in_place", []):
                    u, d = boxes.get(used), boxes.get(made)
                    if u and d and u[0] == d[0]:
                        shared[at] = shared.get(at, 0) + d[1]
                at += 1
        return shared

    def load(self):
        """Bytes live at each instruction."""
        change = [0] * (self.length + 1)
        for _, size, _, _, segments in self.boxes:
            for first, last in segments:
                change[first] += size
                change[last + 1] -= size
        total, live = 0, []
        for at in range(self.length):
            total += change[at]
            live.append(total - self.pairs.get(at, 0))
        return live


class Svg:
    def __init__(self, label):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="{FONT}"'
            f' font-size="13" fill="{INK}" role="img" aria-label="{escape(label)}">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="{PAPER}"/>',
            '<defs><pattern id="pins" width="8" height="8" patternUnits="userSpaceOnUse"'
            ' patternTransform="rotate(45)"><rect width="8" height="8" fill="#efedf7"/>'
            '<rect width="3" height="8" fill="#d5cfea"/></pattern></defs>',
        ]

    def rect(self, x, y, w, h, fill, title="", extra=""):
        inner = f"<title>{escape(title)}</title>" if title else ""
        tail = f">{inner}</rect>" if inner else "/>"
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{fill}"{extra}{tail}')

    def line(self, x1, y1, x2, y2, color, width=1.0, dash=""):
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}"{dash}/>'
        )

    def path(self, d, color, width, extra=""):
        self.parts.append(f'<path d="{d}" fill="none" stroke="{color}" stroke-width="{width}"{extra}/>')

    def text(self, x, y, words, size=13, color=INK, anchor="start", weight=400, turn=0, halo=""):
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        ring = f' stroke="{halo}" stroke-width="4" paint-order="stroke" stroke-linejoin="round"' if halo else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" text-anchor="{anchor}"'
            f' font-weight="{weight}"{turned}{ring}>{escape(words)}</text>'
        )

    def finish(self):
        return "\n".join(self.parts + ["</svg>", ""])


def draw(program, plan, core, space):
    module = next(m for m in program["modules"] if m.get("core", 0) == core)
    planned = next(m for m in plan["modules"] if m["core"] == core)
    by_name = {f["name"]: f for f in module["functions"]}
    functions = [Function(by_name[f["name"]], f, space) for f in planned["functions"]]
    owner = None if space == "shared" else core
    figures = next((s for s in plan["spaces"] if s["space"] == space and s["core"] == owner), None)
    if figures is None or not any(f.boxes for f in functions):
        sys.exit(f"core {core} has nothing placed in {space}")
    floor, peak, bound = (int(figures[k]) for k in ("floor", "peak", "lower_bound"))

    ceiling = floor + max(1, round((peak - floor) * 1.04))
    bottom = HEIGHT - BOTTOM - BAND

    def y(address):
        return bottom - (address - floor) / (ceiling - floor) * (bottom - TOP)

    count = sum(len(f.boxes) for f in functions)
    waste = (peak - floor) / (bound - floor) - 1 if bound > floor else 0
    verdict = "equal to the lower bound: optimal" if peak == bound else f"{waste:.2%} above the lower bound"
    svg = Svg(f"Memory plan of {program.get('name', '')}")
    svg.text(24, 36, program.get("name", ""), 20, weight=700)
    subtitle = f"{count} locations placed in {human(peak - floor)} above the floor, {verdict}"
    svg.text(24, 58, subtitle, 14, FAINT)
    legend(svg, {b[2] for f in functions for b in f.boxes}, any(f.pins for f in functions) or floor > 0)

    # Address ticks count from the floor; the floor itself is named at the band.
    tick = step(ceiling - floor, 9)
    for i in range(int((ceiling - floor) // tick) + 1):
        at = y(floor + i * tick)
        svg.line(LEFT, at, WIDTH - RIGHT, at, GRID)
        svg.text(LEFT - 8, at + 4, "floor" if i == 0 else f"+{human(i * tick)}", 12, FAINT, "end")

    room = WIDTH - LEFT - RIGHT - BETWEEN * (len(functions) - 1)
    total = sum(f.length for f in functions)
    x = LEFT
    for function in functions:
        width = room * function.length / total
        panel(svg, function, x, width, y, bottom, floor)
        x += width + BETWEEN
    if floor > 0:
        svg.rect(LEFT, bottom, WIDTH - LEFT - RIGHT, BAND, "url(#pins)", "pinned by the host, never moved")
        words = f"pinned by the host: {human(floor)} below the floor, never moved"
        svg.text((LEFT + WIDTH - RIGHT) / 2, bottom + BAND / 2 + 5, words, 12, "#4b4370", "middle", halo=PAPER)
        svg.text(LEFT - 8, bottom + BAND + 4, "0", 12, FAINT, "end")
    svg.line(LEFT, bottom, WIDTH - RIGHT, bottom, INK, 1.5)
    levels(svg, y, peak, bound, floor)
    svg.text(WIDTH - RIGHT, HEIGHT - 16, "time: instructions in layout order \u2192", 12, FAINT, "end")
    return svg.finish()


def levels(svg, y, peak, bound, floor):
    """The peak and the lower bound, as lines with their figures."""
    right = WIDTH - RIGHT
    if peak == bound:
        svg.line(LEFT, y(peak), right, y(peak), PEAK, 1.8)
        svg.text(right, y(peak) - 6, f"peak = lower bound +{human(peak - floor)}", 12, PEAK, "end", 600, halo=PAPER)
        return
    svg.line(LEFT, y(peak), right, y(peak), PEAK, 1.8)
    svg.text(right, y(peak) - 6, f"peak +{human(peak - floor)}", 12, PEAK, "end", 600, halo=PAPER)
    svg.line(LEFT, y(bound), right, y(bound), BOUND, 1.8, "7 4")
    # Below its line, so that two close levels stay legible.
    svg.text(right, y(bound) + 16, f"lower bound +{human(bound - floor)}", 12, BOUND, "end", 600, halo=PAPER)


def panel(svg, function, x, width, y, bottom, floor):
    unit = width / function.length
    described = f"{function.length} instructions, {len(function.boxes)} locations"
    svg.parts.append(
        f'<text x="{x:.1f}" y="{TOP - 14}" font-size="14" font-weight="700">{escape(function.name)}'
        f'<tspan dx="10" font-size="12" font-weight="400" fill="{FAINT}">{described}</tspan></text>'
    )
    svg.rect(x, TOP, width, bottom - TOP, "#f7f8fa", extra=' fill-opacity="0.6"')
    labels = []
    for number, (address, size, usage, name, segments) in enumerate(function.boxes):
        fill = FILLS.get(usage, FILLS["internal"])[(segments[0][0] // 3 + number) % 3 if segments else 0]
        top, height = y(address + size), y(address) - y(address + size)
        for first, last in segments:
            w = (last + 1 - first) * unit
            title = f"{name}: {human(size)} at +{human(address - floor)}, live [{first}, {last}]"
            edge = ' stroke="#ffffff" stroke-width="0.7"' if height > 1.5 else ""
            svg.rect(x + first * unit, top, w, max(height, 0.6), fill, title, edge)
            labels.append((x + first * unit, top, w, height, name, fill))
    line = []
    for at, live in enumerate(function.load()):
        line.append(f"{'L' if line else 'M'}{x + at * unit:.1f} {y(floor + live):.1f}H{x + (at + 1) * unit:.1f}")
    svg.path("".join(line), "#ffffff", 3.2, ' stroke-opacity="0.75" stroke-linejoin="round"')
    svg.path("".join(line), LOAD, 1.3, ' stroke-linejoin="round"')
    for at in labels:  # Last, so that nothing runs through them.
        label(svg, *at)
    base = bottom + BAND
    for name, first, end, loops in function.blocks:
        if end == first:
            continue
        left, right = x + first * unit, x + end * unit
        svg.line(left, base + 3, left, base + 11, FAINT)
        svg.line(right, base + 3, right, base + 11, FAINT)
        svg.line(left, base + 7, right, base + 7, FAINT)
        words = f"{name} \u21ba" if loops else name
        if right - left > 7 * len(words):
            svg.text((left + right) / 2, base + 24, words, 12, INK if loops else FAINT, "middle", 600 if loops else 400)


def label(svg, x, y, width, height, name, ground):
    """The name, where the rectangle has room for it, lying or standing."""
    long = 6.1 * len(name) + 8
    if width >= long and height >= 13:
        svg.text(x + width / 2, y + height / 2 + 4, name, 11, "#ffffff", "middle", 600, halo=ground)
    elif height >= long and width >= 13:
        middle = x + width / 2 + 4
        svg.text(middle, y + height / 2, name, 11, "#ffffff", "middle", 600, turn=-90, halo=ground)


def legend(svg, usages, pins):
    x = WIDTH - RIGHT
    entries = [(FILLS[u][0], u, "box") for u in FILLS if u in usages]
    entries += [("url(#pins)", "pinned", "box")] if pins else []
    entries += [(LOAD, "sum of live bytes", "line")]
    for color, words, kind in reversed(entries):
        x -= 7.0 * len(words)
        svg.text(x, 36, words, 13)
        x -= 22
        if kind == "box":
            svg.rect(x, 25, 15, 13, color, extra=' rx="2"')
        else:
            svg.line(x, 31.5, x + 15, 31.5, color, 1.6)
        x -= 18


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("plan")
    parser.add_argument("out")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--space", default="local", choices=("local", "shared", "debug"))
    args = parser.parse_args()
    picture = draw(read(args.program), read(args.plan), args.core, args.space)
    if args.out == "-":
        sys.stdout.write(picture)
    else:
        with open(args.out, "w", encoding="utf-8", newline="\n") as file:
            file.write(picture)


if __name__ == "__main__":
    main()
