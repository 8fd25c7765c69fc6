# SPDX-License-Identifier: MIT
"""Keyword tokens: what names something stays whole, no digit is lost, no text raises; and BM25 by hand."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.course.datasets import load_course_documents
from chunklib.search.keywords import STOP_WORDS, Keywords, keyword_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It takes 5 to 7 days.", ["takes", "5", "7", "days"]),
        ("5–7 or 5-7", ["5", "7", "5", "7"]),
        ("The AX-310 shows E-47.", ["ax-310", "shows", "e-47"]),
        ("ax310 E47 (TG-412) E‑47", ["ax-310", "e-47", "tg-412", "e-47"]),
        ("E-471 is not E-47", ["e-471", "not", "e-47"]),
        ("v2.4.1, version 2.4.1.", ["2.4.1", "version", "2.4.1"]),
        ("4.5 h, 386 MB, 5V, 60 %, −5 °C", ["4.5h", "386mb", "5v", "60%", "5°c"]),
        ("30 in total, 1 a day", ["30", "total", "1", "day"]),
        ("€4.90, 4,90 €, 4.90 EUR, $ 1,000", ["€4.90", "€4.90", "€4.90", "$1000"]),
        ("It isn’t covered; no refund", ["isn't", "covered", "no", "refund"]),
        ("The customer's right. That's it", ["customer", "right"]),
        ("noise-cancelling Wi-Fi", ["noise", "cancelling", "wi", "fi"]),
        ("退货期限为60天。退", ["退货", "货期", "期限", "限为", "60", "天", "退"]),
        ("Ｅ－４７ ＡＸ３１０", ["e-47", "ax-310"]),
        ("homehub2 abc123def", ["homehub", "2", "abc", "123", "def"]),
        ("Rückgabe naïve cafe\u0301", ["rückgabe", "naïve", "café"]),
        ("\ud800 the !?", []),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert keyword_tokens(text) == tokens


@given(st.text())
def test_any_text_has_tokens_without_blanks_and_no_digit_is_lost(text: str) -> None:
    tokens = keyword_tokens(text)
    assert all(token and not any(char.isspace() for char in token) for token in tokens)
    assert not set(tokens) & STOP_WORDS
    digits = [char for char in "".join(tokens) if char in "0123456789"]
    assert len(digits) >= sum(char in "0123456789" for char in text)


@given(st.text("aA1-., €%'vh退 "))
def test_tokens_do_not_depend_on_capitals_and_stay_as_they_are(text: str) -> None:
    tokens = keyword_tokens(text)
    assert keyword_tokens(text.upper()) == tokens
    assert keyword_tokens(" | ".join(tokens)) == tokens


def test_no_code_and_no_version_of_the_course_is_torn() -> None:
    for document, whole in {
        "ax310-headphones-manual.md": {"e-47", "ax-310", "2.4.1", "4.5h"},
        "homehub-release-notes.md": {"3.1.3", "e-12", "sm-7", "386mb"},
        "shipping.md": {"€4.90", "5", "7"},
    }.items():
        assert whole <= set(keyword_tokens(load_course_documents(document)[0].text)), document


@pytest.mark.parametrize("unit", ["a ", "1,", "a1", "5 ", "1.", "'", "a'", "退", "€ ", "e-", "v", "\u0301", "½"])
def test_every_text_comes_to_an_end(unit: str) -> None:
    """No run of characters is gone over again and again: in the square, this would take hours."""
    keyword_tokens(unit * (1_000_000 // len(unit)))


def test_bm25_is_what_the_formula_says() -> None:
    texts = ["E-47: moisture in the port. A dry port.", "E-12: no answer", "the port is dry", ""]
    tokens = [keyword_tokens(text) for text in texts]
    mean = sum(map(len, tokens)) / len(tokens)

    def by_hand(query: str, text: list[str]) -> float:
        total = 0.0
        for word in keyword_tokens(query):
            n = sum(word in other for other in tokens)
            rare = math.log(1 + (len(tokens) - n + 0.5) / (n + 0.5))
            often = Counter(text)[word]
            total += rare * often / (often + 1.5 * (1 - 0.75 + 0.75 * len(text) / mean))
        return total

    for query in ("port", "dry port", "E47 port", "port port"):
        expected = [by_hand(query, text) for text in tokens]
        assert Keywords(texts).scores(query).tolist() == pytest.approx(expected, abs=1e-5)


def test_nothing_in_common_scores_nought() -> None:
    assert Keywords(["a cat", "a mat"]).scores("a dog").tolist() == [0, 0]
    assert Keywords(["a cat", "a mat"]).scores("").tolist() == [0, 0]
    assert Keywords(["", "the"]).scores("cat").tolist() == [0, 0]
    assert Keywords([]).scores("cat").shape == (0,)
    assert Keywords(["cat", "cat cat"]).scores("cat").dtype == np.float64
