"""Why a plan is as high as it is, and what is different between two."""

from __future__ import annotations

import enum
import json
from typing import TYPE_CHECKING, Any

from ._call import written
from ._native import lib, sized

if TYPE_CHECKING:
    from .plan import Plan
    from .program import Program


class ReportFormat(enum.IntEnum):
    """How a report is written."""

    TEXT = lib.DRAM_REPORT_FORMAT_TEXT
    JSON = lib.DRAM_REPORT_FORMAT_JSON


class Telling(str):
    """Text for people, which a prompt or a notebook shows as it is; `data` is what it says, for
    programs."""

    data: dict[str, Any]

    def __new__(cls, text: str, data: dict[str, Any]) -> Telling:
        telling = super().__new__(cls, text)
        telling.data = data
        return telling

    def __repr__(self) -> str:
        return str(self)


def _told(name: str, struct: str, handles: tuple[Any, ...], top: int, spaces: int) -> Telling:
    options = sized(struct)
    options.top, options.spaces = top, spaces
    options.format = ReportFormat.TEXT
    text = written(name, *handles, options)
    options.format = ReportFormat.JSON
    return Telling(text, json.loads(written(name, *handles, options)))


def explain(program: Program, plan: Plan, top: int, spaces: int) -> Telling:
    handles = program._raw, plan._raw
    return _told("dram_plan_explain", "dram_explain_options", handles, top, spaces)


def diff(
    before_program: Program, before: Plan, program: Program, after: Plan, top: int, spaces: int
) -> Telling:
    handles = before_program._raw, before._raw, program._raw, after._raw
    return _told("dram_plan_diff", "dram_diff_options", handles, top, spaces)
