"""The package says what the header says: functions, structs, enums, options."""

from __future__ import annotations

import dataclasses
import enum
import re

import pytest
from conftest import repository_file

import dramalloc
from dramalloc import _native, drawing, errors, explaining, function, options, pipeline, plan, problem, program, report
from dramalloc._native import ffi, lib

HEADER = "include/dramalloc.h"

ENUMS: dict[str, type[enum.IntEnum]] = {
    "dram_status": errors.Status,
    "dram_strategy": options.Strategy,
    "dram_preset": options.Preset,
    "dram_floor": options.Floor,
    "dram_geometry": options.Geometry,
    "dram_space": options.Space,
    "dram_usage": options.Usage,
    "dram_plan_status": plan.PlanStatus,
    "dram_skipped": plan.Skipped,
    "dram_dependence_kind": plan.DependenceKind,
    "dram_kind": function.Kind,
    "dram_memory": function.Memory,
    "dram_verdict": program.Verdict,
    "dram_draw_format": drawing.DrawFormat,
    "dram_report_format": explaining.ReportFormat,
    "dram_log_level": program.LogLevel,
}

# Each with the fields that Python says another way, or that say nothing here.
RECORDS = {
    "dram_holder": (errors.Holder, set()),
    "dram_no_room": (errors.NoRoom, {"holder_count", "conflict_count"}),
    "dram_progress": (options.Progress, set()),
    "dram_space_info": (plan.SpaceInfo, set()),
    "dram_plan_memloc": (plan.Planned, {"segment_count"}),
    "dram_dependence": (plan.Dependence, {"from"}),
    "dram_edge": (plan.Edge, {"from"}),
    "dram_straddler": (plan.Straddler, set()),
    "dram_live_size": (plan.Live, set()),
    "dram_problem_result": (problem.Solution, set()),
    "dram_hbm_usage": (program.HbmUsage, set()),
    "dram_pressure": (program.Pressure, set()),
    "dram_memloc_info": (function.MemLocInfo, {"flags"}),
    "dram_run_info": (pipeline.Run, {"pass_count"}),
    "dram_pass_info": (pipeline.Pass, {"note_count"}),
    "dram_sync_info": (pipeline.Sync, set()),
    "dram_violation": (report.Violation, {"location_count"}),
}


def test_every_function_of_the_header_is_declared_and_exported() -> None:
    header = repository_file(HEADER).read_text()
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    functions = set(re.findall(r"^\w[\w ]*[ *](dram_\w+)\(", code, flags=re.MULTILINE))
    functions -= {"dram_text"}  # Inline, for C alone.
    listed = set(repository_file("c_tests/symbols.txt").read_text().split())
    assert functions == listed
    for name in functions:
        assert callable(getattr(lib, name)), name


def test_every_constant_of_the_header_is_declared() -> None:
    header = repository_file(HEADER).read_text()
    constants = re.findall(r"^#define (DRAM_\w+) (\d+)", header, flags=re.MULTILINE)
    assert len(constants) > 5
    for name, value in constants:
        assert getattr(lib, name) == int(value), name


def test_every_enum_of_the_header_has_a_class_with_its_members() -> None:
    declared = {name for name in _types() if name.startswith("enum ")}
    flags = {"dram_memloc_flag", "dram_cc_limit", "dram_attribute", "dram_metric"}
    assert {name.removeprefix("enum ") for name in declared} - flags == set(ENUMS)
    for name, kind in ENUMS.items():
        prefix = f"{name.upper()}_"
        members = ffi.typeof(f"enum {name}").relements
        assert {k.removeprefix(prefix): v for k, v in members.items()} == {
            member.name: member.value for member in kind
        }


def _types() -> list[str]:
    typedefs, structs, unions = ffi.list_types()
    assert not unions
    header = repository_file(HEADER).read_text()
    enums = re.findall(r"^enum (dram_\w+)", header, flags=re.MULTILINE)
    return [*typedefs, *structs, *(f"enum {name}" for name in enums)]


@pytest.mark.parametrize("struct", RECORDS)
def test_a_record_has_every_field_of_its_struct(struct: str) -> None:
    kind, otherwise = RECORDS[struct]
    fields = {name for name, _ in ffi.typeof(struct).fields} - {"struct_size"}
    fields = {name for name in fields if not name.startswith("reserved")}
    assert fields - {field.name for field in dataclasses.fields(kind)} == otherwise


def test_every_option_of_the_struct_can_be_given() -> None:
    fields = {name for name, _ in ffi.typeof("dram_options").fields} - {"struct_size"}
    said_otherwise = {"usage_mask", "region_count"}
    assert fields - said_otherwise == set(dramalloc.PlanOptions.__annotations__) - {"usages"}


def test_every_switch_of_a_pipeline_can_be_given() -> None:
    fields = {name for name, _ in ffi.typeof("dram_pipeline_options").fields} - {"struct_size"}
    fields = {name for name in fields if not name.startswith("reserved")}
    assert fields == set(dramalloc.PipelineOptions.__annotations__)


def test_a_struct_of_the_package_is_as_large_as_the_library_says() -> None:
    # The library refuses a struct that is smaller than its first version, and knows its own.
    table = lib.dram_get_api(lib.DRAM_ABI_MAJOR)
    assert table.struct_size == ffi.sizeof("dram_api")
    assert (table.abi_major, table.abi_minor) == (lib.DRAM_ABI_MAJOR, lib.DRAM_ABI_MINOR)


def test_an_unknown_number_is_known_by_the_width_of_its_field() -> None:
    four_gib = 2**32 - 1
    raw = _native.sized("dram_space_info")
    raw.capacity, raw.core = four_gib, four_gib
    info = _native.record(plan.SpaceInfo, raw)
    assert info.capacity == four_gib
    assert info.core is None


def test_the_version_is_the_headers() -> None:
    assert dramalloc.__version__ == dramalloc.version()
    header = repository_file(HEADER).read_text()
    assert f'#define DRAM_VERSION_STRING "{dramalloc.version()}"' in header
