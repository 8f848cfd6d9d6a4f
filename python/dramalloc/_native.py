"""The C library: which one is loaded, and how texts and structs go in and out.

The declarations are cffi tables that the build makes of `include/dramalloc.h` (`_library/ffi.py`
in the wheel); nothing is declared by hand. The library lies beside them, unless the environment
variable `DRAMALLOC_LIBRARY` names another one with the same major version of the ABI.
"""

from __future__ import annotations

import enum
import functools
import os
import types
import typing
from typing import Any, TypeVar

from . import _library

_Record = TypeVar("_Record")

ffi: Any = _library.ffi


def _load() -> Any:
    path = os.environ.get("DRAMALLOC_LIBRARY")
    library: Any = ffi.dlopen(path) if path else _library.lib
    wanted = library.DRAM_ABI_MAJOR
    if library.dram_get_api(wanted) == ffi.NULL:
        found = library.dram_abi_version()
        raise ImportError(
            f"{path or 'the library'} has version {found >> 16}.{found & 0xFFFF} of the ABI, "
            f"this package needs {wanted}"
        )
    return library


lib: Any = _load()

UNKNOWN: int = lib.DRAM_UNKNOWN
NO_ADDRESS: int = lib.DRAM_NO_ADDRESS


def version() -> str:
    """The version of the loaded library."""
    text: bytes = ffi.string(lib.dram_version())
    return text.decode()


def sized(name: str) -> Any:
    """A pointer to a new C struct of which only `struct_size` is said."""
    made = ffi.new(f"{name} *")
    made.struct_size = ffi.sizeof(made[0])
    return made


class Given:
    """What a call is given: C values, alive for as long as this object."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def keep(self, value: Any) -> Any:
        self._kept.append(value)
        return value

    def text(self, value: str) -> Any:
        """A `dram_str`."""
        if not isinstance(value, str):
            raise TypeError(f"a text is a str, not {type(value).__name__}")
        encoded = value.encode()
        made = self.keep(ffi.new("dram_str *"))
        made.data, made.len = self.keep(ffi.new("char[]", encoded)), len(encoded)
        return made[0]

    def texts(self, values: typing.Sequence[str]) -> Any:
        """An array of `dram_str`; null if there are none."""
        if not values:
            return ffi.NULL
        encoded = [value.encode() for value in values]
        first = self.keep(ffi.new("char[]", b"".join(encoded)))
        made, at = self.keep(ffi.new("dram_str[]", len(encoded))), 0
        for i, one in enumerate(encoded):
            made[i] = (first + at, len(one))
            at += len(one)
        return made

    def array(self, ctype: str, values: typing.Sequence[Any]) -> Any:
        """A pointer to the first of some values; null if there are none."""
        return self.keep(ffi.new(f"{ctype}[]", values)) if values else ffi.NULL


def string(value: Any) -> str:
    """Text that a call has handed out, copied."""
    return bytes(ffi.buffer(value.data, value.len)).decode() if value.len else ""


@functools.cache
def _readers(kind: Any, struct: Any) -> dict[str, typing.Callable[[Any], Any]]:
    """For each field of a dataclass that a C struct has: how its C value becomes Python's."""
    fields = dict(struct.fields)
    hints = typing.get_type_hints(kind)
    return {name: _reader(hints[name], fields[name].type) for name in hints if name in fields}


def _reader(hint: Any, ctype: Any) -> typing.Callable[[Any], Any]:
    if hint is str:
        return string
    if isinstance(hint, types.UnionType) and hint == int | None:
        nothing = UNKNOWN if ffi.sizeof(ctype) == 4 else NO_ADDRESS
        return lambda value: None if value == nothing else int(value)
    if hint is int or hint is bool or (isinstance(hint, type) and issubclass(hint, enum.Enum)):
        return typing.cast(typing.Callable[[Any], Any], hint)
    return lambda value: record(hint, value)


def record(kind: type[_Record], raw: Any, **known: Any) -> _Record:
    """A dataclass of a C struct's fields of the same names, as its annotations say.

    `int | None` is None where every bit is set, which is how the ABI says that a number is unknown,
    without a limit, or not there. `known`: fields that are not in the struct as they are here.
    """
    struct = ffi.typeof(raw)
    readers = _readers(typing.cast(typing.Hashable, kind), struct.item if struct.kind == "pointer" else struct)
    read = {name: reader(getattr(raw, name)) for name, reader in readers.items() if name not in known}
    return kind(**read, **known)
