"""A function of a program: locations, blocks and instructions, each known by a number from 0."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ._call import call, counted, written
from ._columns import Column, column
from ._native import NO_ADDRESS, Given, ffi, lib, record, sized, string
from .options import Space, SpaceName, Usage, UsageName, one_of
from .plan import Skipped

if TYPE_CHECKING:
    from .program import Program


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


KindName = Kind | Literal["compute", "dma_copy", "collective", "call", "barrier"]
MemoryName = Memory | Literal["dram", "sbuf", "psum", "reg"]


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

    def add_memlocs(
        self,
        bytes: Column,
        *,
        names: Sequence[str] | None = None,
        usage: UsageName = Usage.INTERNAL,
        space: SpaceName = Space.LOCAL,
    ) -> list[MemLoc]:
        """Adds many locations that differ in size and name, all or none: in one call."""
        given, out = Given(), ffi.new("uint32_t *")
        sizes, count = column(given, "bytes", bytes, "uint64_t")
        if names is not None and len(names) != count:
            raise ValueError(f"names has {len(names)} entries, not {count}")
        texts = given.texts(names or ())
        descs = ffi.new("dram_memloc_desc[]", count)
        struct_size = ffi.sizeof("dram_memloc_desc")
        usage_number, space_number = one_of(Usage, usage), one_of(Space, space)
        for i in range(count):
            desc = descs[i]
            desc.struct_size, desc.bytes = struct_size, sizes[i]
            desc.usage, desc.space = usage_number, space_number
            if names is not None:
                desc.name = texts[i]
        call("dram_function_add_memlocs", self._raw, descs, count, out)
        return [MemLoc(self, id) for id in range(out[0], out[0] + count)]

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

    def add_instructions(
        self,
        use_starts: Column,
        uses: Column,
        def_starts: Column,
        defs: Column,
        *,
        op_table: Sequence[str] = ("",),
        ops: Column | None = None,
        kinds: Column | None = None,
        engines: Column | None = None,
        in_place_starts: Column | None = None,
        in_place: Sequence[tuple[int, int]] = (),
        use_offsets: Column | None = None,
        use_bytes: Column | None = None,
        def_offsets: Column | None = None,
        def_bytes: Column | None = None,
    ) -> int:
        """Appends many instructions to the last block, all or none, in one call; returns the flat
        index of the first.

        Compressed rows: instruction `i` reads the locations `uses[use_starts[i]:use_starts[i + 1]]`
        and writes those of `defs` likewise, by number. `ops`: each one's position in `op_table`;
        without it all have the first. `kinds`: members of `Kind`, no calls. `use_offsets`,
        `use_bytes`: of each use, which bytes; 0 bytes: to the end.
        """
        given, out = Given(), ffi.new("uint32_t *")
        columns = sized("dram_instruction_columns")
        columns.use_starts, ends = column(given, "use_starts", use_starts, "uint32_t")
        count = columns.count = max(ends - 1, 0)
        columns.op_table = given.texts(op_table)
        columns.op_table_count = len(op_table)
        pairs = [(used, def_) for used, def_ in in_place]
        columns.in_place = given.array("dram_in_place", pairs)
        use_count, def_count = len(uses), len(defs)
        for name, values, ctype, length in (
            ("ops", [0] * count if ops is None else ops, "uint32_t", count),
            ("kinds", kinds, "uint32_t", count),
            ("engines", engines, "uint32_t", count),
            ("uses", uses, "uint32_t", use_count),
            ("def_starts", def_starts, "uint32_t", ends),
            ("defs", defs, "uint32_t", def_count),
            ("in_place_starts", in_place_starts, "uint32_t", ends),
            ("use_offsets", use_offsets, "uint64_t", use_count),
            ("use_bytes", use_bytes, "uint64_t", use_count),
            ("def_offsets", def_offsets, "uint64_t", def_count),
            ("def_bytes", def_bytes, "uint64_t", def_count),
        ):
            if values is not None:
                setattr(columns, name, column(given, name, values, ctype, length)[0])
        # The library reads as far as the last starts say.
        for name, length in (("use", use_count), ("def", def_count), ("in_place", len(pairs))):
            starts = getattr(columns, f"{name}_starts")
            if starts != ffi.NULL and ends and starts[count] != length:
                raise ValueError(f"{name}_starts ends at {starts[count]}, not at {length}")
        call("dram_function_add_instructions", self._raw, columns, out)
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
