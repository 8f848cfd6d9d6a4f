"""Plans explained, compared and drawn."""

from __future__ import annotations

import html
import pathlib
import re
import xml.etree.ElementTree

import pytest
from conftest import TwoLayers

import dramalloc


def test_an_explanation_is_text_with_its_data(layers: TwoLayers) -> None:
    plan = layers.program.plan()
    told = plan.explain(layers.program)
    assert repr(told) == told == str(told)
    assert "peak" in told
    assert told.data["peak"] == plan.peak
    (space,) = told.data["spaces"]
    assert sum(space["parts"].values()) == space["peak"]
    few = plan.explain(layers.program, top=1)
    assert len(few) < len(told)


def test_a_difference_is_told_from_before_to_after(layers: TwoLayers) -> None:
    before = layers.program.plan()
    grown = layers.program.to_dict()
    memlocs = grown["modules"][0]["functions"][0]["memlocs"]
    next(memloc for memloc in memlocs if memloc["name"] == "y")["bytes"] = 2 * 65536
    later = dramalloc.Program.from_json(grown)
    after = later.plan()
    told = before.diff(layers.program, after, later)
    assert told.data["before"]["peak"] == before.peak
    assert told.data["after"]["peak"] == after.peak == before.peak + 65536
    assert "y" in told
    same = before.diff(layers.program, before)
    assert {space["peak_change"] for space in same.data["spaces"]} == {0}
    with pytest.raises(dramalloc.FailedPrecondition):
        before.explain(later)


def test_a_drawing_is_a_page_a_picture_and_a_map(
    layers: TwoLayers, tmp_path: pathlib.Path
) -> None:
    drawing = layers.program.plan().draw(layers.program, title="Two & <three>")
    page, picture, drawn = drawing.html(), drawing.svg(), drawing.text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "Two &amp; &lt;three&gt;" in page
    xml.etree.ElementTree.fromstring(picture)
    assert str(drawing) == drawn
    for name, expected in (("p.html", page), ("p.svg", picture), ("p.txt", drawn)):
        drawing.save(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == expected
    with pytest.raises(ValueError, match=r"\.html, \.htm, \.svg, \.txt"):
        drawing.save("plan.png")


def test_a_notebook_shows_it_in_a_frame_that_reaches_nothing(layers: TwoLayers) -> None:
    drawing = layers.program.plan().draw(layers.program)
    shown = drawing._repr_html_()
    frame = re.fullmatch(r'<iframe sandbox="allow-scripts" srcdoc="([^"]*)" style="[^"]*"></iframe>', shown)
    assert frame is not None
    assert html.unescape(frame[1]) == drawing.html()
    assert drawing._repr_svg_() == drawing.svg()


def test_a_large_picture_is_left_out_of_a_notebook(
    layers: TwoLayers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dramalloc.drawing._LARGE_SVG", 100)
    assert layers.program.plan().draw(layers.program)._repr_svg_() is None


def test_what_is_drawn_can_be_chosen(layers: TwoLayers) -> None:
    program, plan = layers.program, layers.program.plan()
    assert 'viewBox="0 0 900 700"' in plan.draw(program, width=900, height=700).svg()
    assert plan.draw(program, core=0, space="local").svg() != ""
    two = plan.draw(program, beside=program.plan(strategy="reference"), beside_title="the other")
    assert "the other" in two.html()
    with pytest.raises(ValueError, match="Space"):
        plan.draw(program, space="remote")  # type: ignore[arg-type]
    with pytest.raises(dramalloc.InvalidArgument):
        plan.draw(program, width=10**6).svg()
    program.close()
    with pytest.raises(dramalloc.InvalidArgument):
        two.html()
