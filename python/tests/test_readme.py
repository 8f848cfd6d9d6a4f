"""The examples of the README run, in its order, one after the other."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(kind: str) -> list[tuple[int, str]]:
    """The blocks of a kind: the line that each begins at, and its code."""
    text = README.read_text(encoding="utf-8")
    return [
        (text[: block.start("code")].count("\n"), block["code"])
        for block in BLOCK.finditer(text)
        if block["kind"] == kind
    ]


def run(kind: str) -> None:
    names: dict[str, Any] = {"__name__": "readme"}
    found = blocks(kind)
    assert found
    for line, code in found:
        exec(compile("\n" * line + code, str(README), "exec"), names)


def test_every_block_is_of_a_kind_that_is_run_or_is_a_command() -> None:
    kinds = {block["kind"] for block in BLOCK.finditer(README.read_text(encoding="utf-8"))}
    assert kinds == {"python", "python omnimalloc", "sh"}


def test_the_examples_run(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # Where they write their files.
    pytest.importorskip("numpy", reason="numpy is not installed")
    run("python")


def test_the_example_with_omnimalloc_runs() -> None:
    pytest.importorskip("omnimalloc", reason="omnimalloc is not installed: pip install omnimalloc")
    run("python omnimalloc")
