# SPDX-License-Identifier: MIT
"""Fixed size: worked examples with exact values."""

from __future__ import annotations

import pytest

from chunklib.core.measure import count
from chunklib.fixed_size import split_fixed_size

CAT = "There was a cat. The cat sat. The cat sat on a mat."


def test_the_cat_in_words() -> None:
    spans = split_fixed_size(CAT, chunk_size=5, chunk_overlap=1, length="words")
    assert [s.of(CAT) for s in spans] == ["There was a cat.", ". The cat sat.", ". The cat sat on", "on a mat."]
    assert [s.of(CAT).split()[0] for s in spans] == ["There", ".", ".", "on"]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("abcdefgh", [(0, 8)]),
        ("abcdefghi", [(0, 9)]),
        ("abcdefghij", [(0, 10)]),
        ("abcdefghijk", [(0, 10), (8, 11)]),
    ],
)
def test_no_tail_that_holds_only_the_overlap(text: str, spans: list[tuple[int, int]]) -> None:
    assert split_fixed_size(text, chunk_size=10, chunk_overlap=2, length="characters") == spans


def test_special_tokens_are_plain_text() -> None:
    text = "A document ends with <|endoftext|> in this corpus, and <|fim_prefix|> too."
    spans = split_fixed_size(text, chunk_size=8)
    assert "".join(s.of(text) for s in spans).replace(" ", "") == text.replace(" ", "")
    assert max(count(s.of(text)) for s in spans) == 8


@pytest.mark.parametrize("chunk_size", [1, 2, 3])
def test_no_character_is_cut_in_half(chunk_size: int) -> None:
    text = "Größe 猫 und 🦔 über ẞ"
    spans = split_fixed_size(text, chunk_size=chunk_size)
    assert all(s.end - s.start == 1 or count(s.of(text)) <= chunk_size for s in spans)
    assert "".join(s.of(text) for s in spans).replace(" ", "") == text.replace(" ", "")


def test_a_script_whose_tokens_never_end_between_characters_still_fills_its_chunks() -> None:
    text = "क्षि" * 2000
    spans = split_fixed_size(text, chunk_size=50)
    assert all(45 < count(span.of(text)) <= 50 for span in spans[:-1])
    assert all(span.start % 4 == 0 for span in spans)


def test_of_letters_that_are_one_token_only_in_company_as_many_are_taken_as_fit() -> None:
    text = "aaaaaaaa\u0301"  # the accent stays with its letter, and what stands before it is two tokens alone
    spans = split_fixed_size(text, chunk_size=1)
    assert spans == [(0, 4), (4, 7), (7, 8), (8, 9)]
    assert [count(text[start:end]) for start, end in [(0, 4), (0, 5), (4, 7), (7, 9)]] == [1, 2, 1, 2]
