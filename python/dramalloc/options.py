"""What is asked of a run, and how it is watched and stopped.

Options are keyword arguments with the names of the command's flags; `PlanOptions` is their type, so
that a program can keep a set of them in a dictionary: `program.plan(**options)`. What is not given
is the library's default.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from ._call import Callbacks, Handle, call
from ._native import Given, ffi, lib, record, sized, string

if TYPE_CHECKING:
    from .plan import Plan


class Strategy(enum.IntEnum):
    """How to search for a placement."""

    FAST = lib.DRAM_STRATEGY_FAST
    REFERENCE = lib.DRAM_STRATEGY_REFERENCE
    BEST = lib.DRAM_STRATEGY_BEST


class Preset(enum.IntEnum):
    """A device whose memory per core is known."""

    CUSTOM = lib.DRAM_PRESET_CUSTOM
    INFERENTIA = lib.DRAM_PRESET_INFERENTIA
    TRN1 = lib.DRAM_PRESET_TRN1
    INF2 = lib.DRAM_PRESET_INF2
    TRN2 = lib.DRAM_PRESET_TRN2
    TRN3 = lib.DRAM_PRESET_TRN3


class Floor(enum.IntEnum):
    """Where placement starts beside the host's pins: above them all, or in the holes between."""

    HWM = lib.DRAM_FLOOR_HWM
    HOLES = lib.DRAM_FLOOR_HOLES


class Geometry(enum.IntEnum):
    """How a core's spaces share its memory."""

    SPLIT = lib.DRAM_GEOMETRY_SPLIT
    UNIFIED = lib.DRAM_GEOMETRY_UNIFIED


class Space(enum.IntEnum):
    """Which address space of device memory."""

    LOCAL = lib.DRAM_SPACE_LOCAL
    SHARED = lib.DRAM_SPACE_SHARED
    DEBUG = lib.DRAM_SPACE_DEBUG


class Usage(enum.IntEnum):
    """What the bytes are for."""

    INTERNAL = lib.DRAM_USAGE_INTERNAL
    COLLECTIVE = lib.DRAM_USAGE_COLLECTIVE
    INPUT = lib.DRAM_USAGE_INPUT
    OUTPUT = lib.DRAM_USAGE_OUTPUT
    WEIGHT = lib.DRAM_USAGE_WEIGHT
    CONSTANT = lib.DRAM_USAGE_CONSTANT


StrategyName = Strategy | Literal["fast", "reference", "best"]
PresetName = Preset | Literal["custom", "inferentia", "trn1", "inf2", "trn2", "trn3"]
FloorName = Floor | Literal["hwm", "holes"]
GeometryName = Geometry | Literal["split", "unified"]
SpaceName = Space | Literal["local", "shared", "debug"]
UsageName = Usage | Literal["internal", "collective", "input", "output", "weight", "constant"]

E = TypeVar("E", bound=enum.IntEnum)


def one_of(kind: type[E], value: Any) -> E:
    """A member, from itself or from its name in lower case."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value == value.lower() and value.upper() in kind.__members__:
        return kind[value.upper()]
    names = ", ".join(repr(name.lower()) for name in kind.__members__)
    raise ValueError(f"{value!r} is no {kind.__name__}: there are {names}")


def usage_mask(usages: Iterable[UsageName]) -> int:
    """Bit `u` for usage `u`."""
    mask = 0
    for usage in usages:
        mask |= 1 << one_of(Usage, usage)
    return mask


@dataclass(frozen=True)
class Region:
    """A window of an address space for certain usages; without any, for everything."""

    base: int
    size: int
    space: SpaceName = Space.LOCAL
    usages: tuple[UsageName, ...] = ()


class PlanOptions(TypedDict, total=False):
    """Options of a run. What concerns programs only does nothing for a raw problem."""

    strategy: StrategyName
    """How to search; `fast`."""
    capacity: int | None
    """Bytes per core; wins over the preset. None: no limit but the preset's."""
    preset: PresetName
    """A device, for its capacity."""
    budget_steps: int | None
    """Stop searching after so many steps: the same plan on every machine. None: by strategy."""
    budget_ms: int | None
    """Stop searching after so many milliseconds. None: no limit."""
    floor: FloorName
    """Where placement starts beside pins; `hwm`."""
    align: int | None
    """The alignment of locations that declare none. None: a page, packed 1."""
    packed: bool
    """Exact bytes instead of whole pages."""
    reuse_io: bool
    """Inputs end at their last use, outputs begin at their first def."""
    strict: bool
    """A use that may read unwritten bytes is an error."""
    cc_limit: int | None
    """MiB of the region for collectives; -1: what they need; 0: no region. None: 500."""
    trim_cc: bool
    """The others start at the real end of the collective region."""
    runtime_page: int
    """MiB of the page in which the runtime hands out memory; 0: off."""
    geometry: GeometryName
    """How a core's spaces share its memory; `split`."""
    shared_mib_per_core: int
    """MiB of each core's slab of the shared space; 0: off."""
    separate_functions: bool
    """A device-wide barrier separates the entry functions."""
    usages: Iterable[UsageName]
    """The usages that are given addresses. None of them: internal and collective."""
    regions: Iterable[Region]
    """Windows of the address space; without any, one without bounds."""
    keep: int
    """With a hint: bytes of peak that each MiB which keeps its address may cost."""


def _cc_limit(mib: int | None) -> int:
    if mib is None:
        return int(lib.DRAM_CC_LIMIT_DEFAULT)
    if mib == -1:
        return int(lib.DRAM_CC_LIMIT_COMPUTED)
    if mib < 0:
        raise ValueError(f"cc_limit is MiB, -1 or None, not {mib}")
    return int(lib.DRAM_CC_LIMIT_NONE) if mib == 0 else mib


def _limit(name: str) -> Callable[[int | None], int]:
    def number(value: int | None) -> int:
        if value is None:
            return 0
        if value <= 0:  # 0 would mean that there is none.
            raise ValueError(f"{name} is at least 1, or None for none, not {value}")
        return value

    return number


# How each option is said to C; those that are not here have the field of their name.
_CONVERTED: dict[str, Callable[[Any], int]] = {
    "strategy": lambda value: one_of(Strategy, value),
    "preset": lambda value: one_of(Preset, value),
    "floor": lambda value: one_of(Floor, value),
    "geometry": lambda value: one_of(Geometry, value),
    "cc_limit": _cc_limit,
    **{name: _limit(name) for name in ("capacity", "budget_steps", "budget_ms", "align")},
    **{
        name: lambda value: int(bool(value))
        for name in ("packed", "reuse_io", "strict", "trim_cc", "separate_functions")
    },
}


def options_struct(given: Given, options: Mapping[str, Any]) -> Any:
    """The C struct of some options."""
    raw = given.keep(sized("dram_options"))
    for name, value in options.items():
        if name == "usages":
            raw.usage_mask = usage_mask(value)
        elif name == "regions":
            raw.regions, raw.region_count = regions_array(given, value)
        elif name in PlanOptions.__annotations__:
            setattr(raw, name, _CONVERTED[name](value) if name in _CONVERTED else value)
        else:
            names = ", ".join(PlanOptions.__annotations__)
            raise TypeError(f"there is no option {name!r}; there are {names}")
    return raw


def regions_array(given: Given, regions: Iterable[Region]) -> tuple[Any, int]:
    """Windows as a C array, and how many."""
    rows = [
        {
            "base": region.base,
            "size": region.size,
            "space": one_of(Space, region.space),
            "usage_mask": usage_mask(region.usages),
        }
        for region in regions
    ]
    return given.array("dram_region", rows), len(rows)


class Cancel(Handle):
    """A flag that stops runs, from any thread; once set it stays set."""

    def __init__(self) -> None:
        out = ffi.new("dram_cancel **")
        call("dram_cancel_new", out)
        super().__init__(out[0], "dram_cancel_free")

    def set(self) -> None:
        """Sets it. Runs that use it return with their best placement so far, if they have one."""
        call("dram_cancel_set", self._raw)

    @property
    def is_set(self) -> bool:
        out = ffi.new("uint32_t *")
        call("dram_cancel_is_set", self._raw, out)
        return bool(out[0])


@dataclass(frozen=True)
class Progress:
    """What a run reports while it works."""

    phase: str
    done: int
    total: int
    """Steps that the phase has in all; 0 if that is not known."""
    bound: int
    """The lower bound in bytes; 0 if it is not known yet."""
    incumbent: int | None
    """The best peak so far in bytes; None if there is none yet."""
    elapsed_us: int


ProgressCallback = Callable[[Progress], object]
SharedCallback = Callable[[int, str, int, int], bool]
"""Whether the cores share a location although its description does not say so: asked with its core,
its function's name, its number and the host's cookie."""


class Watched(Callbacks):
    """A call under control: `raw` is the C struct, valid within the `with` block."""

    def __init__(
        self,
        cancel: Cancel | None = None,
        progress: ProgressCallback | None = None,
        shared: SharedCallback | None = None,
        hint: Plan | None = None,
    ) -> None:
        if cancel is None and (progress is not None or shared is not None):
            cancel = Cancel()  # What stops the run if a callback raises.
        super().__init__(cancel.set if cancel is not None else lambda: None)
        self._alive = cancel, hint
        self.raw = sized("dram_control")
        if cancel is not None:
            self.raw.cancel = cancel._raw
        if hint is not None:
            self.raw.hint = hint._raw
        if progress is not None:
            tell = progress
            self.raw.progress = self.made(
                "dram_progress_fn", lambda user, raw: _nothing(tell(record(Progress, raw))), None
            )
        if shared is not None:
            ask = shared
            self.raw.shared = self.made(
                "dram_shared_fn",
                lambda user, core, function, memloc, cookie: int(
                    bool(ask(core, string(function), memloc, cookie))
                ),
                0,
            )


def _nothing(_: object) -> None:
    return None
