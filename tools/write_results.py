#!/usr/bin/env python3
"""Write benches/RESULTS.md and the picture in docs from what the benchmarks wrote.

    tools/write_results.py [--check]

Reads benches/results/planning.jsonl (the Rust benchmark, `--json`) and comparison.jsonl
(compare_omnimalloc.py, `--json`). With --check nothing is written; exit status 1 says that the
committed files are not what these data give.
"""

import json
import pathlib
import sys

import draw_quality

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "benches" / "results"
PAGE = ROOT / "benches" / "RESULTS.md"
PICTURE = ROOT / "docs" / "quality_time.svg"

# Columns of the first table: (head, method).
PLANNING = [
    ("reference", "reference"), ("fast", "fast"), ("best", "best"),
    ("best fit by size", "best fit by size, neighbours"), ("best of six", "best of six, neighbours"),
    ("first fit by time", "first fit by time, all pairs"), ("free list", "free list over time"),
    ("exact search", "exact search, bisection"),
]
ENGINE, LISTED = "first fit by size, engine", "first fit by size, neighbours"
OURS = ("reference", "fast", "best")


def milliseconds(seconds):
    """Three digits, in ms."""
    value = seconds * 1e3
    return f"{value:.0f}" if value >= 99.5 else f"{value:.3g}"


def percent(peak, bound):
    value = (peak / bound - 1) * 100
    return "0" if peak == bound else f"{value:.2f}" if value >= 0.005 else "<0.01"


def times(ratio):
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}"


def table(heads, rows):
    """Markdown; the first column is text, the others are figures."""
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def by_instance(lines, key):
    """{instance: {planner or method: line}}, in the order of the lines."""
    found = {}
    for line in lines:
        found.setdefault(line["instance"], {})[line[key]] = line
    return found


def planning_table(lines):
    rows = []
    for name, found in by_instance(lines, "method").items():
        any_line = next(iter(found.values()))
        row = [name, f"{any_line['bound'] / 2**20:.1f}"]
        for _, method in PLANNING:
            line = found.get(method)
            row.append(f"{percent(line['peak'], line['bound'])} · {milliseconds(line['seconds'])}" if line else "-")
        yard = found.get("best fit by size, neighbours")
        row.append(times(yard["seconds"] / found["fast"]["seconds"]) if yard else "-")
        rows.append(row)
    return table(["instance", "bound, MiB", *(head for head, _ in PLANNING), "fast is faster than best fit, times"], rows)


def engine_table(lines):
    rows = []
    for name, found in by_instance(lines, "method").items():
        ours, listed = found[ENGINE], found.get(LISTED)
        pairs = f"{ours['pairs'] / 1e6:.1f}"
        row = [name, pairs, f"{ours['peak'] / 2**20:.3f}", milliseconds(ours["seconds"])]
        if listed:
            assert listed["peak"] == ours["peak"], name
            row += [milliseconds(listed["seconds"]), times(listed["seconds"] / ours["seconds"])]
        else:
            row += ["-", "-"]
        rows.append(row)
    heads = ["instance", "million pairs", "peak of both, MiB", "engine, ms", "neighbours listed, ms", "times faster"]
    return table(heads, rows)


def comparison_table(lines):
    planners = list(dict.fromkeys(line["planner"] for line in lines))
    rows = []
    for name, found in by_instance(lines, "planner").items():
        row = [name]
        for planner in planners:
            line = found.get(planner, {"failed": "not run"})
            if "failed" in line:
                row.append(line["failed"])
                continue
            proven = "*" if line["proven"] else ""
            row.append(f"{percent(line['peak'], line['bound'])}{proven} · {milliseconds(line['seconds'])}")
        rows.append(row)
    heads = ["instance", *(planner.replace(":", " ").replace("_", " ") for planner in planners)]
    return table(heads, rows)


def losses(planning, comparison):
    """Every place where something else ends lower, or is as low in less time; sentences."""
    found = []
    for name, lines in by_instance(planning, "method").items():
        ours = min((lines[m] for m in OURS), key=lambda line: (line["peak"], line["seconds"]))
        for _, method in PLANNING[len(OURS):]:
            line = lines.get(method)
            if line and beats(line, ours):
                found.append(f"{name}: {method} {how(line, ours, ours['method'])}")
    for name, lines in by_instance(comparison, "planner").items():
        done = [line for line in lines.values() if "peak" in line]
        ours = min((line for line in done if line["planner"].startswith("dramalloc")),
                   key=lambda line: (line["peak"], line["seconds"]))
        for line in done:
            if not line["planner"].startswith("dramalloc") and beats(line, ours):
                found.append(f"{name}: {line['planner'].replace(':', ' ')} {how(line, ours, ours['planner'])}")
    return found


def faster(lines, key, is_ours):
    """What is done before any of our strategies, whatever its peak; a sentence per planner."""
    sooner, all_of = {}, {}
    for found in by_instance(lines, key).values():
        done = [line for line in found.values() if line.get("peak") is not None]
        least = min(line["seconds"] for line in done if is_ours(line[key]))
        for line in done:
            if not is_ours(line[key]):
                all_of[line[key]] = all_of.get(line[key], 0) + 1
                sooner[line[key]] = sooner.get(line[key], 0) + (line["seconds"] < least)
    return [f"{name.replace(':', ' ')} is done before any of our strategies on {count} of {all_of[name]} instances"
            for name, count in sooner.items() if count and name not in (ENGINE, LISTED)]


def beats(line, ours):
    """Lower, or as low at least a tenth sooner: less is noise."""
    return line["peak"] < ours["peak"] or (line["peak"] == ours["peak"] and line["seconds"] < 0.9 * ours["seconds"])


def how(line, ours, name):
    name = name.replace(":", " ")
    if line["peak"] < ours["peak"]:
        return f"ends {(1 - line['peak'] / ours['peak']) * 100:.2f} % below {name}"
    return f"reaches the same peak {times(ours['seconds'] / line['seconds'])} times faster than {name}"


def page(planning, header, comparison):
    """The text of RESULTS.md."""
    search = f"{header['budget']:g} s"
    lines = [
        "# Results", "",
        "Written by `../run-benchmarks`; do not edit. How to read and repeat them, and what they do not say, is in",
        "[README.md](README.md).", "",
        f"Machine: {header['machine']}, shared with other work while this ran: compare columns, not machines.", "",
        "Each cell is *waste in % of the lower bound · milliseconds of processor time*; 0 means that the lower bound is reached.", "",
        "## Strategies beside baselines", "",
        "Strategies (`best` with a budget of steps), baselines of our own, all in one run.", "",
        *planning_table(planning), "",
        "## The same order, with and without listing neighbours", "",
        "First fit by decreasing size. The offsets are compared byte by byte: only the method differs.", "",
        *engine_table(planning), "",
        "## Beside omnimalloc", "",
        f"omnimalloc {header['omnimalloc']} from PyPI; both on one thread, {search} of processor time for each search",
        "(`best`, `supermalloc`, `tabu_search`). A star: proven to be the least.", "",
        *comparison_table(comparison), "",
        "![Waste of each planner against its time](../docs/quality_time.svg)", "",
        "## Where dramalloc loses", "",
        "Everything in the tables above that ends lower than the best of our strategies, or as low in less time.", "",
    ]
    lines += [f"* {sentence}" for sentence in losses(planning, comparison)] or ["Nowhere in these tables."]
    sentences = faster(planning, "method", OURS.__contains__)
    sentences += faster(comparison, "planner", lambda name: name.startswith("dramalloc"))
    lines += ["", "In time alone, whatever the peak:", "", *(f"* {sentence}" for sentence in sentences)]
    return "\n".join([*lines, ""])


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    with open(DATA / "planning.jsonl", encoding="utf-8") as file:
        planning = [json.loads(line) for line in file]
    header, comparison = draw_quality.read(DATA / "comparison.jsonl")
    stale = []
    for path, content in ((PAGE, page(planning, header, comparison)), (PICTURE, draw_quality.draw(header, comparison))):
        if not check:
            path.write_text(content, encoding="utf-8", newline="\n")
        elif not path.exists() or path.read_text(encoding="utf-8") != content:
            stale.append(str(path.relative_to(ROOT)))
    if stale:
        sys.exit(f"stale: {', '.join(stale)}; run tools/write_results.py")


if __name__ == "__main__":
    main()
