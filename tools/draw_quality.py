#!/usr/bin/env python3
"""Draw quality against time, one panel per instance, from what compare_omnimalloc.py writes.

    draw_quality.py COMPARISON.jsonl OUT.svg

Time runs to the right, logarithmic; waste, the peak above the lower bound in percent, runs up. The
best corner is the lower left. The line follows what strategy `best` had found by then. Standard
library only; the same picture on every machine; it turns dark where the viewer is.
"""

import json
import math
import sys
from xml.sax.saxutils import escape

COLUMNS = 2  # The sizes of a workload side by side.
PANEL_WIDTH, PANEL_HEIGHT = 605, 186
LEFT, TOP, GAP_X, GAP_Y, RIGHT, BOTTOM = 64, 118, 22, 44, 20, 62
WASTES = (0, 0.1, 1, 10, 100)
FONT = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"

# An edge of paper keeps apart what lies on top of each other: after the colours, so that it wins.
STYLE = """
.paper{fill:#fff}.panel{fill:#f7f8fa}.ink{fill:#1f2733}.faint{fill:#5b6575}.grid{stroke:#dfe3e8}
.ours{fill:#1f6fc4;stroke:#1f6fc4}.theirs{fill:#d9720c;stroke:#d9720c}.edge{stroke:#fff}
@media (prefers-color-scheme:dark){
.paper{fill:#12161d}.panel{fill:#1a202a}.ink{fill:#e7ebf1}.faint{fill:#9fabbd}.grid{stroke:#313a48}
.ours{fill:#62aefc;stroke:#62aefc}.theirs{fill:#f7a04a;stroke:#f7a04a}.edge{stroke:#12161d}}
"""

# Planner -> shape; the colour tells whose it is. The others share a plus.
SHAPES = {
    "dramalloc:reference": "triangle", "dramalloc:fast": "circle", "dramalloc:best": "square",
    "omnimalloc:greedy_by_size": "triangle", "omnimalloc:omni": "circle",
    "omnimalloc:supermalloc": "square", "omnimalloc:tabu_search": "diamond",
}


def waste(peak, bound):
    """Percent above the bound."""
    return (peak / bound - 1) * 100


def height(percent):
    """Where a waste lies: linear near 0, logarithmic above; 0 at 0."""
    return math.log10(1 + percent / 0.1)


def label_of(seconds):
    """A power of ten of seconds, in a unit that leaves no zeros."""
    for unit, power in (("s", 0), ("ms", -3), ("\u00b5s", -6)):
        if seconds >= 0.999 * 10**power:
            return f"{seconds / 10**power:.0f} {unit}"
    return f"{seconds / 1e-6:g} \u00b5s"


class Scale:
    """Seconds and percent to places in a panel; the same for all panels."""

    def __init__(self, lines):
        done = [line for line in lines if "peak" in line]
        seconds = [line["seconds"] for line in done]
        self.first = math.floor(math.log10(min(seconds)) - 0.05)
        self.last = math.ceil(math.log10(max(seconds)) + 0.05)
        self.top = height(max(waste(line["peak"], line["bound"]) for line in done) * 1.3 + 0.1)

    def x(self, seconds):
        at = (math.log10(seconds) - self.first) / (self.last - self.first)
        return 12 + min(max(at, 0), 1) * (PANEL_WIDTH - 24)

    def y(self, percent):
        return PANEL_HEIGHT - 12 - min(height(percent) / self.top, 1) * (PANEL_HEIGHT - 24)


def mark(shape, x, y, style):
    """A symbol around a point."""
    draw = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5"',
        "square": f'<rect x="{x - 4.6:.1f}" y="{y - 4.6:.1f}" width="9.2" height="9.2"',
        "triangle": f'<path d="M{x:.1f} {y - 6:.1f}l5.6 9.8h-11.2z"',
        "diamond": f'<path d="M{x:.1f} {y - 6.4:.1f}l6.4 6.4l-6.4 6.4l-6.4 -6.4z"',
        "plus": f'<path d="M{x - 1.5:.1f} {y - 5.5:.1f}h3v4h4v3h-4v4h-3v-4h-4v-3h4z"',
    }[shape]
    return f'{draw} class="{style} edge" stroke-width="1"'


def whose(planner):
    return "ours" if planner.startswith("dramalloc:") else "theirs"


def text(x, y, words, size=12, style="ink", anchor="start", weight=400, turn=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" class="{style}" text-anchor="{anchor}"'
            f' font-weight="{weight}"{turn}>{escape(words)}</text>')


def panel(name, lines, scale, ticks_x, ticks_y):
    """One instance, from its own upper left corner."""
    out = [f'<rect width="{PANEL_WIDTH}" height="{PANEL_HEIGHT}" rx="4" class="panel"/>']
    for power in range(scale.first, scale.last + 1):
        x = scale.x(10.0**power)
        out.append(f'<line x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{PANEL_HEIGHT}" class="grid"/>')
        if ticks_x and (power - scale.first) % 2 == 0:
            side = "start" if power == scale.first else "end" if power == scale.last else "middle"
            out.append(text(x, PANEL_HEIGHT + 17, label_of(10.0**power), 11, "faint", side))
    for percent in WASTES:
        if height(percent) <= scale.top:
            y = scale.y(percent)
            out.append(f'<line x1="0" y1="{y:.1f}" x2="{PANEL_WIDTH}" y2="{y:.1f}" class="grid"/>')
            if ticks_y:
                out.append(text(-8, y + 4, f"{percent:g} %", 11, "faint", "end"))
    count = f"{lines[0]['buffers']:,} buffers".replace(",", "\u2009")
    out.append(text(2, -7, name, 13, weight=700))
    out.append(text(PANEL_WIDTH - 2, -7, count, 11, "faint", "end"))
    failed = []
    # Ours last, so that they lie on top where two coincide.
    for line in sorted(lines, key=lambda line: whose(line["planner"]) == "ours"):
        planner = line["planner"]
        if "peak" not in line:
            failed.append(f"{planner.split(':')[1]}: {line['failed']}")
            continue
        x, y = scale.x(line["seconds"]), scale.y(waste(line["peak"], line["bound"]))
        steps = [(s, p) for s, p in line.get("better", []) if s > 0]
        if planner == "dramalloc:best" and steps:
            d = f"M{scale.x(steps[0][0]):.1f} {scale.y(waste(steps[0][1], line['bound'])):.1f}"
            for seconds, peak in steps[1:]:
                d += f"H{scale.x(seconds):.1f}V{scale.y(waste(peak, line['bound'])):.1f}"
            out.append(f'<path d="{d}H{x:.1f}" fill="none" class="ours" style="fill:none" stroke-width="1.6"/>')
        title = f"{planner}: {waste(line['peak'], line['bound']):.3f} % above the bound in {line['seconds']:.4g} s"
        shape = mark(SHAPES.get(planner, "plus"), x, y, whose(planner))
        out.append(f"{shape}><title>{escape(title)}</title></{shape.split(' ')[0][1:]}>")
    for number, words in enumerate(failed):
        out.append(text(PANEL_WIDTH - 8, 18 + 15 * number, words, 11, "faint", "end"))
    return out


def draw(header, lines):
    """The whole picture."""
    names = list(dict.fromkeys(line["instance"] for line in lines))
    scale = Scale(lines)
    rows = math.ceil(len(names) / COLUMNS)
    width = LEFT + COLUMNS * PANEL_WIDTH + (COLUMNS - 1) * GAP_X + RIGHT
    total = TOP + rows * PANEL_HEIGHT + (rows - 1) * GAP_Y + BOTTOM
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" font-family="{FONT}" role="img"'
           ' aria-label="Waste of planners against their time">',
           f"<style>{STYLE}</style>", f'<rect width="{width}" height="{total}" rx="10" class="paper"/>',
           text(LEFT, 36, "Quality against time: the lower left corner is best", 19, weight=700)]
    about = (f"waste = peak above the greatest sum of live bytes; one thread each; searches have {header['budget']:g} s;"
             f" omnimalloc {header['omnimalloc']}; {header['machine']}")
    out.append(text(LEFT, 58, about, 13, "faint"))
    x = LEFT + 6
    for planner in dict.fromkeys(line["planner"] for line in lines):
        words = planner.replace(":", " ").replace("_", " ")
        out.append(mark(SHAPES.get(planner, "plus"), x, 78, whose(planner)) + "/>")
        out.append(text(x + 12, 82, words, 12))
        x += 30 + 6.9 * len(words)
    for number, name in enumerate(names):
        row, column = divmod(number, COLUMNS)
        at_x = LEFT + column * (PANEL_WIDTH + GAP_X)
        at_y = TOP + row * (PANEL_HEIGHT + GAP_Y)
        last = number + COLUMNS >= len(names)
        mine = [line for line in lines if line["instance"] == name]
        out.append(f'<g transform="translate({at_x} {at_y})">')
        out.extend(panel(name, mine, scale, last, column == 0))
        out.append("</g>")
    middle = TOP + (total - TOP - BOTTOM) / 2
    out.append(text(18, middle, "waste, % of the lower bound", 12, "faint", "middle",
                    turn=f' transform="rotate(-90 18 {middle:.1f})"'))
    out.append(text(width - RIGHT, total - 16, "processor time of the call (logarithmic) \u2192", 12, "faint", "end"))
    return "\n".join(out + ["</svg>", ""])


def read(path):
    """The header and the runs."""
    with open(path, encoding="utf-8") as file:
        header, *lines = (json.loads(line) for line in file)
    return header, lines


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    picture = draw(*read(sys.argv[1]))
    with open(sys.argv[2], "w", encoding="utf-8", newline="\n") as file:
        file.write(picture)


if __name__ == "__main__":
    main()
