# SPDX-License-Identifier: MIT
"""Every splitter, every length, text that hurts: the laws hold."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
import regex
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.measure import measure
from chunklib.core.separators import boundary_levels
from chunklib.core.span import Separator, Span
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import MARKDOWN, PROSE, PYTHON, split_recursive
from chunklib.semantic import split_optimal, split_semantic
from chunklib.sentence import split_sentences
from chunklib.structure import split_markdown, split_paragraphs
from tests.laws import assert_laws, hard_text, source_text, words

SPLITTERS: list[Callable[..., list[Span]]] = [split_fixed_size, split_recursive]
#: Those that take ``chunk_size=None``, their default, for "no limit".
OPTIONAL: list[Callable[..., list[Span]]] = [split_sentences, split_paragraphs, split_markdown]
SEPARATORS = {"prose": PROSE, "few": ("\n\n", "\n", " "), "Markdown": MARKDOWN, "Python": PYTHON}


def tokens(name: str) -> Callable[[str], int]:
    return lambda text: len(tiktoken.get_encoding(name).encode(text, disallowed_special=()))


def odd(text: str) -> int:
    """A length that is neither additive nor monotone."""
    return len(text.split()) * 2 + len(text) // 7 - text.count("a") % 2


MEASURES: dict[str, tuple[object, Callable[[str], int]]] = {
    "tokens": ("tokens", tokens("cl100k_base")),
    "o200k_base": ("o200k_base", tokens("o200k_base")),
    "words": ("words", words),
    "characters": ("characters", len),
    "wordpieces": ("wordpieces", lambda text: measure(text, "wordpieces").size(0, len(text))),
    "callable": (odd, odd),
}
settings = st.integers(1, 50).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


@pytest.mark.parametrize("splitter", [*SPLITTERS, *OPTIONAL])
@pytest.mark.parametrize("length", MEASURES)
@given(text=hard_text, setting=settings)
def test_laws(splitter: Callable[..., list[tuple[int, int]]], length: str, text: str, setting: tuple[int, int]) -> None:
    name, size = MEASURES[length]
    chunk_size, chunk_overlap = setting
    spans = splitter(text, chunk_size=chunk_size, chunk_overlap=chunk_overlap, length=name)
    parts = splitter(text) if splitter is split_markdown else None
    assert_laws(text, spans, size, chunk_size, chunk_overlap, parts)
    assert spans == splitter(text, chunk_size=chunk_size, chunk_overlap=chunk_overlap, length=name), "repeatable"


@pytest.mark.parametrize("splitter", OPTIONAL)
@given(text=hard_text)
def test_laws_without_a_limit(splitter: Callable[..., list[tuple[int, int]]], text: str) -> None:
    assert_laws(text, splitter(text), len, None)


@pytest.mark.parametrize("length", ["tokens", "o200k_base", "words", "wordpieces"])
@given(text=hard_text, ends=st.tuples(st.integers(0, 80), st.integers(0, 80)))
def test_sizes_are_exact(length: str, text: str, ends: tuple[int, int]) -> None:
    start, end = sorted(min(end, len(text)) for end in ends)
    if start < end:
        assert measure(text, length).size(start, end) == MEASURES[length][1](text[start:end])


@pytest.mark.parametrize("separators", ["Markdown", "Python"])
@given(text=st.one_of(hard_text, source_text), setting=settings)
def test_laws_for_source(separators: str, text: str, setting: tuple[int, int]) -> None:
    chunk_size, chunk_overlap = setting
    split = partial(split_recursive, separators=SEPARATORS[separators], chunk_size=chunk_size)
    assert_laws(text, split(text, chunk_overlap=chunk_overlap), MEASURES["tokens"][1], chunk_size, chunk_overlap)
    assert_laws(text, split(text, length="characters"), len, chunk_size)


@pytest.mark.parametrize("length", ["tokens", "words", "characters"])
@pytest.mark.parametrize("separators", SEPARATORS.values(), ids=SEPARATORS)
@given(text=st.one_of(hard_text, source_text), chunk_size=st.sampled_from([1, 3, 8, 20, 50]))
def test_neighbours_that_fit_together_are_parted_by_a_strong_boundary(
    length: str, separators: tuple[Separator, ...], text: str, chunk_size: int
) -> None:
    size = MEASURES[length][1]
    weakest = len(separators)
    clusters = [m.span() for m in regex.finditer(r"\X", text)]
    strength: dict[int, int] = {}
    for rank, level in enumerate(boundary_levels(separators)):
        for cut in level.all(text, -1, len(text)):
            if not any(a < cut < b for a, b in clusters):
                strength.setdefault(len(text[:cut].rstrip()), rank)
    spans = split_recursive(text, chunk_size=chunk_size, separators=separators, length=length)
    for (a, b), (c, d) in itertools.pairwise(spans):
        if size(text[a:d]) <= chunk_size:
            inside = [rank for place, rank in strength.items() if a < place < b or c < place < d]
            assert strength.get(b, weakest) <= min(inside, default=weakest)


@pytest.mark.parametrize("length", ["words", "characters"])
@given(text=hard_text, chunk_size=st.integers(1, 20))
def test_fixed_size_takes_all_that_fits(length: str, text: str, chunk_size: int) -> None:
    size = MEASURES[length][1]
    units = measure(text, length).units
    clusters = [m.span() for m in regex.finditer(r"\X", text)]
    spans = split_fixed_size(text, chunk_size=chunk_size, length=length)
    for (start, _), (after, _) in itertools.pairwise(spans):
        unit = next(end for end in units if end > after)
        if not any(a < unit < b for a, b in clusters):
            assert size(text[start:unit].rstrip()) > chunk_size


@pytest.mark.parametrize("splitter", [*SPLITTERS, *OPTIONAL])
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"chunk_size": 0}, ValueError, "chunk_size=0 must be 1 or more"),
        ({"chunk_size": -3}, ValueError, "chunk_size=-3 must be 1 or more"),
        ({"chunk_size": 50, "chunk_overlap": 60}, ValueError, "chunk_overlap=60 must be smaller than chunk_size=50"),
        ({"chunk_size": 50, "chunk_overlap": 50}, ValueError, "chunk_overlap=50 must be smaller than chunk_size=50"),
        ({"chunk_size": 50, "chunk_overlap": -1}, ValueError, "chunk_overlap=-1 must be 0 or more"),
        ({"chunk_size": None, "chunk_overlap": 5}, (TypeError, ValueError), "chunk_size"),
        ({"chunk_size": None}, (TypeError, ValueError), "chunk_size=None"),
        ({"chunk_size": "200"}, TypeError, "chunk_size='200' must be an int"),
        ({"chunk_size": 20.0}, TypeError, r"chunk_size=20\.0 must be an int"),
        ({"chunk_size": True}, TypeError, "chunk_size=True must be an int"),
        ({"length": "pages"}, ValueError, "length='pages' is unknown"),
        ({"length": 3}, TypeError, "length=3 must be a name, a tokenizer, or a function"),
        ({"length": lambda text: 1.5}, TypeError, r"length returned 1\.5"),
        ({"length": lambda text: None}, TypeError, "length returned None"),
    ],
)
def test_bad_settings(
    splitter: Callable[..., object], settings: dict[str, object], error: type[Exception], message: str
) -> None:
    if splitter in OPTIONAL:
        if settings == {"chunk_size": None}:
            pytest.skip("for these, None is a good setting")
        settings = {"chunk_size": 50, **settings}
    with pytest.raises(error, match=message):
        splitter("Some text.", **settings)


@pytest.mark.parametrize("splitter", OPTIONAL)
def test_without_a_size_there_is_no_overlap_and_the_length_is_checked_all_the_same(
    splitter: Callable[..., object],
) -> None:
    with pytest.raises(ValueError, match="chunk_overlap=5 needs a chunk_size"):
        splitter("Some text.", chunk_overlap=5)
    with pytest.raises(ValueError, match="length='pages' is unknown"):
        splitter("Some text.", length="pages")


def test_a_missing_tokenizer_file_says_what_helps_a_copied_file_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(name: str) -> None:
        raise OSError("no network")

    monkeypatch.setattr(tiktoken, "get_encoding", unreachable)
    folder = "llama_index/core/_static/tiktoken_cache"
    mend = (
        rf"p50k_edit is neither .*; set TIKTOKEN_CACHE_DIR to a folder that holds it; .*llama-index-core .*in {folder}"
    )
    with pytest.raises(OSError, match=mend):
        measure("Some text.", "p50k_edit")
    # A program that stands alone has to find it by itself: so it must be there.
    package = find_spec("llama_index")
    assert package and any(
        Path(place).parent.joinpath(folder).is_dir() for place in package.submodule_search_locations or ()
    )


@pytest.mark.parametrize("splitter", [*SPLITTERS, *OPTIONAL])
@pytest.mark.parametrize("text", [None, b"bytes", 7, ["a"]])
def test_text_must_be_str(splitter: Callable[..., object], text: object) -> None:
    with pytest.raises(TypeError, match="must be str"):
        splitter(text)


@pytest.mark.parametrize("text", ["", " ", "\n\r\t \f\u2028"])
def test_blank_text_gives_nothing_but_bad_settings_still_raise(text: str) -> None:
    for splitter in [*SPLITTERS, *OPTIONAL]:
        assert splitter(text) == []
        with pytest.raises(ValueError, match="chunk_size=0"):
            splitter(text, chunk_size=0)


@pytest.mark.parametrize("splitter", [*SPLITTERS, *OPTIONAL])
@pytest.mark.parametrize("unit", ["a", " ", "猫", "\u0301", "🇩🇪", "A. "])
def test_a_megabyte_of_anything_ends(splitter: Callable[..., list[tuple[int, int]]], unit: str) -> None:
    text = "x" + unit * (1_000_000 // len(unit)) + "y"
    spans = splitter(text, chunk_size=200)
    assert (spans[0][0], spans[-1][1]) == (0, len(text))


def letters(texts: Sequence[str]) -> list[list[int]]:
    """Vectors without an encoder, at times of zeros."""
    return [[text.count(letter) for letter in "aetx猫"] for text in texts]


@pytest.mark.parametrize("length", MEASURES)
@given(text=hard_text, chunk_size=st.integers(1, 50), smallest=st.integers(0, 50), window=st.integers(0, 2))
def test_laws_by_meaning(length: str, text: str, chunk_size: int, smallest: int, window: int) -> None:
    name, size = MEASURES[length]
    limits = {"min_chunk_size": min(smallest, chunk_size), "max_chunk_size": chunk_size}
    spans = split_semantic(text, embed=letters, window=window, length=name, **limits)  # type: ignore[arg-type]
    best = split_optimal(text, embed=letters, chunk_size=chunk_size, length=name)  # type: ignore[arg-type]
    assert_laws(text, best, size, chunk_size)
    # A text that fits may be cut, since its meaning may turn: then the laws but for law 10.
    fits = not text.strip() or size(text.strip()) <= chunk_size
    assert_laws(text, spans, size, None if fits and len(spans) > 1 else chunk_size)
    assert all(size(span.of(text)) <= chunk_size or span.end - span.start == 1 for span in spans)
    assert spans == split_semantic(text, embed=letters, window=window, length=name, **limits)  # type: ignore[arg-type]
    assert best == split_optimal(text, embed=letters, chunk_size=chunk_size, length=name)  # type: ignore[arg-type]


DEFAULTS: dict[Callable[..., list[Span]], dict[str, object]] = {
    split_fixed_size: {"chunk_size": 200, "chunk_overlap": 0, "length": "tokens"},
    split_recursive: {"chunk_size": 200, "chunk_overlap": 0, "separators": PROSE, "length": "tokens"},
    split_sentences: {"chunk_size": None, "chunk_overlap": 0, "language": "english", "abbreviations": ()},
    split_paragraphs: {"chunk_size": None, "chunk_overlap": 0, "inner": split_recursive, "length": "tokens"},
    split_markdown: {"chunk_size": None, "chunk_overlap": 0, "max_level": 6, "inner": split_recursive},
    split_semantic: {"threshold": "percentile", "amount": None, "window": 0, "max_chunk_size": None},
    split_optimal: {"chunk_size": 200, "sentences": split_sentences, "length": "tokens"},
}  # fmt: skip


@pytest.mark.parametrize("splitter", DEFAULTS)
def test_defaults_and_only_keywords(splitter: Callable[..., list[Span]]) -> None:
    """What a caller gets who says nothing; a changed default would change every index built with it."""
    _, *options = inspect.signature(splitter).parameters.values()
    assert all(option.kind is inspect.Parameter.KEYWORD_ONLY for option in options)
    found = {option.name: option.default for option in options}
    assert {name: found[name] for name in DEFAULTS[splitter]} == DEFAULTS[splitter]
