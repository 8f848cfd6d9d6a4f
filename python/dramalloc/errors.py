"""What went wrong: one exception per status of the C ABI, with everything that the error says.

Each is an `Error`, and also the built-in exception that a Python program would expect, so that
`except ValueError` catches a wrong argument. Nothing is read out of the sentence: what a program
needs are attributes.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from ._native import UNKNOWN, ffi, lib, record, sized, string


class Status(enum.IntEnum):
    """What a call says of its outcome."""

    OK = lib.DRAM_STATUS_OK
    CANCELLED = lib.DRAM_STATUS_CANCELLED
    INVALID_ARGUMENT = lib.DRAM_STATUS_INVALID_ARGUMENT
    DEADLINE_EXCEEDED = lib.DRAM_STATUS_DEADLINE_EXCEEDED
    NOT_FOUND = lib.DRAM_STATUS_NOT_FOUND
    ALREADY_EXISTS = lib.DRAM_STATUS_ALREADY_EXISTS
    RESOURCE_EXHAUSTED = lib.DRAM_STATUS_RESOURCE_EXHAUSTED
    FAILED_PRECONDITION = lib.DRAM_STATUS_FAILED_PRECONDITION
    OUT_OF_RANGE = lib.DRAM_STATUS_OUT_OF_RANGE
    UNIMPLEMENTED = lib.DRAM_STATUS_UNIMPLEMENTED
    INTERNAL = lib.DRAM_STATUS_INTERNAL


@dataclass(frozen=True)
class Holder:
    """A location, or a row of a raw problem, that holds bytes where room is short."""

    location: str
    id: int
    start: int | None
    """Its first byte; None among those that cannot all be placed."""
    bytes: int
    first: int
    """The first instruction, or time, of the run of its life in question."""
    last: int
    """The last one, which is part of the run."""


@dataclass(frozen=True)
class NoRoom:
    """Why a location found no room."""

    location: str
    id: int
    bytes: int
    capacity: int | None
    bound: int
    largest_hole: int
    deficit: int
    instruction: int
    """The instruction in question; in a raw problem, the time."""
    holders: tuple[Holder, ...]
    """What held bytes there, largest first."""
    others: int
    """How many holders are not listed."""
    other_bytes: int
    proved: bool
    """Whether it is proved that no placement exists at all."""
    conflict: tuple[Holder, ...]
    """If it is: locations that cannot all be placed, largest first."""
    conflict_instruction: int
    conflict_deficit: int
    """At least so many bytes are missing for them."""
    conflict_minimal: bool
    """Whether without any one of them the others can be placed; False: that is not known."""


@dataclass(frozen=True)
class Place:
    """Where an error is: what is not known is empty or None."""

    function: str
    location: str
    core: int | None
    instruction: int | None = None


class Error(Exception):
    """A call of the library failed and changed nothing."""

    status: Status = Status.INTERNAL

    def __init__(
        self,
        message: str,
        place: Place = Place("", "", None),
        other: Place | None = None,
        pass_name: str = "",
        no_room: NoRoom | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        """Where it is."""
        self.other = other
        """The other side, where two locations do not agree."""
        self.pass_name = pass_name
        """The pass of a pipeline that failed; empty if it was no pass."""
        self.no_room = no_room
        """What was in the way, if no placement exists within the capacity."""


class Cancelled(Error):
    """The run was cancelled before there was any result."""

    status = Status.CANCELLED


class InvalidArgument(Error, ValueError):
    """An argument is outside its documented domain, or an object has been closed."""

    status = Status.INVALID_ARGUMENT


class DeadlineExceeded(Error, TimeoutError):
    """The budget ran out before there was any result."""

    status = Status.DEADLINE_EXCEEDED


class NotFound(Error, LookupError):
    """Nothing has this name or number."""

    status = Status.NOT_FOUND


class AlreadyExists(Error, ValueError):
    """Something has this name already."""

    status = Status.ALREADY_EXISTS


class ResourceExhausted(Error):
    """No address exists within the capacity; see `no_room`."""

    status = Status.RESOURCE_EXHAUSTED


class FailedPrecondition(Error, RuntimeError):
    """The order of calls is wrong, or something has changed meanwhile."""

    status = Status.FAILED_PRECONDITION


class OutOfRange(Error, IndexError):
    """A position, byte range or sum is out of range."""

    status = Status.OUT_OF_RANGE


class Unimplemented(Error, NotImplementedError):
    """The loaded library does not have this."""

    status = Status.UNIMPLEMENTED


class InternalError(Error, RuntimeError):
    """A mistake of the library; what the call was given can only be closed."""

    status = Status.INTERNAL


_KINDS: dict[int, type[Error]] = {
    kind.status: kind
    for kind in (
        Cancelled, InvalidArgument, DeadlineExceeded, NotFound, AlreadyExists, ResourceExhausted,
        FailedPrecondition, OutOfRange, Unimplemented, InternalError,
    )
}  # fmt: skip


def take(status: int, error: Any) -> Error:
    """The exception for a failed call; frees the C error, which may be null."""
    kind = _KINDS.get(status, InternalError)
    if error == ffi.NULL:
        return kind(f"the call failed with status {status}")
    try:
        info = sized("dram_error_info")
        lib.dram_error_get(error, info)
        core, instruction = _known(info.core), _known(info.instruction)
        other = Place(string(info.other_function), string(info.other_location), _known(info.other_core))
        return kind(
            string(info.message),
            Place(string(info.function), string(info.location), core, instruction),
            other if other != Place("", "", None) else None,
            string(getattr(info, "pass")),
            _no_room(error) if info.has_no_room else None,
        )
    finally:
        lib.dram_error_free(error)


def _known(number: int) -> int | None:
    return None if number == UNKNOWN else number


def _no_room(error: Any) -> NoRoom:
    raw = sized("dram_no_room")
    lib.dram_error_no_room(error, raw)
    holders = (_holder(lib.dram_error_holder, error, i) for i in range(raw.holder_count))
    conflict = (_holder(lib.dram_error_conflict, error, i) for i in range(raw.conflict_count))
    return record(NoRoom, raw, holders=tuple(holders), conflict=tuple(conflict))


def _holder(get: Any, error: Any, position: int) -> Holder:
    raw = sized("dram_holder")
    get(error, position, raw)
    return record(Holder, raw)
