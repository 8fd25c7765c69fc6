# SPDX-License-Identifier: MIT
"""The laws that every splitter keeps, as one function, and texts that hurt. Imports nothing of chunklib."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

import regex
from hypothesis import strategies as st

Spans = Sequence[tuple[int, int]]

FRAGMENTS = [
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\r\n\r\n",
    "\n \n",
    "\t",
    "\f",
    "\v",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    "\xa0",
    "\u3000",
    "\u200b",
    "\x00",
    "a",
    "cat",
    "The cat sat.",
    "There was a cat.",
    "tokenization",
    "Donaudampfschiffahrt",
    "$3.50",
    "12345678901",
    "2.4.1",
    ".",
    ". ",
    "...",
    "?!",
    ", ",
    ";",
    "—",
    "'s",
    "’s",
    "-",
    "_",
    "|",
    "# ",
    "```",
    "<|endoftext|>",
    "é",
    "e\u0301",
    " \u0301",
    "\u0301",
    "\u0301\u0302\u0303",
    "👩‍👩‍👧‍👦",
    "🇩🇪",
    "🇩",
    "👍🏽",
    "🦔",
    "שלום",
    "مرحبا",
    "नमस्ते",
    "क्षि",
    "한국어",
    "각",
    "今日は天気がいい。",
    "，",
    "！",
    "猫",
    "ไทย",
    "\ud83d",
    "\udc00",
    "\ufffd",
    "\u200d",
    "\U000e0001",
    "ß",
    "Ⅷ",
    "x" * 40,
    " " * 40,
]

hard_text = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join),
    st.lists(st.sampled_from(["The", "cat", "sat", "on", "a", "mat.", "\n\n", "\n"]), max_size=120).map(" ".join),
    st.text(max_size=60),
)

#: Lines of Markdown and of Python.
SOURCE = [
    "# A comment",
    "## Part",
    "### Sub part",
    "Title\n=====",
    "---",
    "***",
    "```py",
    "```",
    "- an item",
    "  - an inner item",
    "12. a step",
    "| a | b |",
    "|---|---|",
    "class A:",
    "def f(x):",
    "    async def g(self):",
    "@cached",
    "    @app.get(",
    '        "/items",',
    "    )",
    "    return x, y",
    "else:",
    "",
    "",
    "",
    "Some words. And more, and more.",
    "\t",
]
source_text = st.builds(
    lambda lines, end: end.join(lines),
    st.lists(st.sampled_from(SOURCE), max_size=30),
    st.sampled_from(["\n", "\r\n", "\r"]),
)


def words(text: str) -> int:
    return sum(not token.isspace() for token in regex.findall(r"\w+|\W", text))


def assert_laws(
    text: str,
    spans: Spans,
    size: Callable[[str], int],
    chunk_size: int | None,
    chunk_overlap: int = 0,
    parts: Spans | None = None,
) -> None:
    """Laws 1 to 6, 8 and 10 of a splitter that fills chunks; ``size`` is an independent measure of a slice.

    ``parts``: what is one span if it fits, and shares nothing with another, where that is not the whole text.
    """
    spans = [(start, end) for start, end in spans]
    if not text.strip():
        assert spans == []
        return
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        assert not text[start].isspace() and not text[end - 1].isspace(), "blanks at the rim"
    for (a, b), (c, d) in itertools.pairwise(spans):
        assert a < c and b < d, "starts and ends increase"
    covered = [False] * len(text)
    for start, end in spans:
        covered[start:end] = [True] * (end - start)
    assert all(is_in or char.isspace() for is_in, char in zip(covered, text, strict=True)), "text was lost"
    if chunk_size is None:
        return
    for start, end in spans:
        assert size(text[start:end]) <= chunk_size or end - start == 1, "over the limit"
    for (_, b), (c, _) in itertools.pairwise(spans):
        assert c >= b or size(text[c:b]) <= chunk_overlap, "too much overlap"
    rims = {edge for span in spans for edge in span}
    for cluster in regex.finditer(r"\X", text):
        a, b = cluster.span()
        if b - a > 1 and size(text[a:b]) <= chunk_size and not re.search(r"\s", text[a:b]):
            assert not any(a < rim < b for rim in rims), f"torn: {text[a:b]!r}"
    if parts is None:
        start = len(text) - len(text.lstrip())
        parts = [(start, start + len(text.strip()))]
    for a, b in parts:
        assert size(text[a:b]) > chunk_size or (a, b) in spans, "what fits is one span"
    for start, end in spans:
        assert any(a <= start and end <= b for a, b in parts), "a span reaches over two parts"
