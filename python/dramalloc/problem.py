"""Buffers without a program, as solvers exchange them: sizes and half-open lives in, offsets out.

Columns may be lists or arrays; see `_columns` for what is read in place. numpy is not needed: the
offsets are a numpy array where it is installed, else an `array.array`.
"""

from __future__ import annotations

import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from ._call import call
from ._columns import Addresses, Column, column, pairs
from ._native import Given, ffi, record, sized
from .options import Cancel, PlanOptions, ProgressCallback, Watched, options_struct, regions_array
from .plan import PlanStatus

if TYPE_CHECKING:
    import numpy as np

    Offsets = np.ndarray[Any, np.dtype[np.uint64]]
else:
    Offsets = Any


@dataclass(frozen=True, eq=False)
class Solution:
    """Where the buffers of a raw problem lie, and how good that is."""

    offsets: Offsets
    """The first byte of each buffer: `uint64`."""
    peak: int
    """One past the highest byte placed, pins excluded; the floor if nothing was."""
    bound: int
    """No placement has a lower peak."""
    floor: int
    """Nothing was placed below this byte."""
    status: PlanStatus
    straddler_count: int
    """How many buffers straddle a page of the runtime."""
    runtime_pages: int
    private_bytes: int
    """Bytes of the copies that straddling costs."""
    kept: int
    """Hinted buffers that lie where the hint says, and their bytes."""
    kept_bytes: int
    moved: int
    moved_bytes: int


def solve(
    lower: Column,
    upper: Column,
    size: Column,
    *,
    alignment: Column | None = None,
    pins: Addresses | None = None,
    hints: Addresses | None = None,
    labels: Sequence[str] | None = None,
    starts: Column | None = None,
    cancel: Cancel | None = None,
    progress: ProgressCallback | None = None,
    **options: Unpack[PlanOptions],
) -> Solution:
    """Places buffers: buffer `i` has `size[i]` bytes and is live over `[lower[i], upper[i])`.

    `alignment`: what each offset is a multiple of. `pins`: the offsets that are given; None, in an
    array `NO_ADDRESS`, for the others. `hints`: where the buffers lay before, likewise. `labels`:
    how messages call them. `starts`: lives with gaps, as compressed rows: buffer `i` is live over
    the intervals from `starts[i]` to before `starts[i + 1]`, of which `lower` and `upper` have one
    entry each. `cancel`, `progress` and options: as in `Program.plan`.
    """
    given, problem, result = Given(), sized("dram_problem"), sized("dram_problem_result")
    problem.sizes, count = column(given, "size", size, "uint64_t")
    intervals, interval_count = pairs(given, lower, upper)
    problem.count, problem.intervals = count, ffi.cast("dram_interval *", intervals)
    if starts is None:
        if interval_count != count:
            raise ValueError(f"lower has {interval_count} entries, not {count}")
    else:
        problem.starts, _ = column(given, "starts", starts, "uint32_t", count + 1)
        if problem.starts[count] != interval_count:
            raise ValueError(f"starts ends at {problem.starts[count]}, not at {interval_count}")
    for name, field, values in (
        ("alignment", "alignments", alignment),
        ("pins", "pins", pins),
        ("hints", "hints", hints),
    ):
        if values is not None:
            setattr(problem, field, column(given, name, values, "uint64_t", count)[0])
    if labels is not None:
        if len(labels) != count:
            raise ValueError(f"labels has {len(labels)} entries, not {count}")
        problem.labels = given.texts(labels)
    regions = options.pop("regions", ())
    problem.regions, problem.region_count = regions_array(given, regions)
    offsets = _zeros(count)
    with Watched(cancel, progress) as control:
        into = ffi.from_buffer("uint64_t[]", offsets, require_writable=True)
        asked = options_struct(given, options)
        call("dram_problem_solve", problem, asked, control.raw, into, result)
    return record(Solution, result, offsets=offsets)


def _zeros(count: int) -> Any:
    try:
        import numpy
    except ImportError:
        return array.array("Q", bytes(8 * count))
    return numpy.zeros(count, dtype=numpy.uint64)
