"""The benchmark of the package omnimalloc runs dramalloc as one of its allocators."""

from __future__ import annotations

import pytest

pytest.importorskip("omnimalloc", reason="omnimalloc is not installed: pip install omnimalloc")

import omnimalloc
from omnimalloc.benchmark import run_benchmark

import dramalloc.omnimalloc as ours


def test_its_own_runner_validates_our_placements() -> None:
    campaign = run_benchmark(
        allocators=("dramalloc", "dramalloc_best", "greedy_by_size"),
        sources=("random", "pinwheel"),
        variants={"random": (300,)},
        validate=True,
    )
    peaks = {
        (report.source_name, report.allocator_name): report.mean_peak_size
        for report in campaign.reports
    }
    assert len(peaks) == 6
    assert not campaign.metadata["skipped_allocators"]
    for source in ("random", "pinwheel"):
        best, fast = peaks[source, "dramalloc_best"], peaks[source, "dramalloc"]
        assert best <= fast <= peaks[source, "greedy_by_size"]
    for report in campaign.reports:
        assert report.lower_bound is None or report.mean_peak_size >= report.lower_bound


def test_pins_stay_and_clocks_of_several_threads_are_refused() -> None:
    pinned = omnimalloc.Allocation("pinned", 64, 0, 4, 128)
    free = omnimalloc.Allocation("free", 256, 0, 4)
    placed = ours.DramallocAllocator().allocate((pinned, free))
    assert {allocation.id: allocation.offset for allocation in placed} == {"pinned": 128, "free": 192}
    threads = omnimalloc.Allocation("threads", 64, (0, 0), (1, 1))
    with pytest.raises(ValueError, match="requires scalar"):
        ours.DramallocAllocator().allocate((threads,))


def test_a_time_limit_is_checked() -> None:
    assert repr(ours.DramallocBestAllocator(1.5)) == "DramallocBestAllocator(timeout=1.5)"
    with pytest.raises(ValueError):
        ours.DramallocBestAllocator(0)
