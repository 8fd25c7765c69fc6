# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: ipywidgets.
"""A slider over size and overlap, with the chunks painted anew at every move. Only in a notebook that is running.

But: a stored notebook has no kernel to ask, so it shows a line of text in place of the sliders. Say the same with
`show` at one or two settings, for those who only read.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from chunklib.core.document import Document
from chunklib.course.display import show
from chunklib.recursive import split_recursive

if TYPE_CHECKING:
    import ipywidgets

Sized = Callable[..., Sequence[tuple[int, int]]]


@cache
def _box() -> type[ipywidgets.VBox]:
    import ipywidgets

    class Sliders(ipywidgets.VBox):  # type: ignore[misc]
        """A box whose plain text is the same on every run: the usual one would hold the whole picture."""

        def __repr__(self) -> str:
            return "Run this cell, then move the sliders: the picture follows."

    return Sliders


def sliders(
    document: Document,
    *,
    splitter: Sized = split_recursive,
    chunk_size: int = 120,
    overlap: int = 0,
    largest: int = 400,
    around: tuple[int, int] | None = None,
) -> ipywidgets.VBox:
    """Two sliders, for tokens and for overlap in per cent of them, above the painted document.

    ``splitter`` is called as ``splitter(text, chunk_size=…, chunk_overlap=…)``; what it raises is shown in place of the
    picture. ``around``: see `show`.

    Raises ``ModuleNotFoundError`` without ipywidgets. Cost: one split and one painting at each move.

    >>> sliders(Document("There was a cat. The cat sat."), chunk_size=10)
    Run this cell, then move the sliders: the picture follows.
    """
    import ipywidgets

    style = {"description_width": "8em"}
    settings = {"continuous_update": False, "style": style, "layout": {"width": "32em"}}
    tokens = ipywidgets.IntSlider(chunk_size, min=10, max=largest, step=10, description="size, tokens", **settings)
    share = ipywidgets.IntSlider(overlap, min=0, max=50, step=5, description="overlap, %", **settings)
    picture = ipywidgets.HTML()

    def draw(_: object = None) -> None:
        try:
            spans = splitter(document.text, chunk_size=tokens.value, chunk_overlap=tokens.value * share.value // 100)
            picture.value = show(document, spans, around=around)._repr_html_()
        except Exception as error:  # a splitter of the learner's own: the sliders must stay usable
            picture.value = f"<pre>{html.escape(f'{type(error).__name__}: {error}')}</pre>"

    for slider in (tokens, share):
        slider.observe(draw, names="value")
    draw()
    return _box()([tokens, share, picture])
