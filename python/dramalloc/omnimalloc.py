"""dramalloc as an allocator of the package omnimalloc, so that its benchmark runs both alike.

Importing this module registers the allocators under the names `dramalloc` and `dramalloc_best`:

    import dramalloc.omnimalloc
    from omnimalloc.benchmark import run_benchmark

    run_benchmark(allocators=("dramalloc", "omni"), sources=("random",))

It needs omnimalloc; nothing else in this package does.
"""

from __future__ import annotations

from typing import ClassVar

from omnimalloc.allocators import BaseAllocator
from omnimalloc.primitives import Allocation

from .options import PlanOptions
from .problem import solve


def _scalar(time: int | tuple[int, ...]) -> int:
    if not isinstance(time, int):  # The base class has refused clocks of several threads before.
        raise TypeError(f"{time} is no time on one line")
    return time


class DramallocAllocator(BaseAllocator):
    """The strategy `fast`: near-linear, the same placement on every machine."""

    # Lives are intervals on one time line; offsets that come in are pins.
    supports_vector_time: ClassVar[bool] = False
    supports_pinned: ClassVar[bool] = True

    def _options(self) -> PlanOptions:
        return {"strategy": "fast", "floor": "holes"}

    def _allocate(self, allocations: tuple[Allocation, ...]) -> tuple[Allocation, ...]:
        pinned = any(allocation.is_allocated for allocation in allocations)
        solution = solve(
            [_scalar(allocation.start) for allocation in allocations],
            [_scalar(allocation.end) for allocation in allocations],
            [allocation.size for allocation in allocations],
            pins=[allocation.offset for allocation in allocations] if pinned else None,
            **self._options(),
        )
        offsets = solution.offsets.tolist()
        return tuple(
            allocation.with_offset(offset)
            for allocation, offset in zip(allocations, offsets, strict=True)
        )


class DramallocBestAllocator(DramallocAllocator):
    """The strategy `best`: searches on until it has a proof, or for `timeout` seconds."""

    def __init__(self, timeout: float | None = 3.0) -> None:
        if timeout is not None and timeout <= 0:
            raise ValueError(f"timeout is more than 0 seconds, or None, not {timeout}")
        self._timeout = timeout

    def _options(self) -> PlanOptions:
        options: PlanOptions = {"strategy": "best", "floor": "holes"}
        if self._timeout is not None:  # Time alone ends the search, as it does the others'.
            options["budget_ms"] = max(1, round(self._timeout * 1000))
            options["budget_steps"] = 2**64 - 1
        return options
