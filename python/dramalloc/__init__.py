"""dramalloc: the DRAM allocator of an accelerator compiler's back end.

    import dramalloc

    program = dramalloc.Program("example")
    main = program.add_module("core0").add_function("main")
    x = main.add_memloc("x", 65536)
    main.add_instruction("load", defs=[x])
    plan = program.plan()
    assert not program.verify(plan)

    solution = dramalloc.solve(lower=[0, 1], upper=[2, 3], size=[64, 32])

What each call means is said in `dramalloc.h`, whose functions these are. Calls on distinct objects
are independent and may run on different threads; the interpreter's lock is released meanwhile.
"""

from ._native import NO_ADDRESS, version
from .drawing import Drawing
from .errors import (
    AlreadyExists,
    Cancelled,
    DeadlineExceeded,
    Error,
    FailedPrecondition,
    Holder,
    InternalError,
    InvalidArgument,
    NoRoom,
    NotFound,
    OutOfRange,
    Place,
    ResourceExhausted,
    Status,
    Unimplemented,
)
from .explaining import Telling
from .function import Bytes, Function, Kind, MemLoc, MemLocInfo, Memory
from .interval_tree import IntervalTree
from .options import (
    Cancel,
    Floor,
    Geometry,
    PlanOptions,
    Preset,
    Progress,
    Region,
    Space,
    Strategy,
    Usage,
)
from .pipeline import Pass, Pipeline, PipelineOptions, Run
from .plan import (
    Dependence,
    DependenceKind,
    Edge,
    Live,
    Plan,
    Planned,
    PlanStatus,
    Skipped,
    SpaceInfo,
    Straddler,
)
from .problem import Solution, solve
from .program import HbmUsage, LogLevel, Module, Pressure, Program, Verdict
from .report import Report, Violation

__version__ = version()

__all__ = [
    "NO_ADDRESS",
    "AlreadyExists",
    "Bytes",
    "Cancel",
    "Cancelled",
    "DeadlineExceeded",
    "Dependence",
    "DependenceKind",
    "Drawing",
    "Edge",
    "Error",
    "FailedPrecondition",
    "Floor",
    "Function",
    "Geometry",
    "HbmUsage",
    "Holder",
    "InternalError",
    "IntervalTree",
    "InvalidArgument",
    "Kind",
    "Live",
    "LogLevel",
    "MemLoc",
    "MemLocInfo",
    "Memory",
    "Module",
    "NoRoom",
    "NotFound",
    "OutOfRange",
    "Pass",
    "Pipeline",
    "PipelineOptions",
    "Place",
    "Plan",
    "PlanOptions",
    "PlanStatus",
    "Planned",
    "Preset",
    "Pressure",
    "Program",
    "Progress",
    "Region",
    "Report",
    "ResourceExhausted",
    "Run",
    "Skipped",
    "Solution",
    "Space",
    "SpaceInfo",
    "Status",
    "Straddler",
    "Strategy",
    "Telling",
    "Unimplemented",
    "Usage",
    "Verdict",
    "Violation",
    "solve",
    "version",
]
