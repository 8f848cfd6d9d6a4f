"""Where everything lies, and how good that is: the result of a run, which needs no program.

What a plan says of a function is asked with the function, which is found by its core and name. So
a plan that was read from a file answers for any program that it is of.
"""

from __future__ import annotations

import enum
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import explaining
from ._call import Callbacks, Handle, JsonSource, call, json_bytes, written
from ._native import NO_ADDRESS, Given, ffi, lib, record, sized, string
from .drawing import Drawing
from .errors import FailedPrecondition, NotFound
from .explaining import Telling
from .options import SharedCallback, Space, SpaceName, Strategy, Watched

if TYPE_CHECKING:
    from .function import Function, MemLoc
    from .program import Program


class PlanStatus(enum.IntEnum):
    """What is known about a peak."""

    OPTIMAL = lib.DRAM_PLAN_STATUS_OPTIMAL
    FEASIBLE = lib.DRAM_PLAN_STATUS_FEASIBLE
    INFEASIBLE = lib.DRAM_PLAN_STATUS_INFEASIBLE
    UNKNOWN = lib.DRAM_PLAN_STATUS_UNKNOWN


class Skipped(enum.IntEnum):
    """Why a location has no address; `NO`: it is not skipped."""

    NO = lib.DRAM_SKIPPED_NO
    UNREFERENCED = lib.DRAM_SKIPPED_UNREFERENCED
    CALLER_OWNED = lib.DRAM_SKIPPED_CALLER_OWNED
    NOT_DRAM = lib.DRAM_SKIPPED_NOT_DRAM
    FOLLOWER_UNUSED = lib.DRAM_SKIPPED_FOLLOWER_UNUSED


class DependenceKind(enum.IntEnum):
    """Why one instruction waits for another; the first is the strongest."""

    FLOW = lib.DRAM_DEPENDENCE_KIND_FLOW
    OUTPUT = lib.DRAM_DEPENDENCE_KIND_OUTPUT
    ANTI = lib.DRAM_DEPENDENCE_KIND_ANTI


@dataclass(frozen=True)
class SpaceInfo:
    """One space of one core."""

    space: Space
    core: int | None
    """None: the shared space, which all cores have."""
    capacity: int | None
    floor: int
    peak: int
    lower_bound: int


@dataclass(frozen=True)
class Planned:
    """What became of a location."""

    name: str
    address: int | None
    bytes: int
    aligned: int
    """Its bytes as placed."""
    space: Space
    skipped: Skipped
    pinned: bool
    is_shared_post_dram_alloc: bool
    owner_name: str
    """The member of its group that was placed; empty if there is no group."""
    owner_core: int | None
    segments: tuple[tuple[int, int], ...]
    """When its bytes are taken: runs of instructions, both ends included."""


@dataclass(frozen=True)
class Dependence:
    """Each execution of `to` waits for the latest earlier execution of `from_`, if there is one."""

    from_: int
    to: int
    kind: DependenceKind
    distance: int
    """How many back edges lie between the two executions: 0 or 1."""
    header: int | None
    """The header block of that back edge."""


@dataclass(frozen=True)
class Edge(Dependence):
    """A dependence that a plan carries, with its ends' functions and cores."""

    from_function: str
    from_core: int
    to_function: str
    to_core: int


@dataclass(frozen=True)
class Straddler:
    """A location that straddles a page of the runtime, which costs a copy of its bytes."""

    function: str
    name: str
    core: int
    space: Space
    address: int
    bytes: int
    pinned: bool


@dataclass(frozen=True)
class Live:
    """Bytes by what they are for."""

    input_output: int
    weights: int
    private_bytes: int
    shared: int
    collective: int
    extra: int
    copies: int


class Plan(Handle):
    """A plan. Immutable; it needs neither its program nor anything else."""

    def __init__(self, raw: Any) -> None:
        super().__init__(raw, "dram_plan_free")

    @classmethod
    def from_json(cls, source: JsonSource) -> Plan:
        """Reads a plan: JSON text, a path (`pathlib.Path`), or what `to_dict` gives."""
        data, out = json_bytes(source), ffi.new("dram_plan **")
        call("dram_plan_from_json", ffi.from_buffer("uint8_t[]", data), len(data), out)
        return cls(out[0])

    def to_json(self) -> str:
        """The plan as a file has it."""
        return written("dram_plan_to_json", self._raw)

    def to_dict(self) -> dict[str, Any]:
        """The plan as a file has it, parsed."""
        parsed: dict[str, Any] = json.loads(self.to_json())
        return parsed

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_json()` to a file."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(self.to_json())

    def _info(self) -> Any:
        info = sized("dram_plan_info")
        call("dram_plan_get", self._raw, info)
        return info

    @property
    def peak(self) -> int:
        """The highest peak of any space, in bytes."""
        return int(self._info().peak)

    @property
    def lower_bound(self) -> int:
        """What no plan of that space is below, in bytes."""
        return int(self._info().lower_bound)

    @property
    def status(self) -> PlanStatus:
        """What is known about the peak."""
        return PlanStatus(self._info().status)

    @property
    def strategy(self) -> Strategy:
        """What was run."""
        return Strategy(self._info().strategy)

    @property
    def digest(self) -> str:
        """The digest of what the cores share; empty for one core."""
        return string(self._info().digest)

    @property
    def needs_dependences(self) -> bool:
        """Whether bytes are re-used across engines and the plan carries no dependences."""
        return bool(self._info().needs_dependences)

    @property
    def spaces(self) -> list[SpaceInfo]:
        """Every space of every core."""
        return self._listed(SpaceInfo, "dram_plan_space", "dram_space_info", self._info().space_count)

    @property
    def notes(self) -> list[str]:
        """What a person should know."""
        notes = []
        for position in range(self._info().note_count):
            out = ffi.new("dram_str *")
            call("dram_plan_note", self._raw, position, out)
            notes.append(string(out))
        return notes

    def metric(self, name: str) -> int:
        """A metric by its name, such as `hwm`."""
        given, out = Given(), ffi.new("uint64_t *")
        call("dram_plan_metric", self._raw, given.text(name), out)
        return int(out[0])

    @property
    def straddlers(self) -> list[Straddler]:
        """What straddles a page of the runtime; none if the option was off."""
        try:
            count = self.metric("runtime_straddlers")
        except NotFound:
            count = 0
        return self._listed(Straddler, "dram_plan_straddler", "dram_straddler", count)

    @property
    def edges(self) -> list[Edge] | None:
        """The dependences that the plan carries; None if nobody has asked for them."""
        out = ffi.new("size_t *")
        try:
            call("dram_plan_edge_count", self._raw, out)
        except FailedPrecondition:
            return None
        edges = []
        for position in range(out[0]):
            raw = sized("dram_edge")
            call("dram_plan_edge", self._raw, position, raw)
            edges.append(record(Edge, raw, from_=int(getattr(raw, "from"))))
        return edges

    def addresses(self, function: Function) -> list[int | None]:
        """The address of every location of a function, by number; None where there is none."""
        count = len(function)
        values = ffi.new("uint64_t[]", max(count, 1))
        call("dram_plan_addresses", self._raw, function._raw, values, count)
        return [None if value == NO_ADDRESS else value for value in ffi.unpack(values, count)]

    def address(self, memloc: MemLoc) -> int | None:
        """The address of a location; None if it has none."""
        return self[memloc].address

    def __getitem__(self, memloc: MemLoc) -> Planned:
        raw = sized("dram_plan_memloc")
        call("dram_plan_memloc_get", self._raw, memloc.function._raw, memloc.id, raw)
        count = raw.segment_count
        segments, out = ffi.new("dram_segment[]", max(count, 1)), ffi.new("size_t *")
        call("dram_plan_segments", self._raw, memloc.function._raw, memloc.id, segments, count, out)
        runs = tuple((segments[i].first, segments[i].last) for i in range(count))
        return record(Planned, raw, segments=runs)

    def load(self, function: Function) -> list[int]:
        """The bytes that a function's own frame holds at each instruction, as placed."""
        count = function.instruction_count
        values = ffi.new("uint64_t[]", max(count, 1))
        call("dram_plan_load", self._raw, function._raw, values, count)
        numbers: list[int] = ffi.unpack(values, count)
        return numbers

    def live(self, function: Function, extra: int = 0) -> list[Live]:
        """What a core holds at each instruction of a function. `extra`: the host's own bytes."""
        count = function.instruction_count
        values = ffi.new("dram_live_size[]", max(count, 1))
        call("dram_plan_live", self._raw, function._raw, extra, values, count)
        return [record(Live, values[i]) for i in range(count)]

    def device_live(
        self, function: Function, extra: int = 0, shared: SharedCallback | None = None
    ) -> list[Live]:
        """What the whole device holds while a core is at each instruction of an entry function."""
        count = function.instruction_count
        values = ffi.new("dram_live_size[]", max(count, 1))
        with Watched(shared=shared) as control:
            call("dram_plan_device_live", self._raw, function._raw, extra, control.raw, values, count)
        return [record(Live, values[i]) for i in range(count)]

    def dependences(self, function: Function) -> list[Dependence]:
        """The order that a core's engines must keep so that re-used bytes and values are right."""
        found: list[Dependence] = []

        def take(user: Any, edges: Any, count: int) -> None:
            for i in range(count):
                found.append(record(Dependence, edges[i], from_=int(getattr(edges[i], "from"))))

        with Callbacks() as callbacks:
            function_pointer = callbacks.made("dram_dependences_fn", take, None)
            call("dram_plan_dependences", self._raw, function._raw, function_pointer, ffi.NULL)
        return found

    def explain(self, program: Program, *, top: int = 10, spaces: int = 1) -> Telling:
        """Why it is as high as it is: the peak of each space and what lies under it, the lower bound,
        what lies between the two, what would lower it, who follows whom in the same bytes.

        Text for people, whose `data` is the same for programs. `top`: the entries of each list.
        `spaces`: how many spaces the text tells in full, the highest first.
        """
        return explaining.explain(program, self, top, spaces)

    def diff(
        self,
        program: Program,
        after: Plan,
        after_program: Program | None = None,
        *,
        top: int = 10,
        spaces: int = 1,
    ) -> Telling:
        """What is different in a later plan, of the same program or of another one: what moved, grew,
        is new or gone, and who is responsible for the change of each peak."""
        other = program if after_program is None else after_program
        return explaining.diff(program, self, other, after, top, spaces)

    def draw(
        self,
        program: Program,
        *,
        title: str = "",
        beside: Plan | None = None,
        beside_program: Program | None = None,
        beside_title: str = "",
        width: int = 0,
        height: int = 0,
        core: int | None = None,
        space: SpaceName | None = None,
    ) -> Drawing:
        """What it looks like: time to the right, addresses up, a rectangle for each location.

        `title`: what stands above; else the program's name. `beside`: a second plan, of the program
        or of `beside_program`, drawn on the same scales. `width`, `height`: pixels, or columns and
        rows of a map; 0: as usual. `core`, `space`: the only ones that are drawn.
        """
        return Drawing(
            program, self, title=title, beside=beside, beside_program=beside_program,
            beside_title=beside_title, width=width, height=height, core=core, space=space,
        )  # fmt: skip

    def _listed(self, kind: Any, name: str, struct: str, count: int) -> list[Any]:
        found = []
        for position in range(count):
            raw = sized(struct)
            call(name, self._raw, position, raw)
            found.append(record(kind, raw))
        return found

    def __repr__(self) -> str:
        try:
            return f"<Plan {self.status.name.lower()}, peak {self.peak}, bound {self.lower_bound}>"
        except Exception:  # A closed one still has a name.
            return "<Plan, closed>"
