# SPDX-License-Identifier: MIT
"""Recursive: worked examples with exact values."""

from __future__ import annotations

import re

import pytest

from chunklib.recursive import split_recursive


def said(text: str, **settings: object) -> list[str]:
    return [span.of(text) for span in split_recursive(text, length="characters", **settings)]  # type: ignore[arg-type]


def test_the_cat_by_lines() -> None:
    text = "There was a cat.\nThe cat sat.\nThe cat sat on a mat."
    assert said(text, chunk_size=25) == text.split("\n")


def test_chinese_full_stops_come_before_commas() -> None:
    text = "今天天气很好，我们去公园。公园里有很多鸟，它们在唱歌。"
    assert said(text, chunk_size=20) == ["今天天气很好，我们去公园。", "公园里有很多鸟，它们在唱歌。"]
    assert said(text, chunk_size=10) == ["今天天气很好，", "我们去公园。", "公园里有很多鸟，", "它们在唱歌。"]


def test_literal_separators_are_not_patterns() -> None:
    assert said("v1.2*beta*rc", separators=["*", "."], chunk_size=5) == ["v1.2*", "beta*", "rc"]


def test_a_pattern_closes_its_chunk() -> None:
    text = "alpha1beta22gamma333delta4444eps"
    assert said(text, separators=[re.compile(r"\d+")], chunk_size=14) == ["alpha1beta22", "gamma333", "delta4444eps"]


def test_a_lookahead_cuts_before_what_follows() -> None:
    text = "import re\ndef a():\n    pass\ndef b():\n    pass\n"
    pieces = said(text, separators=[re.compile(r"(?=^def )", re.M), "\n"], chunk_size=20)
    assert pieces == ["import re", "def a():\n    pass", "def b():\n    pass"]


def test_decimals_and_prices_stay_whole() -> None:
    text = "It costs $3.50 today. Version 2.4.1 is out, he said: go."
    assert said(text, chunk_size=30) == ["It costs $3.50 today.", "Version 2.4.1 is out, he said:", "go."]


def test_overlap_starts_at_a_boundary() -> None:
    text = "Harvest begins in autumn.\n\nPressing."
    assert said(text, chunk_size=30, chunk_overlap=10) == ["Harvest begins in autumn.", "in autumn.\n\nPressing."]


def test_overlap_gives_way_to_the_next_word() -> None:
    assert said("aaaa bbbb wonderful cccc", chunk_size=10, chunk_overlap=9) == [
        "aaaa bbbb", "wonderful", "cccc",
    ]  # fmt: skip


def test_one_huge_word() -> None:
    assert split_recursive("b" * 120_000, chunk_size=1000, length="characters") == [
        (i, i + 1000) for i in range(0, 120_000, 1000)
    ]


@pytest.mark.parametrize("separators", ["\n", re.compile("x")])
def test_separators_must_be_a_list(separators: object) -> None:
    with pytest.raises(TypeError, match="put it in brackets"):
        split_recursive("text", separators=separators)  # type: ignore[arg-type]


@pytest.mark.parametrize("separators", [[3], [re.compile(b"x")], [None]])
def test_a_separator_must_be_text(separators: list[object]) -> None:
    with pytest.raises(TypeError, match="must be a str or a compiled pattern"):
        split_recursive("text", separators=separators)  # type: ignore[arg-type]
