"""What a verifier has found: violations, in a list that is empty for a proven plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import errors
from ._call import Handle, call
from ._native import ffi, record, sized, string


@dataclass(frozen=True)
class Violation:
    """Something wrong with a plan."""

    kind: str
    """A word that stays: `overlap`, `moved_pin`, `misaligned`, ..."""
    message: str
    function: str
    """Empty if it concerns none."""
    core: int | None
    """None if it concerns none."""
    locations: tuple[str, ...]


class Report(list[Violation]):
    """Violations, and notes: races of the program itself, and what could not be covered."""

    def __init__(self, violations: list[Violation], notes: list[str]) -> None:
        super().__init__(violations)
        self.notes = notes


def read(raw: Any) -> Report:
    """Everything that a C report says; frees it."""
    with Handle(raw, "dram_report_free"):
        count = ffi.new("uint32_t *")
        call("dram_report_count", raw, count)
        return Report([_violation(raw, i) for i in range(count[0])], list(_notes(raw)))


def _violation(report: Any, position: int) -> Violation:
    violation = sized("dram_violation")
    call("dram_report_violation", report, position, violation)
    names = []
    for location in range(violation.location_count):
        out = ffi.new("dram_str *")
        call("dram_report_location", report, position, location, out)
        names.append(string(out))
    return record(Violation, violation, locations=tuple(names))


def _notes(report: Any) -> Iterator[str]:
    position, out = 0, ffi.new("dram_str *")
    while True:
        try:
            call("dram_report_note", report, position, out)
        except errors.OutOfRange:  # Past the last one; a report does not say how many there are.
            return
        yield string(out)
        position += 1
