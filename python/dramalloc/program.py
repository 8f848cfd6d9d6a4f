"""What a compiler tells the allocator: modules, one per core, with functions, locations,
instructions.

A program owns all that is in it. Modules, functions and locations are names of things in a program:
they keep it alive, and closing it makes them stale, which every call then says.
"""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

from . import report
from ._call import Handle, JsonSource, call, json_bytes, written
from ._native import UNKNOWN, Given, ffi, lib, record, sized, string
from .function import Function
from .options import (
    Cancel,
    PlanOptions,
    ProgressCallback,
    SharedCallback,
    Watched,
    options_struct,
)
from .plan import Live, Plan
from .report import Report


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
        nothing. `cancel`: stops the run. `progress`: called when a phase begins, when something
        better is known, and else some times a second while a search goes on. `shared`: asked
        for every location that is not shared or linked. A callback that raises stops the run (and
        sets `cancel`), and what it raised is raised here.
        """
        given, out = Given(), ffi.new("dram_plan **")
        with Watched(cancel, progress, shared, hint) as control:
            call("dram_program_plan", self._raw, options_struct(given, options), control.raw, out)
            plan = Plan(out[0])
        return plan

    def apply(self, plan: Plan) -> None:
        """Writes a plan's addresses into the program; the plan must be of it as it is."""
        call("dram_program_apply", self._raw, plan._raw)

    def verify(
        self,
        plan: Plan,
        *,
        deep: bool = False,
        cancel: Cancel | None = None,
        shared: SharedCallback | None = None,
    ) -> Report:
        """Checks a plan, sharing no code with the allocator: what is wrong with it.

        `deep`: also run the program by location and by address, compare every value, and ask what
        orders every two accesses to common bytes. `cancel`: ends it with `Cancelled`. `shared`: as
        when the plan was made.
        """
        options, out = sized("dram_verify_options"), ffi.new("dram_report **")
        options.deep = int(deep)
        with Watched(cancel, shared=shared) as control:
            options.control = control.raw
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
