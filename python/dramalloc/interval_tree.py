"""Which of many intervals overlap a given one? The library's static tree, by itself."""

from __future__ import annotations

from typing import Any

from ._call import Handle, call, counted
from ._columns import Column, column
from ._native import Given, ffi


class IntervalTree(Handle):
    """The closed intervals `[lo[i], hi[i]]`. Immutable; a query with `k` results of `n` intervals
    takes `O(log n + k)`."""

    def __init__(self, lo: Column, hi: Column) -> None:
        given = Given()
        first, count = column(given, "lo", lo, "uint32_t")
        last, _ = column(given, "hi", hi, "uint32_t", count)
        out = ffi.new("dram_interval_tree **")
        call("dram_interval_tree_new", first, last, count, out)
        super().__init__(out[0], "dram_interval_tree_free")
        self._count = count

    def __len__(self) -> int:
        return self._count

    def overlapping(self, i: int) -> list[int]:
        """The intervals that overlap interval `i`, ascending, without itself."""
        return self._query("dram_interval_tree_overlaps", i)

    def overlaps(self, lo: int, hi: int) -> list[int]:
        """The intervals that overlap `[lo, hi]`, both included, ascending."""
        return self._query("dram_interval_tree_overlaps_with_interval", lo, hi)

    def _query(self, name: str, *keys: Any) -> list[int]:
        return counted(name, "uint32_t", self._raw, *keys)
