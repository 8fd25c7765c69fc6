# SPDX-License-Identifier: MIT
"""The plain core is the oracle of the fast one: the same spans, whatever the boundaries, with and without overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core import measure, packing, plain, separators
from chunklib.core.span import Separator, trim
from chunklib.course.datasets import load_course_documents
from chunklib.recursive import MARKDOWN, PROSE, PYTHON
from tests.laws import hard_text, source_text

SEPARATORS: dict[str, tuple[Separator, ...]] = {
    "none": (),
    "few": ("\n\n", "\n", " "),
    "letters": ("at", "a", "t"),
    "prose": PROSE,
    "Markdown": MARKDOWN,
    "Python": PYTHON,
}
settings = st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def both(
    text: str, length: Any, separators_: Sequence[Separator], size: int, overlap: int, few: int | None = None
) -> tuple[Any, Any]:
    """What the plain and the fast core make of a text; ``few``: so many of the levels may begin an overlap."""
    found = []
    for ruler, levels, pack in (
        (plain.measure(text, length), plain.boundary_levels(separators_), plain.pack),
        (measure.measure(text, length), separators.boundary_levels(separators_), packing.pack),
    ):
        starts = None if few is None else levels[:few]
        run: Callable[..., Any] = pack
        found.append(run(ruler, chunk_size=size, chunk_overlap=overlap, levels=levels, overlap_levels=starts))
    return found[0], found[1]


@pytest.mark.parametrize("length", ["characters", "words", len])
@pytest.mark.parametrize("name", SEPARATORS)
@given(text=st.one_of(hard_text, source_text), setting=settings, few=st.none() | st.integers(1, 3))
def test_the_same_spans_where_the_length_grows_with_the_text(
    length: Any, name: str, text: str, setting: tuple[int, int], few: int | None
) -> None:
    simple, fast = both(text, length, SEPARATORS[name], *setting, few)
    assert simple == fast


@pytest.mark.parametrize("name", SEPARATORS)
@pytest.mark.parametrize("setting", [(40, 0), (150, 0), (40, 12), (150, 30)])
def test_the_same_spans_of_every_document_in_tokens(name: str, setting: tuple[int, int]) -> None:
    for document in load_course_documents():
        for length in ("tokens", "o200k_base"):
            simple, fast = both(document.text, length, SEPARATORS[name], *setting)
            assert simple == fast, document.id


@given(text=hard_text, start=st.integers(0, 30), end=st.integers(0, 60))
def test_the_same_spans_of_a_part(text: str, start: int, end: int) -> None:
    part = trim(text, start, end)
    simple = plain.pack(plain.measure(text, "words"), chunk_size=3, levels=plain.boundary_levels(PROSE), part=part)
    levels = separators.boundary_levels(PROSE)
    assert simple == packing.pack(measure.measure(text, "words"), chunk_size=3, levels=levels, part=part)


@pytest.mark.parametrize("length", ["tokens", "words", "characters"])
@given(text=hard_text)
def test_the_same_counts(length: str, text: str) -> None:
    assert plain.count(text, length) == measure.count(text, length)


@pytest.mark.parametrize(
    ("length", "error"),
    [("pages", ValueError), (3, TypeError), (lambda text: 1.5, TypeError), (lambda text: None, TypeError)],
)
def test_a_bad_length_is_told_in_the_same_words(length: Any, error: type[Exception]) -> None:
    told = []
    for module in (plain, measure):
        with pytest.raises(error) as raised:
            module.measure("Some text.", length).size(0, 4)
        told.append(str(raised.value).split(";")[0])
    assert told[0] == told[1]
