"""The list of named passes that a compiler runs over a program, and modules that several programs
bring to agreement: what several cores need beyond one plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from . import report
from ._call import Handle, call
from ._native import Given, ffi, record, sized, string
from .options import (
    Cancel,
    PlanOptions,
    ProgressCallback,
    SharedCallback,
    Space,
    SpaceName,
    Watched,
    one_of,
    options_struct,
)
from .plan import Plan
from .program import Module, Program
from .report import Report


class PipelineOptions(TypedDict, total=False):
    """Which passes a pipeline has, and what they may do."""

    cores: int
    """Split the only module over this many cores first; 0 or 1: do not."""
    post_link: bool
    """The modules are linked: place again, keep nothing but the host's pins."""
    disable_dram_allocation: bool
    """Without `coloring_allocator_dram` and what only makes sense after it."""
    dram_rotation: bool
    """With `address_rotation_dram`."""
    dram_rotation_size: int
    """How far above the floor the rotation may spread locations, in GiB; 0: 8; -1: not higher."""
    disable_dram_rotation: bool
    """Without `address_rotation_dram`, whatever `dram_rotation` says."""
    disable_hbm_usage_check: bool
    """A core that needs too much is a note, not an error."""
    extra_bytes: int
    """Bytes per core that only the host knows of."""
    verify_each: bool
    """The plan is verified after every pass."""
    verify_deep: bool
    """After the last pass the program is run on its plan."""


@dataclass(frozen=True)
class Pass:
    """What one pass of a run did."""

    name: str
    took_ns: int
    verified: bool
    """Whether the plan so far was verified after it, and nothing was wrong."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """What a run did."""

    plan: Plan
    """What it has written into the program, with the dependences of all functions."""
    passes: tuple[Pass, ...]
    copies_elided: int
    rotated: bool
    edges_before: int
    """Edges that re-used bytes needed before the rotation, and after it."""
    edges_after: int
    bytes_spent: int
    """Bytes by which the rotation raised the peaks."""
    moved: int
    edges_removed_per_mib: int | None
    """None: some were removed for nothing."""


class Pipeline(Handle):
    """A list of passes, ready to run over any program, any number of times."""

    def __init__(self, **options: Unpack[PipelineOptions]) -> None:
        asked = sized("dram_pipeline_options")
        given: Mapping[str, Any] = options
        for name, value in given.items():
            if name not in PipelineOptions.__annotations__:
                names = ", ".join(PipelineOptions.__annotations__)
                raise TypeError(f"there is no option {name!r}; there are {names}")
            setattr(asked, name, value)
        out = ffi.new("dram_pipeline **")
        call("dram_pipeline_new", asked, out)
        super().__init__(out[0], "dram_pipeline_free")

    @property
    def passes(self) -> list[str]:
        """The names of its passes, in the order in which they run."""
        count, name = ffi.new("uint32_t *"), ffi.new("dram_str *")
        call("dram_pipeline_pass_count", self._raw, count)
        names = []
        for position in range(count[0]):
            call("dram_pipeline_pass_name", self._raw, position, name)
            names.append(string(name))
        return names

    def run(
        self,
        program: Program,
        *,
        hint: Plan | None = None,
        cancel: Cancel | None = None,
        progress: ProgressCallback | None = None,
        shared: SharedCallback | None = None,
        **options: Unpack[PlanOptions],
    ) -> Run:
        """Runs the passes over a program and writes what they decided into it, all or nothing."""
        given, out = Given(), ffi.new("dram_run **")
        with Watched(cancel, progress, shared, hint) as control:
            asked = options_struct(given, options)
            call("dram_pipeline_run", self._raw, program._raw, asked, control.raw, out)
            run = Handle(out[0], "dram_run_free")
        with run:
            return _read(out[0])


def _read(run: Any) -> Run:
    info, plan = sized("dram_run_info"), ffi.new("dram_plan **")
    call("dram_run_get", run, info)
    call("dram_run_plan", run, plan)
    passes = tuple(_pass(run, position) for position in range(info.pass_count))
    return record(Run, info, plan=Plan(plan[0]), passes=passes)


def _pass(run: Any, position: int) -> Pass:
    info, note = sized("dram_pass_info"), ffi.new("dram_str *")
    call("dram_run_pass", run, position, info)
    notes = []
    for number in range(info.note_count):
        call("dram_run_note", run, position, number, note)
        notes.append(string(note))
    return record(Pass, info, notes=tuple(notes))


def _handles(given: Given, modules: Sequence[Module]) -> tuple[Any, int]:
    return given.array("dram_module *", [module._raw for module in modules]), len(modules)


def allocate(
    modules: Sequence[Module],
    space: SpaceName,
    *,
    hint: Plan | None = None,
    cancel: Cancel | None = None,
    progress: ProgressCallback | None = None,
    shared: SharedCallback | None = None,
    **options: Unpack[PlanOptions],
) -> Plan:
    """Gives every candidate of one space an address, over modules of one program or of several, one
    per core. Of what is shared, the owners only: see `sync_shared_allocations`."""
    given, out = Given(), ffi.new("dram_plan **")
    with Watched(cancel, progress, shared, hint) as control:
        call(
            "dram_modules_allocate", *_handles(given, modules), one_of(Space, space),
            options_struct(given, options), control.raw, out,
        )  # fmt: skip
        plan = Plan(out[0])
    return plan


@dataclass(frozen=True)
class Sync:
    """What the copying of shared addresses did."""

    groups: int
    """How many groups of shared locations have an address."""
    assigned: int
    """How many locations were given theirs; 0 when all agreed already."""
    digest: str
    """The digest of what was agreed."""


def sync_shared_allocations(
    modules: Sequence[Module],
    *,
    shared: SharedCallback | None = None,
    **options: Unpack[PlanOptions],
) -> Sync:
    """Gives every copy of a shared location the address of its owner, all or none."""
    given, info = Given(), sized("dram_sync_info")
    with Watched(shared=shared) as control:
        call(
            "dram_modules_sync_shared_allocations", *_handles(given, modules),
            options_struct(given, options), control.raw, info,
        )  # fmt: skip
    return record(Sync, info, digest=ffi.string(info.digest).decode())


def digests(
    modules: Sequence[Module],
    *,
    shared: SharedCallback | None = None,
    **options: Unpack[PlanOptions],
) -> dict[int, str]:
    """For each core, what it holds the addresses of all shared locations to be; equal for all cores
    if all copies are. Digests of several processes can be compared by `check_digests`."""
    given, found = Given(), ffi.new("dram_digest[]", max(len(modules), 1))
    with Watched(shared=shared) as control:
        call(
            "dram_modules_digests", *_handles(given, modules),
            options_struct(given, options), control.raw, found,
        )  # fmt: skip
    return {found[i].core: ffi.string(found[i].text).decode() for i in range(len(modules))}


def check_digests(digests: Mapping[int, str]) -> None:
    """Raises `FailedPrecondition`, which names the cores, where digests differ."""
    given = Given()
    rows = [{"core": core, "text": text.encode()} for core, text in digests.items()]
    call("dram_digests_check", given.array("dram_digest", rows), len(rows))


def verify_cores(
    modules: Sequence[Module],
    *,
    shared: SharedCallback | None = None,
    **options: Unpack[PlanOptions],
) -> Report:
    """Checks, without a plan, that what the modules have stored agrees between cores."""
    given, out = Given(), ffi.new("dram_report **")
    with Watched(shared=shared) as control:
        call(
            "dram_modules_lnc_verify", *_handles(given, modules),
            options_struct(given, options), control.raw, out,
        )  # fmt: skip
    return report.read(out[0])
