"""Raw problems and the interval tree: columns of every kind in, offsets out."""

from __future__ import annotations

import array
import pathlib
import random
import subprocess
import sys
from typing import Any

import pytest

import dramalloc
from dramalloc import _columns
from dramalloc._native import Given, ffi

numpy = pytest.importorskip("numpy", reason="numpy is not installed")

ROWS = [(0, 2, 64), (1, 3, 32), (2, 4, 64), (3, 5, 16)]
LOWER, UPPER, SIZE = (list(column) for column in zip(*ROWS, strict=True))


def shares_bytes(solution: dramalloc.Solution, rows: list[tuple[int, int, int]]) -> bool:
    """Whether two buffers that live at a time share bytes."""
    placed = [(*row, int(at)) for row, at in zip(rows, solution.offsets, strict=True)]
    return any(
        a[0] < b[1] and b[0] < a[1] and a[3] < b[3] + b[2] and b[3] < a[3] + a[2]
        for i, a in enumerate(placed)
        for b in placed[:i]
    )


@pytest.mark.parametrize(
    "kind",
    [
        list,
        tuple,
        lambda x: array.array("q", x),
        lambda x: memoryview(array.array("i", x)),
        lambda x: numpy.array(x),
        lambda x: numpy.array(x, dtype=numpy.uint8),
        lambda x: numpy.array(x, dtype=">i8"),
        lambda x: numpy.array(x, dtype=">u8"),
        lambda x: numpy.array(x, dtype=numpy.uint64),
        lambda x: numpy.repeat(numpy.array(x), 2)[::2],
    ],
)
def test_columns_of_every_kind_give_the_same(kind: Any) -> None:
    solution = dramalloc.solve(kind(LOWER), kind(UPPER), kind(SIZE))
    assert solution.peak == solution.bound == 96
    assert solution.status is dramalloc.PlanStatus.OPTIMAL
    assert solution.offsets.dtype == numpy.uint64
    assert solution.offsets.tolist() == dramalloc.solve(LOWER, UPPER, SIZE).offsets.tolist()
    assert not shares_bytes(solution, ROWS)


@pytest.mark.parametrize("strategy", ["reference", "fast", "best"])
def test_random_problems_are_placed_without_overlap(strategy: Any) -> None:
    draw = random.Random(7)
    for count in (0, 1, 2, 30, 200):
        starts = [draw.randrange(50) for _ in range(count)]
        rows = [(at, at + draw.randrange(1, 9), draw.randrange(1, 100)) for at in starts]
        lower, upper, size = ([row[i] for row in rows] for i in range(3))
        solution = dramalloc.solve(lower, upper, size, strategy=strategy, budget_steps=2000)
        assert not shares_bytes(solution, rows)
        assert solution.bound <= solution.peak
        ends = [int(at) + row[2] for at, row in zip(solution.offsets, rows, strict=True)]
        assert solution.peak == max(ends, default=0)


def test_columns_that_are_what_c_wants_are_read_in_place() -> None:
    sizes = numpy.array(SIZE, dtype=numpy.uint64)
    pointer, _ = _columns.column(Given(), "size", sizes, "uint64_t")
    assert int(ffi.cast("uintptr_t", pointer)) == sizes.ctypes.data
    lives = numpy.array([LOWER, UPPER], dtype=numpy.int64).T.copy()
    pointer, count = _columns.pairs(Given(), lives[:, 0], lives[:, 1])
    assert (int(ffi.cast("uintptr_t", pointer)), count) == (lives.ctypes.data, 4)
    assert dramalloc.solve(lives[:, 0], lives[:, 1], sizes).peak == 96


def test_columns_of_one_array_that_are_no_pairs_are_not_taken_for_them() -> None:
    lives = numpy.array([UPPER, LOWER], dtype=numpy.int64).T.copy()
    three = numpy.array([LOWER, UPPER, SIZE], dtype=numpy.int64).T.copy()
    two = numpy.array([LOWER, UPPER], dtype=numpy.int64)
    doubled = numpy.array([LOWER * 2, UPPER * 2], dtype=numpy.int64).T.copy()
    base = two.T.copy()
    rows = [numpy.ndarray(4, numpy.int64, base, offset=at, strides=(8,)) for at in (0, 8)]
    for first, second in ((lives[:, 0], lives[:, 0]), rows):
        given = Given()
        pointer, count = _columns.pairs(given, first, second)
        found = [(pointer[i].lower, pointer[i].upper) for i in range(count)]
        assert found == list(zip(first.tolist(), second.tolist(), strict=True))
    for lower, upper in (
        (lives[:, 1], lives[:, 0]),
        (three[:, 0], three[:, 1]),
        (two[0], two[1]),
        (doubled[:4, 0], doubled[:4, 1]),
    ):
        given = Given()
        pointer, count = _columns.pairs(given, lower, upper)
        assert [(pointer[i].lower, pointer[i].upper) for i in range(count)] == [
            (row[0], row[1]) for row in ROWS
        ]


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"size": [64, 32]}, ValueError, "lower has 4 entries, not 2"),
        ({"upper": [2, 3]}, ValueError, "upper has 2 entries, not 4"),
        ({"size": [1.0, 2.0, 3.0, 4.0]}, TypeError, "size is no column of integers"),
        ({"size": numpy.array([1.0] * 4)}, TypeError, "size is no column of integers"),
        ({"size": numpy.array([True] * 4)}, TypeError, "size is no column of integers"),
        ({"size": [64, 32, 64, -1]}, ValueError, "size has a number that is no uint64_t"),
        ({"size": numpy.array([64, 32, 64, -1])}, ValueError, "size has a number"),
        ({"lower": [2**63, 0, 0, 0]}, ValueError, "lower has a number that is no int64_t"),
        ({"size": numpy.ones((4, 1), dtype=numpy.int64)}, ValueError, "size has 2 dimensions"),
        ({"size": 64}, TypeError, "size is no column of integers"),
        ({"size": "abcd"}, TypeError, "size is no column of integers"),
        ({"alignment": [1]}, ValueError, "alignment has 1 entries, not 4"),
        ({"pins": [None]}, ValueError, "pins has 1 entries, not 4"),
        ({"labels": ["a"]}, ValueError, "labels has 1 entries, not 4"),
        ({"starts": [0, 1]}, ValueError, "starts has 2 entries, not 5"),
        ({"starts": [0, 1, 2, 3, 3]}, ValueError, "starts ends at 3, not at 4"),
        ({"lower": [3, 1, 2, 3]}, dramalloc.InvalidArgument, "#0: its life ends at 2"),
        ({"strategy": "slow"}, ValueError, "Strategy"),
        ({"speed": 1}, TypeError, "there is no option 'speed'"),
    ],
)
def test_wrong_columns_are_refused_by_name(
    change: Any, error: type[Exception], says: str
) -> None:
    problem: Any = {"lower": LOWER, "upper": UPPER, "size": SIZE, **change}
    with pytest.raises(error, match=says):
        dramalloc.solve(**problem)


def test_alignments_pins_hints_gaps_and_windows() -> None:
    aligned = dramalloc.solve(LOWER, UPPER, SIZE, alignment=[1, 128, 1, 1])
    assert aligned.offsets[1] % 128 == 0
    pinned = dramalloc.solve(LOWER, UPPER, SIZE, pins=[None, 40, None, None], floor="holes")
    assert pinned.offsets[1] == 40
    array_pins = numpy.full(4, dramalloc.NO_ADDRESS, dtype=numpy.uint64)
    array_pins[1] = 40
    again = dramalloc.solve(LOWER, UPPER, SIZE, pins=array_pins, floor="holes")
    assert again.offsets.tolist() == pinned.offsets.tolist()
    hinted = dramalloc.solve(LOWER, UPPER, SIZE, hints=aligned.offsets.tolist(), keep=2**40)
    assert hinted.kept + hinted.moved == 4
    # The first buffer rests while the second lives, so both fit into the bytes of one.
    gaps = dramalloc.solve([0, 2, 1], [1, 3, 2], [64, 64], starts=[0, 2, 3])
    assert gaps.peak == 64
    window = dramalloc.solve(LOWER, UPPER, SIZE, regions=[dramalloc.Region(1000, 4096)])
    assert min(window.offsets) == 1000


def test_too_little_room_says_what_held_it() -> None:
    labels = ["a", "b", "c", "d"]
    with pytest.raises(dramalloc.ResourceExhausted) as caught:
        dramalloc.solve(LOWER, UPPER, SIZE, labels=labels, capacity=80)
    no_room = caught.value.no_room
    assert no_room is not None
    assert no_room.capacity == 80
    assert no_room.proved
    assert {holder.location for holder in no_room.conflict} <= set(labels)
    assert sum(holder.bytes for holder in no_room.conflict) - 80 == no_room.conflict_deficit


def test_without_numpy_offsets_are_an_array() -> None:
    script = """
import sys
sys.modules["numpy"] = None  # As if it were not installed.
import array, dramalloc
solution = dramalloc.solve([0, 1], [2, 3], [64, 32])
assert isinstance(solution.offsets, array.array), type(solution.offsets)
assert sorted(solution.offsets) == [0, 64], solution.offsets
"""
    tested = pathlib.Path(dramalloc.__file__).parents[1]  # Where -c looks for modules first.
    subprocess.run([sys.executable, "-c", script], cwd=tested, check=True)


def test_the_interval_tree_agrees_with_looking_at_all() -> None:
    draw = random.Random(11)
    lo = [draw.randrange(100) for _ in range(80)]
    hi = [first + draw.randrange(20) for first in lo]
    tree = dramalloc.IntervalTree(numpy.array(lo, dtype=numpy.uint32), hi)
    assert len(tree) == 80
    for first in range(0, 120, 7):
        last = first + 5
        expected = [i for i in range(80) if lo[i] <= last and first <= hi[i]]
        assert tree.overlaps(first, last) == expected
    for i in range(80):
        expected = [j for j in range(80) if j != i and lo[j] <= hi[i] and lo[i] <= hi[j]]
        assert tree.overlapping(i) == expected
    with pytest.raises(IndexError):
        tree.overlapping(80)
    with pytest.raises(ValueError, match="hi has 1 entries"):
        dramalloc.IntervalTree([1, 2], [3])
    with pytest.raises(dramalloc.InvalidArgument):
        dramalloc.IntervalTree([2], [1])
    tree.close()
    with pytest.raises(dramalloc.InvalidArgument):
        tree.overlaps(0, 1)
