"""What several tests use."""

from __future__ import annotations

import pathlib

import pytest

import dramalloc

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def repository_file(path: str) -> pathlib.Path:
    """A file of the repository; skips the test where the package is tested without it."""
    file = REPOSITORY / path
    if not file.exists():
        pytest.skip(f"there is no {path} here")
    return file


class TwoLayers:
    """A pinned weight, and three locations of which the last can lie where the first did."""

    def __init__(self) -> None:
        self.program = dramalloc.Program("two layers")
        self.module = self.program.add_module("core0", 0)
        self.main = self.module.add_function("main")
        self.w = self.main.add_memloc("w", 1 << 20, usage="weight", pin=0)
        self.x = self.main.add_memloc("x", 65536)
        self.y = self.main.add_memloc("y", 65536)
        self.z = self.main.add_memloc("z", 65536)
        self.main.add_instruction("load", defs=[self.x])
        self.main.add_instruction("matmul", [self.x, self.w], [self.y])
        self.main.add_instruction("matmul", [self.y, self.w], [self.z], engine=1)
        self.main.add_instruction("store", [self.z])


@pytest.fixture
def layers() -> TwoLayers:
    return TwoLayers()
