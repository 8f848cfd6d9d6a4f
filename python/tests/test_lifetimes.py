"""Errors, handles and callbacks: what is closed is refused, what is raised arrives."""

from __future__ import annotations

import gc
import os
import pathlib
import shutil
import subprocess
import sys
import threading
from typing import Any

import pytest
from conftest import TwoLayers

import dramalloc
from dramalloc import _library, errors
from dramalloc._call import call
from dramalloc._native import ffi, lib, sized


def test_what_is_closed_is_refused_by_every_call(layers: TwoLayers) -> None:
    plan = layers.program.plan()
    layers.program.close()
    layers.program.close()
    uses: list[Any] = [
        layers.program.to_json,
        layers.program.plan,
        lambda: layers.program.modules,
        lambda: layers.module.name,
        lambda: layers.module.functions,
        lambda: layers.main.name,
        lambda: layers.main.add_memloc("late", 1),
        lambda: layers.z.address,
        lambda: plan.addresses(layers.main),
        lambda: layers.program.apply(plan),
    ]
    for use in uses:
        with pytest.raises(dramalloc.InvalidArgument):
            use()
    plan.close()
    with pytest.raises(dramalloc.InvalidArgument):
        _ = plan.peak
    assert repr(plan) == "<Plan, closed>"


def test_a_with_block_closes() -> None:
    with dramalloc.Program("short") as program:
        module = program.add_module()
    with pytest.raises(dramalloc.InvalidArgument):
        _ = module.name
    with dramalloc.Cancel() as cancel:
        assert not cancel.is_set
        cancel.set()
        assert cancel.is_set
    with pytest.raises(dramalloc.InvalidArgument):
        cancel.set()


def test_children_keep_their_program_alive() -> None:
    main = dramalloc.Program("p").add_module().add_function("main")
    gc.collect()
    assert main.name == "main"
    assert main.add_memloc("x", 1).function.program.modules[0].name == ""


def test_the_last_reference_frees() -> None:
    program = dramalloc.Program("p")
    raw = program._raw
    del program
    gc.collect()
    with pytest.raises(dramalloc.InvalidArgument):
        call("dram_program_module_count", raw, ffi.new("uint32_t *"))


def test_handles_of_another_kind_are_refused(layers: TwoLayers) -> None:
    wrong: Any = layers.program
    with pytest.raises(dramalloc.InvalidArgument):
        call("dram_plan_get", ffi.cast("dram_plan *", wrong._raw), ffi.NULL)


def test_an_error_is_what_python_programs_expect(layers: TwoLayers) -> None:
    with pytest.raises(LookupError) as missing:
        layers.main.memloc("nobody")
    assert isinstance(missing.value, dramalloc.NotFound)
    assert missing.value.status is dramalloc.Status.NOT_FOUND
    with pytest.raises(ValueError) as twice:
        layers.main.add_memloc("x", 1)
    assert isinstance(twice.value, dramalloc.AlreadyExists)
    with pytest.raises(dramalloc.AlreadyExists):
        layers.program.add_module("again", 0)
    with pytest.raises(TypeError, match="str"):
        layers.main.add_memloc(b"bytes", 1)  # type: ignore[arg-type]


def test_an_error_has_its_place() -> None:
    program = dramalloc.Program()
    main = program.add_module("m", 3).add_function("main")
    with pytest.raises(dramalloc.InvalidArgument) as caught:
        main.add_memloc("dynamic", None)
    place = caught.value.place
    assert (place.function, place.location, place.core) == ("main", "dynamic", 3)
    assert caught.value.message == str(caught.value)
    assert caught.value.no_room is None


def test_an_error_of_the_library_is_freed() -> None:
    error = ffi.new("dram_error **")
    status = lib.dram_program_module_count(ffi.NULL, ffi.NULL, error)
    assert lib.dram_error_code(error[0]) == status
    assert isinstance(errors.take(status, error[0]), dramalloc.InvalidArgument)
    assert "error" in ffi.string(lib.dram_error_message(error[0])).decode()
    assert lib.dram_error_get(error[0], sized("dram_error_info")) != dramalloc.Status.OK


def test_no_room_names_the_holders(layers: TwoLayers) -> None:
    capacity = (1 << 20) + 65536
    with pytest.raises(dramalloc.ResourceExhausted) as caught:
        layers.program.plan(capacity=capacity)
    no_room = caught.value.no_room
    assert no_room is not None
    assert no_room.location in ("x", "y", "z")
    assert (no_room.bytes, no_room.capacity) == (65536, capacity)
    assert no_room.holders
    assert {holder.location for holder in no_room.holders} <= {"w", "x", "y", "z"}
    assert no_room.deficit > 0
    # A failed call changes nothing.
    assert layers.z.address is None


def big_problem() -> dict[str, Any]:
    count = 3000
    lower = [(i * 7919) % 1000 for i in range(count)]
    upper = [at + 1 + (i * 104729) % 97 for i, at in enumerate(lower)]
    size = [1 + (i * 1299709) % 4093 for i in range(count)]
    return {"lower": lower, "upper": upper, "size": size}


def test_progress_is_reported() -> None:
    seen: list[dramalloc.Progress] = []
    solution = dramalloc.solve(
        **big_problem(), strategy="best", budget_steps=3000, progress=seen.append
    )
    assert seen
    incumbents = [at.incumbent for at in seen if at.incumbent is not None]
    assert min(incumbents) == solution.peak
    assert {at.phase for at in seen} and all(at.phase for at in seen)


class Stop(Exception):
    """What a callback raises."""


def test_what_a_callback_raises_stops_the_run_and_arrives(layers: TwoLayers) -> None:
    calls = 0

    def raises(progress: dramalloc.Progress) -> None:
        nonlocal calls
        calls += 1
        raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        # Nothing but the callback ends it.
        dramalloc.solve(
            **big_problem(), strategy="best", budget_steps=2**64 - 1, progress=raises
        )
    assert calls == 1
    calls = 0

    def shared(core: int, function: str, memloc: int, cookie: int) -> bool:
        nonlocal calls
        calls += 1
        raise Stop("shared")

    with pytest.raises(Stop, match="shared"):
        layers.program.plan(shared=shared)
    assert calls == 1  # Not for each location.
    with pytest.raises(Stop, match="enough"):
        layers.program.plan(strategy="best", progress=raises)
    # Nothing is left behind.
    assert layers.program.verify(layers.program.plan()) == []


def test_a_run_is_cancelled_from_another_thread() -> None:
    cancel, begun = dramalloc.Cancel(), threading.Event()

    def stop() -> None:
        begun.wait()
        cancel.set()

    def told(progress: dramalloc.Progress) -> None:
        if progress.incumbent is not None:
            begun.set()

    threading.Thread(target=stop).start()
    solution = dramalloc.solve(
        **big_problem(),
        strategy="best",
        budget_steps=2**64 - 1,
        cancel=cancel,
        progress=told,
    )
    assert cancel.is_set
    assert solution.peak >= solution.bound


def test_a_set_flag_stops_at_once(layers: TwoLayers) -> None:
    cancel = dramalloc.Cancel()
    cancel.set()
    with pytest.raises(dramalloc.Cancelled):
        layers.program.plan(cancel=cancel)
    plan = layers.program.plan()
    for deep in (False, True):
        with pytest.raises(dramalloc.Cancelled):
            layers.program.verify(plan, deep=deep, cancel=cancel)


def test_a_callback_may_call_the_library(layers: TwoLayers) -> None:
    inner: list[int] = []
    layers.program.plan(progress=lambda _: inner.append(dramalloc.solve([0], [1], [8]).peak))
    assert set(inner) == {8}


def test_threads_plan_side_by_side(layers: TwoLayers) -> None:
    peaks: list[int] = []
    threads = [
        threading.Thread(target=lambda: peaks.append(layers.program.plan(strategy="best").peak))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(peaks) == 8 and len(set(peaks)) == 1


def test_another_library_may_be_loaded(tmp_path: pathlib.Path) -> None:
    assert _library.__file__ is not None
    (bundled,) = pathlib.Path(_library.__file__).parent.glob("*.so")
    copy = tmp_path / "other.so"
    shutil.copy(bundled, copy)
    script = "import dramalloc; print(open('/proc/self/maps').read())"
    environment = {**os.environ, "DRAMALLOC_LIBRARY": str(copy)}
    tested = pathlib.Path(dramalloc.__file__).parents[1]  # Where -c looks for modules first.
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tested, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert str(copy) in done.stdout
    environment["DRAMALLOC_LIBRARY"] = str(tmp_path / "missing.so")
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tested, env=environment, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "missing.so" in done.stderr
