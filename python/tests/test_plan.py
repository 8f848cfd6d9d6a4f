"""Plans: what they say, and every option that shapes one."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
from conftest import TwoLayers

import dramalloc


def test_a_plan_says_where_everything_lies(layers: TwoLayers) -> None:
    plan = layers.program.plan()
    addresses = plan.addresses(layers.main)
    assert addresses == [plan.address(memloc) for memloc in layers.main.memlocs]
    w, z = plan[layers.w], plan[layers.z]
    assert (w.pinned, w.address, w.name) == (True, 0, "w")
    assert (z.bytes, z.aligned, z.segments, z.owner_core) == (65536, 65536, ((2, 3),), None)
    assert plan.load(layers.main) == [65536, 131072, 131072, 65536]
    live = plan.live(layers.main, extra=7)
    assert [at.private_bytes for at in live] == plan.load(layers.main)
    assert {(at.weights, at.extra) for at in live} == {(1 << 20, 7)}
    assert plan.device_live(layers.main) == plan.live(layers.main)


def test_a_plan_says_how_good_it_is(layers: TwoLayers) -> None:
    plan = layers.program.plan(strategy="best")
    assert plan.status is dramalloc.PlanStatus.OPTIMAL
    assert plan.strategy is dramalloc.Strategy.BEST
    assert plan.digest == ""
    (space,) = plan.spaces
    assert (space.space, space.core, space.capacity) == (dramalloc.Space.LOCAL, 0, None)
    assert (space.floor, space.peak) == (1 << 20, plan.peak)
    assert plan.metric("hwm") == plan.peak
    with pytest.raises(dramalloc.NotFound):
        plan.metric("no such metric")
    assert repr(plan) == f"<Plan optimal, peak {plan.peak}, bound {plan.peak}>"


def test_notes_are_listed() -> None:
    program = dramalloc.Program()
    main = program.add_module().add_function("main")
    main.add_instruction("use", [main.add_memloc("early", 64)])
    assert any("early" in note for note in program.plan().notes)
    with pytest.raises(dramalloc.Error, match="early"):
        program.plan(strict=True)


def test_a_plan_outlives_its_program_and_its_file(
    layers: TwoLayers, tmp_path: pathlib.Path
) -> None:
    plan = layers.program.plan()
    text, path = plan.to_json(), tmp_path / "plan.json"
    plan.save(path)
    for source in (text, text.encode(), path, plan.to_dict()):
        again = dramalloc.Plan.from_json(source)
        assert again.to_json() == text
        assert again.addresses(layers.main) == plan.addresses(layers.main)
        assert layers.program.verify(again) == []
    layers.program.close()
    assert plan.peak > 0
    assert plan.to_json() == text


def test_dependences_are_worked_out_where_a_plan_carries_none(layers: TwoLayers) -> None:
    plan = layers.program.plan()
    assert plan.edges is None
    found = plan.dependences(layers.main)
    # Engine 1 waits for y, and engine 0 for z.
    assert [(edge.from_, edge.to, edge.kind) for edge in found] == [
        (1, 2, dramalloc.DependenceKind.FLOW),
        (2, 3, dramalloc.DependenceKind.FLOW),
    ]
    assert {(edge.distance, edge.header) for edge in found} == {(0, None)}
    carried = plan.to_dict()
    carried["dependences"] = [
        {
            "from": {"core": 0, "function": "main", "index": 1},
            "to": {"core": 0, "function": "main", "index": 2},
            "kind": "flow",
        }
    ]
    edges = dramalloc.Plan.from_json(carried).edges
    assert edges is not None
    assert [(edge.from_, edge.to, edge.from_function, edge.to_core) for edge in edges] == [
        (1, 2, "main", 0)
    ]


MIB = 1 << 20


@pytest.mark.parametrize(
    ("options", "address_of_x"),
    [
        ({}, MIB),
        ({"floor": "hwm", "strategy": dramalloc.Strategy.REFERENCE}, MIB),
        ({"packed": True}, MIB),
        ({"align": 2 * MIB}, 2 * MIB),
        ({"regions": [dramalloc.Region(base=8 * MIB, size=MIB)]}, 8 * MIB),
        ({"regions": [dramalloc.Region(8 * MIB, MIB, "local", ("internal",))]}, 8 * MIB),
        ({"preset": "trn2", "geometry": "unified", "cc_limit": 0}, MIB),
        ({"cc_limit": -1, "trim_cc": True, "separate_functions": True}, MIB),
        ({"reuse_io": True, "shared_mib_per_core": 16, "budget_steps": 100}, MIB),
        ({"usages": ["internal"], "budget_ms": 1000, "keep": 0, "capacity": None}, MIB),
    ],
)
def test_options_arrive(layers: TwoLayers, options: Any, address_of_x: int) -> None:
    plan = layers.program.plan(**options)
    found = [plan.address(layers.x), plan.address(layers.y)]
    assert min(at for at in found if at is not None) == address_of_x


def test_the_region_for_collectives_is_limited_in_mib() -> None:
    program = dramalloc.Program()
    main = program.add_module().add_function("main")
    staged, plain = main.add_memloc("staged", 3 * MIB, usage="collective"), main.add_memloc("x", 1)
    main.add_instruction("reduce", [], [staged, plain], kind="collective")
    main.add_instruction("read", [staged, plain])

    def region(cc_limit: int | None) -> int:
        return program.plan(cc_limit=cc_limit).metric("real_cc_buffer_size")

    assert [region(limit) for limit in (None, 500, 3, 2, 0, -1)] == [
        3 * MIB, 3 * MIB, 3 * MIB, 0, 0, 3 * MIB,
    ]  # fmt: skip
    assert any("staged" in note for note in program.plan(cc_limit=2).notes)
    assert program.plan(cc_limit=0).notes == []


def test_pages_of_the_runtime_are_not_straddled_for_free() -> None:
    program = dramalloc.Program()
    main = program.add_module().add_function("main")
    large = main.add_memloc("large", 3 * MIB)
    main.add_instruction("write", defs=[large])
    plan = program.plan(runtime_page=2)
    (straddler,) = plan.straddlers
    assert (straddler.name, straddler.bytes, straddler.function) == ("large", 3 * MIB, "main")
    assert program.plan().straddlers == []


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"strategy": "slow"}, ValueError, "'fast', 'reference', 'best'"),
        ({"strategy": "FAST"}, ValueError, "Strategy"),
        ({"preset": 3}, ValueError, "Preset"),
        ({"stratgy": "fast"}, TypeError, "there is no option 'stratgy'"),
        ({"capacity": 0}, ValueError, "capacity is at least 1"),
        ({"budget_ms": -1}, ValueError, "budget_ms"),
        ({"cc_limit": -3}, ValueError, "cc_limit"),
        ({"align": 3}, dramalloc.InvalidArgument, "power of two"),
        ({"keep": -1}, OverflowError, None),
        ({"capacity": 2**64}, OverflowError, None),
        ({"capacity": 1.5}, TypeError, None),
    ],
)
def test_wrong_options_are_refused(
    layers: TwoLayers, options: Any, error: type[Exception], says: str | None
) -> None:
    with pytest.raises(error, match=says):
        layers.program.plan(**options)


def test_a_hint_keeps_addresses(layers: TwoLayers) -> None:
    before = layers.program.plan()
    new = layers.main.add_memloc("new", 4096)
    layers.main.add_instruction("more", [], [new])
    after = layers.program.plan(hint=before)
    assert [after.address(m) for m in (layers.x, layers.y, layers.z)] == [
        before.address(m) for m in (layers.x, layers.y, layers.z)
    ]


def test_what_the_cores_share_may_be_said_by_a_callback() -> None:
    program = dramalloc.Program()
    for core in range(2):
        main = program.add_module(f"core{core}", core).add_function("main")
        main.add_instruction("write", defs=[main.add_memloc("t", 4096, cookie=9)])
    asked: set[tuple[int, str, int, int]] = set()

    def shared(core: int, function: str, memloc: int, cookie: int) -> bool:
        asked.add((core, function, memloc, cookie))
        return answer

    def spaces() -> set[dramalloc.Space]:
        plan = program.plan(shared=shared)
        mains = [module.function("main") for module in program.modules]
        return {plan[main.memloc("t")].space for main in mains}

    answer = True
    assert spaces() == {dramalloc.Space.SHARED}
    assert asked == {(0, "main", 0, 9), (1, "main", 0, 9)}
    answer = False
    assert spaces() == {dramalloc.Space.LOCAL}
