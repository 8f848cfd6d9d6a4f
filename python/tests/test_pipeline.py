"""Pipelines, and modules of several programs that are brought to agreement."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import TwoLayers

import dramalloc
from dramalloc import pipeline


def one_core(core: int) -> dramalloc.Module:
    """A module of a program of its own, with one location that core 0 owns."""
    module = dramalloc.Program(f"core {core}").add_module(f"core{core}", core)
    main = module.add_function("main")
    remote = None if core == 0 else (0, "shared")
    shared = main.add_memloc("shared", 8192, space="shared", remote=remote)
    private = main.add_memloc("private", 4096)
    main.add_instruction("meet", kind="barrier", id=1)
    main.add_instruction("write", defs=[shared, private])
    main.add_instruction("meet", kind="barrier", id=2)
    main.add_instruction("read", uses=[shared, private])
    return module


def test_a_pipeline_runs_its_passes(layers: TwoLayers) -> None:
    with dramalloc.Pipeline(verify_each=True, verify_deep=True) as passes:
        run = passes.run(layers.program, strategy="best")
        assert [done.name for done in run.passes] == passes.passes
        assert "coloring_allocator_dram" in passes.passes
    assert any(done.verified for done in run.passes)
    assert all(done.took_ns >= 0 for done in run.passes)
    assert layers.z.address == run.plan.address(layers.z)
    assert run.plan.edges
    assert not run.rotated
    assert (run.copies_elided, layers.main.elided) == (0, [])
    with pytest.raises(dramalloc.InvalidArgument):
        passes.run(layers.program)


def test_a_copy_onto_itself_is_marked() -> None:
    program = dramalloc.Program()
    main = program.add_module().add_function("main")
    a, b = main.add_memlocs([4096, 4096], names=["a", "b"])
    main.add_instruction("load", defs=[a])
    main.add_instruction("copy", [a], [b], kind="dma_copy", in_place=[(a, b)])
    main.add_instruction("store", [b])
    run = dramalloc.Pipeline().run(program)
    assert a.address == b.address
    assert (run.copies_elided, main.elided) == (1, [1])


def test_a_failed_pass_is_named(layers: TwoLayers) -> None:
    with pytest.raises(dramalloc.ResourceExhausted) as caught:
        dramalloc.Pipeline().run(layers.program, capacity=(1 << 20) + 4096)
    assert caught.value.pass_name == "coloring_allocator_dram"
    assert layers.z.address is None


def test_wrong_switches_are_refused() -> None:
    wrong: Any = {"rotate": True}
    with pytest.raises(TypeError, match="there is no option 'rotate'"):
        dramalloc.Pipeline(**wrong)
    assert "lnc_splitter" in dramalloc.Pipeline(cores=2).passes


def test_modules_of_several_programs_agree() -> None:
    modules = [one_core(core) for core in range(2)]
    plan = pipeline.allocate(modules, "shared")
    copies = [module.function("main").memloc("shared") for module in modules]
    assert copies[0].address == plan.address(copies[0])
    assert pipeline.verify_cores(modules) != []  # The follower has no address yet.
    done = pipeline.sync_shared_allocations(modules)
    assert (done.groups, done.assigned) == (1, 1)
    assert copies[1].address == copies[0].address
    assert pipeline.sync_shared_allocations(modules).assigned == 0
    pipeline.allocate(modules, dramalloc.Space.LOCAL)
    assert pipeline.verify_cores(modules) == []
    digests = pipeline.digests(modules)
    assert digests == {0: done.digest, 1: done.digest}
    pipeline.check_digests(digests)
    with pytest.raises(dramalloc.FailedPrecondition, match="1"):
        pipeline.check_digests({0: done.digest, 1: "0" * 32})
