# SPDX-License-Identifier: MIT
"""The sliders: each move paints the chunks anew, and what a learner's splitter raises is shown."""

from __future__ import annotations

from collections.abc import Sequence

from chunklib.core.document import Document
from chunklib.course.display import show
from chunklib.course.live import sliders
from chunklib.recursive import split_recursive

DOCUMENT = Document("There was a cat. The cat sat. The cat sat on a mat. " * 20)


def test_each_move_paints_anew() -> None:
    box = sliders(DOCUMENT, chunk_size=40)
    size, overlap, picture = box.children
    assert picture.value == show(DOCUMENT, split_recursive(DOCUMENT.text, chunk_size=40))._repr_html_()
    size.value, overlap.value = 20, 50
    spans = split_recursive(DOCUMENT.text, chunk_size=20, chunk_overlap=10)
    assert picture.value == show(DOCUMENT, spans)._repr_html_()


def test_the_sliders_reach_from_ten_tokens_to_the_largest_size_and_from_no_overlap_to_half() -> None:
    size, overlap, _ = sliders(DOCUMENT).children
    assert (size.value, size.min, size.max, size.step) == (120, 10, 400, 10)
    assert (overlap.value, overlap.min, overlap.max, overlap.step) == (0, 0, 50, 5)
    assert not size.continuous_update
    assert not overlap.continuous_update, "one painting a move, not one a pixel"


def test_a_splitter_that_fails_is_told_and_the_sliders_go_on() -> None:
    def picky(text: str, *, chunk_size: int, chunk_overlap: int) -> Sequence[tuple[int, int]]:
        if chunk_size > 50:
            raise ValueError("<b>too large")
        return [(0, chunk_size)]

    size, _, picture = sliders(DOCUMENT, splitter=picky, chunk_size=60).children
    assert picture.value == "<pre>ValueError: &lt;b&gt;too large</pre>"
    size.value = 50
    assert "[1" in picture.value


def test_its_text_is_the_same_on_every_run() -> None:
    box = sliders(DOCUMENT)
    assert repr(box) == "Run this cell, then move the sliders: the picture follows."
    assert box._repr_mimebundle_()["text/plain"] == repr(box)
