"""What a compiler tells the allocator: modules, one per core, with functions, locations,
instructions.

A program owns all that is in it. Modules, functions and locations are names of things in a program:
they keep it alive, and closing it makes them stale, which every call then says.
"""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

from . import report
from ._call import Handle, JsonSource, call, counted, json_bytes, written
from ._native import NO_ADDRESS, UNKNOWN, Given, ffi, lib, record, sized, string
from .options import (
    Cancel,
    PlanOptions,
    ProgressCallback,
    SharedCallback,
    Space,
    SpaceName,
    Usage,
    UsageName,
    Watched,
    one_of,
    options_struct,
)
from .plan import Live, Plan, Skipped
from .report import Report


class Kind(enum.IntEnum):
    """What an instruction is to the allocator."""

    COMPUTE = lib.DRAM_KIND_COMPUTE
    DMA_COPY = lib.DRAM_KIND_DMA_COPY
    COLLECTIVE = lib.DRAM_KIND_COLLECTIVE
    CALL = lib.DRAM_KIND_CALL
    BARRIER = lib.DRAM_KIND_BARRIER


class Memory(enum.IntEnum):
    """The kind of memory a location lives in. Only device memory is placed."""

    DRAM = lib.DRAM_MEMORY_DRAM
    SBUF = lib.DRAM_MEMORY_SBUF
    PSUM = lib.DRAM_MEMORY_PSUM
    REG = lib.DRAM_MEMORY_REG


class Verdict(enum.IntEnum):
    """How a core's need compares with its memory."""

    FITS = lib.DRAM_VERDICT_FITS
    SLIGHTLY = lib.DRAM_VERDICT_SLIGHTLY
    OVER = lib.DRAM_VERDICT_OVER


class LogLevel(enum.IntEnum):
    """How much a program logs: everything at or above the level."""

    OFF = lib.DRAM_LOG_LEVEL_OFF
    WARNING = lib.DRAM_LOG_LEVEL_WARNING
    INFO = lib.DRAM_LOG_LEVEL_INFO


KindName = Kind | Literal["compute", "dma_copy", "collective", "call", "barrier"]
MemoryName = Memory | Literal["dram", "sbuf", "psum", "reg"]
LogCallback = Callable[[LogLevel, str], object]


@dataclass(frozen=True)
class HbmUsage:
    """What one core needs of its memory: the parts and `unused` add up to `needed`."""

    needed: int
    capacity: int | None
    input_output: int
    weights: int
    private_bytes: int
    shared: int
    collective: int
    extra: int
    unused: int
    copies: int
    function: int | None
    """The position of the function of the peak."""
    instruction: int
    verdict: Verdict


@dataclass(frozen=True)
class Pressure:
    """The worst moment of a core, or of the device."""

    live: Live
    core: int | None
    """None: the device."""
    function: int | None
    """The position of the entry function of that moment; None for the device."""
    instruction: int | None


@dataclass(frozen=True)
class MemLocInfo:
    """What a location is, as declared and as placed."""

    bytes: int
    align: int
    address: int | None
    cookie: int
    root_offset: int
    root: int
    memory: Memory
    space: Space
    usage: Usage
    skipped: Skipped
    is_shared_post_dram_alloc: bool
    partition: int
    bank: int


@dataclass(frozen=True)
class Bytes:
    """Some bytes of a location: `location[offset:end]`."""

    memloc: MemLoc
    offset: int
    count: int
    """0: to the end."""


@dataclass(frozen=True)
class MemLoc:
    """A memory location: its function and its number there."""

    function: Function
    id: int

    @property
    def info(self) -> MemLocInfo:
        """What it is now."""
        raw = sized("dram_memloc_info")
        call("dram_function_memloc", self.function._raw, self.id, raw)
        return record(MemLocInfo, raw)

    @property
    def name(self) -> str:
        """Its name; empty if it has none."""
        return written("dram_function_memloc_name", self.function._raw, self.id)

    @property
    def address(self) -> int | None:
        """The host's pin, or what an applied plan or an allocation gave it."""
        return self.info.address

    def __getitem__(self, part: slice) -> Bytes:
        """Its bytes from `start` to before `stop`; not counted from the end."""
        start, stop = part.start or 0, part.stop
        if part.step not in (None, 1) or start < 0 or (stop is not None and stop <= start):
            raise ValueError(f"[{part.start}:{part.stop}:{part.step}] is no run of bytes")
        return Bytes(self, start, 0 if stop is None else stop - start)

    def view(self, name: str = "", offset: int = 0, bytes: int = 0) -> MemLoc:
        """Adds a view of it: `bytes` of it from `offset` on; 0: to its end."""
        return self.function._add(name, bytes, offset=offset, alias_of=self.id, view=True)

    def __repr__(self) -> str:
        return f"<MemLoc {self.id} of {self.function.name!r}>"


Operand = MemLoc | Bytes


def _operand(operand: Operand) -> dict[str, int]:
    if isinstance(operand, MemLoc):
        return {"memloc": operand.id}
    return {"memloc": operand.memloc.id, "offset": operand.offset, "bytes": operand.count}


class Function:
    """A function: locations, blocks, instructions, each known by a number from 0."""

    def __init__(self, program: Program, raw: Any) -> None:
        self.program = program
        self._raw = raw

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and bool(self._raw == other._raw)

    def __hash__(self) -> int:
        return hash(self._raw)

    def _info(self) -> Any:
        info = sized("dram_function_info")
        call("dram_function_get", self._raw, info)
        return info

    @property
    def name(self) -> str:
        return string(self._info().name)

    @property
    def block_count(self) -> int:
        return int(self._info().block_count)

    @property
    def instruction_count(self) -> int:
        return int(self._info().instruction_count)

    def __len__(self) -> int:
        """How many locations it has."""
        return int(self._info().memloc_count)

    @property
    def memlocs(self) -> list[MemLoc]:
        """Its locations by number."""
        return [MemLoc(self, id) for id in range(len(self))]

    def memloc(self, name: str) -> MemLoc:
        """The location with a name."""
        given, out = Given(), ffi.new("uint32_t *")
        call("dram_function_find_memloc", self._raw, given.text(name), out)
        return MemLoc(self, out[0])

    def add_memloc(
        self,
        name: str = "",
        bytes: int | None = 0,
        *,
        elements: tuple[int, int] | None = None,
        usage: UsageName = Usage.INTERNAL,
        space: SpaceName = Space.LOCAL,
        memory: MemoryName = Memory.DRAM,
        align: int | None = None,
        pin: int | None = None,
        escapes: bool = False,
        remote: tuple[int, str] | None = None,
        reach: Sequence[int] = (),
        cookie: int = 0,
        partition: int = 0,
        bank: int = 0,
    ) -> MemLoc:
        """Adds a location.

        `bytes`: None for a size that is not known, which is refused by name. `elements`: instead of
        `bytes`, how many and how many bytes each. `pin`: its address, which no plan moves.
        `remote`: the core and the name of the location that it follows. `reach`: the cores that
        reach it, beside those that are linked. `cookie`: anything that is to be found again.
        `MemLoc.view` adds a view.
        """
        fields: dict[str, Any] = {
            "usage": one_of(Usage, usage),
            "space": one_of(Space, space),
            "memory": one_of(Memory, memory),
            "cookie": cookie,
            "partition": partition,
            "bank": bank,
            "align": align or 0,
        }
        if elements is not None:
            fields["element_count"], fields["element_size"] = elements
        return self._add(name, bytes, pin=pin, escapes=escapes, remote=remote, reach=reach, **fields)

    def _add(
        self,
        name: str,
        bytes: int | None,
        *,
        pin: int | None = None,
        escapes: bool = False,
        remote: tuple[int, str] | None = None,
        reach: Sequence[int] = (),
        view: bool = False,
        **fields: Any,
    ) -> MemLoc:
        given, out = Given(), ffi.new("uint32_t *")
        desc = sized("dram_memloc_desc")
        desc.name = given.text(name)
        flags = 0
        if bytes is None:
            flags |= lib.DRAM_MEMLOC_FLAG_UNKNOWN_SIZE
        else:
            desc.bytes = bytes
        if pin is not None:
            flags |= lib.DRAM_MEMLOC_FLAG_PINNED
            desc.address = pin
        if escapes:
            flags |= lib.DRAM_MEMLOC_FLAG_ESCAPES
        if remote is not None:
            flags |= lib.DRAM_MEMLOC_FLAG_REMOTE
            desc.remote_core, desc.remote_name = remote[0], given.text(remote[1])
        if view:
            flags |= lib.DRAM_MEMLOC_FLAG_VIEW
        desc.reach, desc.reach_count = given.array("uint32_t", list(reach)), len(reach)
        desc.flags = flags
        for field, value in fields.items():
            setattr(desc, field, value)
        call("dram_function_add_memloc", self._raw, desc, out)
        return MemLoc(self, out[0])

    def add_block(self, name: str = "") -> int:
        """Opens the next block; instructions added later go there. Returns its number."""
        given, out = Given(), ffi.new("uint32_t *")
        call("dram_function_add_block", self._raw, given.text(name), out)
        return int(out[0])

    def set_successors(self, block: int, successors: Sequence[int]) -> None:
        """Says where control may go after a block; none: the function returns there."""
        given = Given()
        numbers = given.array("uint32_t", list(successors))
        call("dram_function_set_successors", self._raw, block, numbers, len(successors))

    def add_instruction(
        self,
        op: str,
        uses: Iterable[Operand] = (),
        defs: Iterable[Operand] = (),
        *,
        name: str = "",
        kind: KindName = Kind.COMPUTE,
        engine: int = 0,
        in_place: Iterable[tuple[MemLoc, MemLoc]] = (),
        callee: str = "",
        args: Mapping[str, MemLoc] = {},
        id: int | None = None,
    ) -> int:
        """Appends an instruction to the last block; returns its flat index.

        `uses`, `defs`: locations, or bytes of them (`x[0:64]`). `in_place`: pairs of a use and a
        def that may take its bytes. `callee`, `args`: of a call, which function it runs, and the
        locations here that its inputs and outputs are bound to. `id`: a barrier's.
        """
        given, out = Given(), ffi.new("uint32_t *")
        desc = sized("dram_instruction_desc")
        desc.op, desc.name, desc.callee = given.text(op), given.text(name), given.text(callee)
        desc.kind, desc.engine = one_of(Kind, kind), engine
        reads, writes = [_operand(use) for use in uses], [_operand(def_) for def_ in defs]
        desc.uses, desc.use_count = given.array("dram_operand", reads), len(reads)
        desc.defs, desc.def_count = given.array("dram_operand", writes), len(writes)
        pairs = [(used.id, def_.id) for used, def_ in in_place]
        desc.in_place, desc.in_place_count = given.array("dram_in_place", pairs), len(pairs)
        bound = [(given.text(there), here.id) for there, here in args.items()]
        desc.args, desc.arg_count = given.array("dram_argument", bound), len(bound)
        if id is not None:
            desc.id, desc.has_id = id, 1
        call("dram_function_add_instruction", self._raw, desc, out)
        return int(out[0])

    @property
    def addresses(self) -> list[int | None]:
        """The address of every location by number, as applied; None where there is none."""
        count = len(self)
        values = ffi.new("uint64_t[]", max(count, 1))
        call("dram_function_addresses", self._raw, values, count)
        return [None if value == NO_ADDRESS else value for value in ffi.unpack(values, count)]

    @property
    def elided(self) -> list[int]:
        """The copies that a pipeline has marked as moving bytes onto themselves."""
        return counted("dram_function_elided", "uint32_t", self._raw)

    def __repr__(self) -> str:
        return f"<Function {self.name!r}>"


class Module:
    """One core's part of the program."""

    def __init__(self, program: Program, raw: Any) -> None:
        self.program = program
        self._raw = raw

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and bool(self._raw == other._raw)

    def __hash__(self) -> int:
        return hash(self._raw)

    def _info(self) -> Any:
        info = sized("dram_module_info")
        call("dram_module_get", self._raw, info)
        return info

    @property
    def name(self) -> str:
        return string(self._info().name)

    @property
    def core(self) -> int:
        return int(self._info().core)

    @property
    def functions(self) -> list[Function]:
        """Its functions in the order in which they were added."""
        return [
            self._function("dram_module_function", position)
            for position in range(self._info().function_count)
        ]

    def function(self, name: str) -> Function:
        """The function with a name."""
        given = Given()
        return self._function("dram_module_find_function", given.text(name))

    def add_function(self, name: str) -> Function:
        """Adds a function with one block, the entry, without instructions."""
        given = Given()
        return self._function("dram_module_add_function", given.text(name))

    def _function(self, call_name: str, key: Any) -> Function:
        out = ffi.new("dram_function **")
        call(call_name, self._raw, key, out)
        return Function(self.program, out[0])

    def allocate(
        self,
        *,
        hint: Plan | None = None,
        cancel: Cancel | None = None,
        progress: ProgressCallback | None = None,
        shared: SharedCallback | None = None,
        **options: Unpack[PlanOptions],
    ) -> Plan:
        """Gives every candidate of the module's local space an address, all or none."""
        given, out = Given(), ffi.new("dram_plan **")
        with Watched(cancel, progress, shared, hint) as control:
            call("dram_module_allocate", self._raw, options_struct(given, options), control.raw, out)
            plan = Plan(out[0])
        return plan

    def split(self, cores: int) -> None:
        """Splits the program of its only module over cores: one clone of the module per core."""
        call("dram_module_lnc_split", self._raw, cores)

    def clear_placement(self) -> None:
        """Forgets what allocations have placed in it; pins stay."""
        call("dram_module_clear_placement", self._raw)

    def attribute(self, number: int) -> int:
        """An attribute by its number."""
        out = ffi.new("uint64_t *")
        call("dram_module_attribute", self._raw, number, out)
        return int(out[0])

    def metric(self, name: str) -> int:
        """A metric of the last allocation by its name."""
        given, out = Given(), ffi.new("uint64_t *")
        call("dram_module_metric_named", self._raw, given.text(name), out)
        return int(out[0])

    def __repr__(self) -> str:
        return f"<Module {self.name!r} of core {self.core}>"


class Program(Handle):
    """A program. Closing it closes its modules, functions and locations too; its plans stay."""

    def __init__(
        self,
        name: str = "",
        *,
        log: LogCallback | None = None,
        log_level: LogLevel = LogLevel.WARNING,
    ) -> None:
        self._open(log, log_level)
        given = Given()
        self._made("dram_program_new", given.text(name))

    @classmethod
    def from_json(
        cls,
        source: JsonSource,
        *,
        log: LogCallback | None = None,
        log_level: LogLevel = LogLevel.WARNING,
    ) -> Program:
        """Reads a program: JSON text, a path (`pathlib.Path`), or what `to_dict` gives."""
        program = cls.__new__(cls)
        program._open(log, log_level)
        data = json_bytes(source)
        program._made("dram_program_from_json", ffi.from_buffer("uint8_t[]", data), len(data))
        return program

    def _open(self, log: LogCallback | None, level: LogLevel) -> None:
        # Each program has a context to itself, which goes with it.
        out = ffi.new("dram_context **")
        call("dram_context_new", out)
        self._context = out[0]
        super().__init__(out[0], "dram_context_free")
        self._log: Any = None
        if log is not None:
            self._log = _logging(log)
            call("dram_context_set_log", self._context, self._log, ffi.NULL, int(level))

    def _made(self, name: str, *arguments: Any) -> None:
        out = ffi.new("dram_program **")
        try:
            call(name, self._context, *arguments, out)
        except BaseException:
            self.close()
            raise
        self._raw = out[0]

    def to_json(self) -> str:
        """The program as a file has it."""
        return written("dram_program_to_json", self._raw)

    def to_dict(self) -> dict[str, Any]:
        """The program as a file has it, parsed."""
        parsed: dict[str, Any] = json.loads(self.to_json())
        return parsed

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_json()` to a file."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(self.to_json())

    @property
    def modules(self) -> list[Module]:
        """Its modules in the order in which they were added."""
        count = ffi.new("uint32_t *")
        call("dram_program_module_count", self._raw, count)
        return [self._module("dram_program_module", position) for position in range(count[0])]

    def module(self, core: int = 0) -> Module:
        """The module of a core."""
        return self._module("dram_program_find_module", core)

    def add_module(self, name: str = "", core: int = 0) -> Module:
        """Adds the module of a core."""
        given = Given()
        return self._module("dram_program_add_module", given.text(name), core)

    def _module(self, call_name: str, *keys: Any) -> Module:
        out = ffi.new("dram_module **")
        call(call_name, self._raw, *keys, out)
        return Module(self, out[0])

    def plan(
        self,
        *,
        hint: Plan | None = None,
        cancel: Cancel | None = None,
        progress: ProgressCallback | None = None,
        shared: SharedCallback | None = None,
        **options: Unpack[PlanOptions],
    ) -> Plan:
        """Plans the program and changes nothing in it.

        `hint`: an earlier plan of it or of one like it, whose addresses are kept where that costs
        nothing. `cancel`: stops the run. `progress`: called now and then. `shared`: asked for every
        location that is not shared or linked. A callback that raises stops the run (and sets
        `cancel`), and what it raised is raised here.
        """
        given, out = Given(), ffi.new("dram_plan **")
        with Watched(cancel, progress, shared, hint) as control:
            call("dram_program_plan", self._raw, options_struct(given, options), control.raw, out)
            plan = Plan(out[0])
        return plan

    def apply(self, plan: Plan) -> None:
        """Writes a plan's addresses into the program; the plan must be of it as it is."""
        call("dram_program_apply", self._raw, plan._raw)

    def verify(self, plan: Plan, *, deep: bool = False) -> Report:
        """Checks a plan, sharing no code with the allocator: what is wrong with it.

        `deep`: also run the program by location and by address, compare every value, and ask what
        orders every two accesses to common bytes.
        """
        options, out = sized("dram_verify_options"), ffi.new("dram_report **")
        options.deep = int(deep)
        call("dram_program_verify_with", self._raw, plan._raw, options, out)
        return report.read(out[0])

    def races(self, plan: Plan, *, shared: SharedCallback | None = None) -> Report:
        """Where cores touch the same bytes between two barriers, one of them writing."""
        out = ffi.new("dram_report **")
        with Watched(shared=shared) as control:
            call("dram_program_races", self._raw, plan._raw, control.raw, out)
        return report.read(out[0])

    def hbm_usage(self, plan: Plan, core: int = 0, extra: int = 0) -> HbmUsage:
        """What a core needs of its memory under a plan. `extra`: the host's own bytes."""
        raw = sized("dram_hbm_usage")
        call("dram_program_hbm_usage", self._raw, plan._raw, core, extra, raw)
        return record(HbmUsage, raw)

    def pressure(self, plan: Plan, core: int | None = None, extra: int = 0) -> Pressure:
        """What a core holds at its worst instruction; without a core, the device."""
        raw = sized("dram_pressure")
        number = UNKNOWN if core is None else core
        call("dram_program_pressure", self._raw, plan._raw, number, extra, raw)
        return record(Pressure, raw)


def _logging(log: LogCallback) -> Any:
    """A log callback for C. It may run in any call: what it raises goes to `sys.unraisablehook`."""

    def take(user: Any, level: int, message: Any) -> None:
        log(LogLevel(level), string(message))

    return ffi.callback("dram_log_fn", take)
