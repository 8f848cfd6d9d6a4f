"""What a plan looks like: a page for the browser and the notebook, a picture for documents, a map for
the terminal.

A drawing is made when it is asked for, by the library; the program must then still be what it was.
The same plan gives the same bytes everywhere.
"""

from __future__ import annotations

import enum
import html
import os
import pathlib
from typing import TYPE_CHECKING

from ._call import written
from ._native import Given, lib, sized
from .options import Space, SpaceName, one_of

if TYPE_CHECKING:
    from .plan import Plan
    from .program import Program

# A notebook keeps the page and the picture of what it shows; a picture this large only once.
_LARGE_SVG = 1 << 20


class DrawFormat(enum.IntEnum):
    """What a plan is drawn as."""

    HTML = lib.DRAM_DRAW_FORMAT_HTML
    SVG = lib.DRAM_DRAW_FORMAT_SVG
    ASCII = lib.DRAM_DRAW_FORMAT_ASCII


_FORMAT_OF_SUFFIX = {
    ".html": DrawFormat.HTML,
    ".htm": DrawFormat.HTML,
    ".svg": DrawFormat.SVG,
    ".txt": DrawFormat.ASCII,
}


class Drawing:
    """A plan, drawn: `html`, `svg`, `text`, `save`; the last value of a notebook's cell shows it."""

    def __init__(
        self,
        program: Program,
        plan: Plan,
        *,
        title: str = "",
        beside: Plan | None = None,
        beside_program: Program | None = None,
        beside_title: str = "",
        width: int = 0,
        height: int = 0,
        core: int | None = None,
        space: SpaceName | None = None,
    ) -> None:
        self._program, self._plan = program, plan
        self._beside, self._beside_program = beside, beside_program
        self._titles = title, beside_title
        self._size = width, height
        self._core = core
        self._space = None if space is None else one_of(Space, space)

    def _drawn(self, format: DrawFormat) -> str:
        given, options = Given(), sized("dram_draw_options")
        options.format = format
        options.title, options.beside_title = (given.text(title) for title in self._titles)
        options.width, options.height = self._size
        options.core = 0 if self._core is None else 1 + self._core
        options.space = 0 if self._space is None else 1 + self._space
        if self._beside is not None:
            options.beside_plan = self._beside._raw
        if self._beside_program is not None:
            options.beside_program = self._beside_program._raw
        return written("dram_plan_draw", self._program._raw, self._plan._raw, options)

    def html(self) -> str:
        """A page in one file, which a browser shows without a network."""
        return self._drawn(DrawFormat.HTML)

    def svg(self) -> str:
        """A picture for documents."""
        return self._drawn(DrawFormat.SVG)

    def text(self) -> str:
        """A map for the terminal."""
        return self._drawn(DrawFormat.ASCII)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file, in the format that its name says: `.html`, `.svg` or `.txt`."""
        suffix = pathlib.Path(path).suffix.lower()
        if suffix not in _FORMAT_OF_SUFFIX:
            raise ValueError(f"{path} ends in none of {', '.join(_FORMAT_OF_SUFFIX)}")
        drawn = self._drawn(_FORMAT_OF_SUFFIX[suffix])
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(drawn)

    def _repr_html_(self) -> str:
        """The page in a frame of its own: it can run its scripts, and reach nothing of the notebook."""
        height = self._size[1] or 600
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(self.html())}" '
            f'style="width: 100%; height: {height}px; border: 0"></iframe>'
        )

    def _repr_svg_(self) -> str | None:
        drawn = self.svg()
        return drawn if len(drawn) < _LARGE_SVG else None

    def __str__(self) -> str:
        return self.text()
