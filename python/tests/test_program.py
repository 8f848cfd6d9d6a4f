"""Programs: built, read, written, verified, applied."""

from __future__ import annotations

import gzip
import json
import pathlib
from typing import Any

import pytest
from conftest import TwoLayers, repository_file

import dramalloc


def test_a_program_is_planned_verified_and_applied(layers: TwoLayers) -> None:
    plan = layers.program.plan()
    assert plan.peak == plan.lower_bound == (1 << 20) + 2 * 65536
    assert layers.program.verify(plan) == []
    assert layers.z.address is None
    layers.program.apply(plan)
    assert layers.z.address == plan.address(layers.z) == layers.main.addresses[layers.z.id]
    layers.module.clear_placement()
    assert layers.z.address is None
    assert layers.w.address == 0


def test_what_was_built_is_what_is_found(layers: TwoLayers) -> None:
    program = layers.program
    assert program.modules == [layers.module] == [program.module(0)]
    assert (layers.module.name, layers.module.core) == ("core0", 0)
    assert layers.module.functions == [layers.main] == [layers.module.function("main")]
    assert layers.main.name == "main"
    assert (len(layers.main), layers.main.instruction_count, layers.main.block_count) == (4, 4, 1)
    assert layers.main.memloc("y") == layers.y == layers.main.memlocs[2]
    assert layers.y.name == "y"
    info = layers.w.info
    assert (info.bytes, info.usage, info.address) == (1 << 20, dramalloc.Usage.WEIGHT, 0)


def test_json_comes_as_text_bytes_path_gzip_and_dictionary(
    layers: TwoLayers, tmp_path: pathlib.Path
) -> None:
    text = layers.program.to_json()
    path, packed = tmp_path / "program.json", tmp_path / "program.json.gz"
    layers.program.save(path)
    packed.write_bytes(gzip.compress(text.encode()))
    parsed = layers.program.to_dict()
    for source in (text, text.encode(), bytearray(text.encode()), path, packed, parsed):
        with dramalloc.Program.from_json(source) as again:
            assert again.to_json() == text
    assert json.loads(text) == parsed


def test_a_mistake_in_json_says_where() -> None:
    with pytest.raises(dramalloc.InvalidArgument, match="line 2"):
        dramalloc.Program.from_json('{"format": "dramalloc-program",\n oops}')


def test_views_and_parts_are_bytes_of_their_location() -> None:
    program = dramalloc.Program()
    main = program.add_module().add_function("main")
    whole = main.add_memloc("whole", 100)
    half = whole.view("half", 50)
    main.add_instruction("write", defs=[whole[0:50], half])
    main.add_instruction("read", [half[10:], whole[:10]])
    plan = program.plan(packed=True)
    at = plan.address(whole)
    assert at is not None and plan.address(half) == at + 50
    assert (half.info.root, half.info.root_offset, half.info.bytes) == (whole.id, 50, 50)
    operands = program.to_dict()["modules"][0]["functions"][0]["instructions"]
    assert operands[1]["uses"][0] == {"loc": "half", "offset": 10, "bytes": 40}
    for wrong in (slice(5, 5), slice(-1, 4), slice(0, 4, 2)):
        with pytest.raises(ValueError):
            whole[wrong]
    with pytest.raises(dramalloc.OutOfRange):
        main.add_instruction("read", [whole[0:101]])


def test_blocks_loops_calls_and_barriers() -> None:
    program = dramalloc.Program()
    module = program.add_module()
    callee = module.add_function("callee")
    given = callee.add_memloc("given", 64, usage="input")
    callee.add_instruction("use", [given])
    main = module.add_function("main")
    a, b = main.add_memloc("a", 64), main.add_memloc("b", 64)
    entry = main.add_block("entry")
    main.add_instruction("load", defs=[a])
    loop = main.add_block("loop")
    main.add_instruction("copy", [a], [b], kind="dma_copy", in_place=[(a, b)])
    main.add_instruction("run", [a], kind="call", callee="callee", args={"given": a})
    end = main.add_block("end")
    main.add_instruction("wait", kind="barrier", id=7)
    main.set_successors(entry, [loop])
    main.set_successors(loop, [loop, end])
    assert main.block_count == 3
    plan = program.plan()
    assert program.verify(plan, deep=True) == []
    assert plan[a].segments == ((0, 2),)
    written = program.to_dict()["modules"][0]["functions"][1]["blocks"]
    assert written[1]["succs"] == [1, 2]
    assert written[1]["instructions"][0]["in_place"] == [["a", "b"]]
    assert written[2]["instructions"][0]["id"] == 7


def test_every_field_of_a_location_arrives() -> None:
    program = dramalloc.Program()
    owner = program.add_module("core0", 0).add_function("main")
    owner.add_memloc("shared", 64, space="shared", reach=[0, 1, 2], cookie=5)
    owner.add_memloc("state", elements=(10, 4), memory="sbuf", align=64, partition=3, bank=2)
    owner.add_memloc("result", 8, usage="output", escapes=True)
    follower = program.add_module("core1", 1).add_function("main")
    follower.add_memloc("shared", 64, space="shared", remote=(0, "shared"))
    modules = program.to_dict()["modules"]
    shared, state, result = modules[0]["functions"][0]["memlocs"]
    assert (shared["space"], shared["reach"], shared["x_cookie"]) == ("shared", [0, 1, 2], 5)
    assert (state["elem_count"], state["elem_size"], state["memory"]) == (10, 4, "sbuf")
    assert state["align"] == 64
    assert (result["usage"], result["escapes"]) == ("output", True)
    assert modules[1]["functions"][0]["memlocs"][0]["remote"] == {"core": 0, "name": "shared"}
    info = owner.memloc("state").info
    assert (info.partition, info.bank, info.memory) == (3, 2, dramalloc.Memory.SBUF)


def test_many_at_once_are_the_same_as_one_by_one(layers: TwoLayers) -> None:
    program = dramalloc.Program("two layers")
    main = program.add_module("core0", 0).add_function("main")
    main.add_memloc("w", 1 << 20, usage="weight", pin=0)
    x, y, z = main.add_memlocs([65536] * 3, names=["x", "y", "z"])
    assert (x, y, z) == tuple(main.memlocs[1:])
    first = main.add_instructions(
        use_starts=[0, 0, 2, 4, 5],
        uses=[x.id, 0, y.id, 0, z.id],
        def_starts=[0, 1, 2, 3, 3],
        defs=[x.id, y.id, z.id],
        op_table=["load", "matmul", "store"],
        ops=[0, 1, 1, 2],
        engines=[0, 0, 1, 0],
    )
    assert first == 0
    assert program.to_json() == layers.program.to_json()
    second = main.add_instructions(
        [0, 1], [x.id], [0, 1], [y.id], use_offsets=[8], use_bytes=[4], def_bytes=[4],
        kinds=[dramalloc.Kind.DMA_COPY], in_place_starts=[0, 1], in_place=[(x.id, y.id)],
    )  # fmt: skip
    assert second == 4
    last = program.to_dict()["modules"][0]["functions"][0]["instructions"][4]
    assert last["uses"] == [{"loc": "x", "offset": 8, "bytes": 4}]
    assert (last["kind"], last["in_place"]) == ("dma_copy", [["x", "y"]])
    mistakes: list[dict[str, Any]] = [
        {"uses": []},
        {"def_starts": [0]},
        {"defs": [y.id, z.id]},
        {"in_place": [(0, 0)], "in_place_starts": [0, 0]},
    ]
    for wrong in mistakes:
        columns: Any = {"use_starts": [0, 1], "uses": [x.id], "def_starts": [0, 1], "defs": [y.id]}
        with pytest.raises(ValueError):
            main.add_instructions(**(columns | wrong))
    with pytest.raises(dramalloc.OutOfRange):
        main.add_instructions([0, 1], [99], [0, 0], [])
    with pytest.raises(ValueError, match="names has 1 entries, not 2"):
        main.add_memlocs([1, 2], names=["one"])
    assert (len(main), main.instruction_count) == (4, 5)


def test_the_verifier_says_what_is_wrong(layers: TwoLayers) -> None:
    broken = layers.program.plan().to_dict()
    placed = broken["modules"][0]["functions"][0]["memlocs"]
    at = {memloc["name"]: memloc for memloc in placed}
    at["x"]["address"] = at["y"]["address"] = at["z"]["address"] = 1 << 20
    found = layers.program.verify(dramalloc.Plan.from_json(broken))
    overlaps = [violation for violation in found if violation.kind == "overlap"]
    assert {frozenset(at.locations) for at in overlaps} == {frozenset("xy"), frozenset("yz")}
    assert {(at.function, at.core) for at in overlaps} == {("main", 0)}
    assert all(at.message for at in found)


def test_only_deep_verification_misses_an_order_that_a_plan_lacks(layers: TwoLayers) -> None:
    lacking = layers.program.plan().to_dict()
    lacking["dependences"] = []  # Two engines, and z lies where x did.
    plan = dramalloc.Plan.from_json(lacking)
    assert layers.program.verify(plan) == []
    assert layers.program.verify(plan, deep=True) != []


def test_races_of_the_program_are_notes_not_violations() -> None:
    program = dramalloc.Program()
    for core in range(2):
        main = program.add_module(f"core{core}", core).add_function("main")
        for name in "st":
            remote = None if core == 0 else (0, name)
            shared = main.add_memloc(name, 64, space="shared", remote=remote)
            main.add_instruction("write", defs=[shared])
            main.add_instruction("read", [shared])
    plan = program.plan()
    assert plan.digest
    races = program.races(plan)
    assert [(race.kind, race.locations) for race in races] == [("race", ("s",)), ("race", ("t",))]
    report = program.verify(plan, deep=True)
    assert report == []
    assert [note.partition(":")[0] for note in report.notes] == ["race", "race"]


def test_budgets_add_up(layers: TwoLayers) -> None:
    plan = layers.program.plan(preset="trn1")
    usage = layers.program.hbm_usage(plan, extra=100)
    assert usage.capacity == 16 << 30
    assert usage.verdict is dramalloc.Verdict.FITS
    parts = usage.weights + usage.private_bytes + usage.extra + usage.unused
    assert usage.needed == parts
    pressure = layers.program.pressure(plan, core=0)
    assert (pressure.core, pressure.function, pressure.instruction) == (0, 0, 1)
    assert layers.program.pressure(plan).core is None
    assert layers.program.races(plan) == []


def test_a_module_allocates_and_splits(layers: TwoLayers) -> None:
    plan = layers.module.allocate(strategy="best")
    assert layers.z.address == plan.address(layers.z)
    assert layers.module.metric("hwm") == plan.metric("hwm")
    assert layers.module.attribute(11) == 1
    layers.module.split(2)
    assert [module.core for module in layers.program.modules] == [0, 1]


def test_notes_are_logged() -> None:
    heard: list[tuple[dramalloc.LogLevel, str]] = []
    program = dramalloc.Program(
        log=lambda level, text: heard.append((level, text)), log_level=dramalloc.LogLevel.INFO
    )
    main = program.add_module().add_function("main")
    main.add_instruction("use", [main.add_memloc("never written", 64)])
    program.plan()
    assert any("never written" in text for _, text in heard)
    assert {level for level, _ in heard} <= set(dramalloc.LogLevel)


def test_the_example_of_the_repository_is_planned() -> None:
    path = repository_file("examples/decoder_layers.program.json")
    with dramalloc.Program.from_json(path) as program, program.plan() as plan:
        assert program.verify(plan) == []
        assert plan.peak >= plan.lower_bound
