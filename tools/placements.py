"""Buffers in CSV files, what no placement can beat, and whether a placement is right.

Shared by the scripts that compare planners. Lives are half-open; standard library only.
"""

import bisect
import csv
import gzip
import io


class Unsupported(ValueError):
    """The file asks for something that not every planner in a comparison can do."""


class Buffers:
    """Columns of the rows that take bytes at some time."""

    def __init__(self, lower, upper, size):
        self.lower, self.upper, self.size = lower, upper, size

    def __len__(self):
        return len(self.size)


def read(path):
    """Rows of `id, lower, upper, size` (or `begin`; or `start, end`, which is inclusive), gzip or not.

    Alignments, pins and gaps are refused: the other planners would solve another problem.
    """
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    lines = (line for line in io.StringIO(data.decode()) if line.strip() and not line.startswith("#"))
    rows = csv.DictReader(lines)
    names = {name.strip().lower(): name for name in rows.fieldnames or ()}
    first = next((names[n] for n in ("lower", "begin", "start") if n in names), None)
    last = next((names[n] for n in ("upper", "end") if n in names), None)
    if not first or not last or "size" not in names:
        raise ValueError(f"{path}: the header needs lower, upper and size")
    closed = int("end" in names)
    buffers = Buffers([], [], [])
    for number, row in enumerate(rows, 1):
        for column, plain in (("alignment", ("", "1")), ("offset", ("",)), ("gaps", ("",))):
            if column in names and (row[names[column]] or "").strip() not in plain:
                raise Unsupported(f"{path}: row {number} has {column}")
        lower, upper, size = int(row[first]), int(row[last]) + closed, int(row[names["size"]])
        if lower < upper and size > 0:
            buffers.lower.append(lower)
            buffers.upper.append(upper)
            buffers.size.append(size)
    return buffers


def events(buffers):
    """(time, 1 for a birth, buffer), ascending: at one time, deaths come first."""
    births = [(t, 1, i) for i, t in enumerate(buffers.lower)]
    return sorted(births + [(t, 0, i) for i, t in enumerate(buffers.upper)])


def bound(buffers):
    """The greatest sum of live bytes: no peak is lower."""
    live = greatest = 0
    for _, born, i in events(buffers):
        live += buffers.size[i] if born else -buffers.size[i]
        greatest = max(greatest, live)
    return greatest


def peak(buffers, offsets):
    """One past the highest byte; a ValueError names two buffers that share bytes while both live."""
    if len(offsets) != len(buffers):
        raise ValueError(f"{len(offsets)} offsets for {len(buffers)} buffers")
    live, highest = [], 0  # (start, end, buffer), ascending and disjoint.
    for _, born, i in events(buffers):
        start, end = offsets[i], offsets[i] + buffers.size[i]
        at = bisect.bisect_left(live, (start, end, i))
        if not born:
            del live[at]
            continue
        if start < 0:
            raise ValueError(f"buffer {i} starts at {start}")
        for start_other, end_other, other in live[max(at - 1, 0) : at + 1]:
            if start_other < end and start < end_other:
                raise ValueError(f"buffers {other} and {i} share bytes")
        live.insert(at, (start, end, i))
        highest = max(highest, end)
    return highest
