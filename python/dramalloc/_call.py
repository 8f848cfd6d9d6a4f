"""How a call is made: failures raised, handles freed, what callbacks raise carried through C.

An exception must not unwind through the library. A callback's is kept, the run is cancelled, later
callbacks of the call do nothing, and when the call has returned the exception goes on from there.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from . import errors
from ._native import ffi, lib

T = TypeVar("T")


def call(name: str, *arguments: Any) -> None:
    """Calls a function of the library, whose last parameter is the error; raises what it says."""
    try:
        function = getattr(lib, name)
    except AttributeError:
        raise errors.Unimplemented(f"the loaded library has no {name}") from None
    error = ffi.new("dram_error **")
    status = function(*arguments, error)
    if status != errors.Status.OK:
        raise errors.take(status, error[0])


def counted(name: str, ctype: str, *arguments: Any) -> list[Any]:
    """What a call stores that fills an array as far as it goes and says how many there are."""
    room = 16
    while True:
        values, count = ffi.new(f"{ctype}[]", room), ffi.new("size_t *")
        call(name, *arguments, values, room, count)
        if count[0] <= room:
            return list(values[0 : count[0]])
        room = count[0]


class Handle:
    """An object of the library, freed once: by `close`, by the end of a `with` block, or with the
    last reference. A closed one is refused by every call."""

    def __init__(self, raw: Any, free: str) -> None:
        self._raw = raw
        self._finalizer = weakref.finalize(self, getattr(lib, free), raw)

    def close(self) -> None:
        """Frees it now; closing again does nothing."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Callbacks:
    """Callbacks of one call. What one raises is raised at the end of the `with` block, in place of
    the failure that it has led to."""

    def __init__(self, stop: Callable[[], object] = lambda: None) -> None:
        self._stop = stop
        self._raised: BaseException | None = None
        self._kept: list[Any] = []

    def made(self, ctype: str, body: Callable[..., T], otherwise: T) -> Any:
        """A function for C that runs `body`, or gives `otherwise` where that has raised."""

        def guarded(*arguments: Any) -> T:
            if self._raised is not None:
                return otherwise
            try:
                return body(*arguments)
            except BaseException as raised:
                self._raised = raised
                self._stop()
                return otherwise

        function = ffi.callback(ctype, guarded)
        self._kept.append(function)
        return function

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised from None


def written(name: str, *arguments: Any) -> str:
    """The text that a call hands to its write callback; `arguments` stand before it."""
    pieces: list[bytes] = []

    def take(user: Any, data: Any, length: int) -> int:
        pieces.append(bytes(ffi.buffer(data, length)))
        return 0

    with Callbacks() as callbacks:
        call(name, *arguments, callbacks.made("dram_write_fn", take, 1), ffi.NULL)
    return b"".join(pieces).decode()


JsonSource = str | bytes | bytearray | memoryview | os.PathLike[str] | Mapping[str, Any]
"""JSON: its text, the path of a file with it (gzip or not), or the parsed value."""


def json_bytes(source: JsonSource) -> bytes:
    """The text of a JSON source."""
    if isinstance(source, str):
        return source.encode()
    if isinstance(source, Mapping):
        import json

        return json.dumps(source).encode()
    if isinstance(source, os.PathLike):
        with open(source, "rb") as file:
            data = file.read()
    else:
        data = bytes(source)
    if data[:2] == b"\x1f\x8b":
        import gzip

        data = gzip.decompress(data)
    return data
