"""Columns of integers for a call: read in place where they are what C wants, else converted.

A column is a sequence of integers or anything with the buffer protocol: numpy arrays, `array.array`,
`memoryview`. One whose elements have C's type and lie side by side is not copied. Other integers are
converted if they fit; what is no integer is a TypeError, what does not fit a ValueError, and both
name the column. numpy is used if it is there and needed for nothing.
"""

from __future__ import annotations

import array
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ._native import NO_ADDRESS, Given, ffi

if TYPE_CHECKING:
    import numpy as np

    Column = Sequence[int] | array.array[int] | memoryview | np.ndarray[Any, np.dtype[Any]]
    Addresses = Sequence[int | None] | Column
else:
    Column = Addresses = Any

# C's types, as `array` and the buffer protocol call them.
_CODES = {"uint32_t": "I", "int64_t": "q", "uint64_t": "Q"}
_SIGNED, _UNSIGNED = "bhilqn", "BHILQN"
_NATIVE_ORDER = "@=<" if sys.byteorder == "little" else "@=>"


def column(
    given: Given, name: str, values: Addresses, ctype: str, count: int | None = None
) -> tuple[Any, int]:
    """A pointer to a column's elements, and how many there are; `count`: how many there must be.

    None in a sequence stands for `NO_ADDRESS`.
    """
    view = _view(name, values)
    if view is None or not _matches(view, ctype):
        # A view's own list does not know foreign byte orders.
        tolist = getattr(values, "tolist", None)
        numbers = values if tolist is None else tolist()
        view = memoryview(_converted(name, numbers, ctype))
    if count is not None and len(view) != count:
        raise ValueError(f"{name} has {len(view)} entries, not {count}")
    return given.keep(ffi.from_buffer(f"{ctype}[]", view)), len(view)


def pairs(given: Given, lower: Column, upper: Column) -> tuple[Any, int]:
    """Two columns of int64 as C's array of pairs; in place if they are the columns of one."""
    base: Any = getattr(lower, "base", None)
    view = memoryview(base) if _is_common(base, upper) else None
    if (
        view is not None and view.ndim == 2 and view.shape is not None and view.shape[1] == 2
        and view.c_contiguous and _is_type(view, "int64_t") and _starts(lower, upper, base)
    ):  # fmt: skip
        return given.keep(ffi.from_buffer("dram_interval[]", view)), view.shape[0]
    first = Given()
    low, count = column(first, "lower", lower, "int64_t")
    high, _ = column(first, "upper", upper, "int64_t", count)
    both = array.array("q", bytes(16 * count))
    both[0::2] = array.array("q", bytes(ffi.buffer(low, 8 * count)))
    both[1::2] = array.array("q", bytes(ffi.buffer(high, 8 * count)))
    return given.keep(ffi.from_buffer("dram_interval[]", both)), count


def _is_common(base: Any, upper: Any) -> bool:
    return hasattr(base, "__array_interface__") and base is getattr(upper, "base", None)


def _starts(lower: Any, upper: Any, base: Any) -> bool:
    """Whether two numpy arrays are the first and the second column of a third."""
    whole, one, other = (x.__array_interface__ for x in (base, lower, upper))
    start = whole["data"][0]
    return bool(
        one["data"][0] == start and other["data"][0] == start + 8
        and one["shape"] == other["shape"] == whole["shape"][:1]
        and one["strides"] == other["strides"] == (16,)
    )  # fmt: skip


def _view(name: str, values: Any) -> memoryview | None:
    try:
        view = memoryview(values)
    except TypeError:
        return None
    if view.ndim != 1:
        raise ValueError(f"{name} has {view.ndim} dimensions, not 1")
    code = view.format.lstrip("@=<>!")
    if code not in tuple(_SIGNED + _UNSIGNED):
        raise TypeError(f"{name} is no column of integers: its elements are {view.format!r}")
    return view


def _is_type(view: memoryview, ctype: str) -> bool:
    order, code = ("@", view.format) if len(view.format) == 1 else tuple(view.format)
    signs = _SIGNED if _CODES[ctype].islower() else _UNSIGNED
    return order in _NATIVE_ORDER and code in signs and view.itemsize == ffi.sizeof(ctype)


def _matches(view: memoryview, ctype: str) -> bool:
    return view.c_contiguous and _is_type(view, ctype)


def _converted(name: str, values: Iterable[int | None], ctype: str) -> array.array[int]:
    try:
        return array.array(
            _CODES[ctype], [NO_ADDRESS if value is None else value for value in values]
        )
    except TypeError as error:
        raise TypeError(f"{name} is no column of integers: {error}") from None
    except OverflowError:
        raise ValueError(f"{name} has a number that is no {ctype}") from None
