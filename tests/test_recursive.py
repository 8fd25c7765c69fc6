# SPDX-License-Identifier: MIT
"""Recursive: worked examples with exact values."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

import chunklib
from chunklib.core.measure import count
from chunklib.core.separators import boundary_levels
from chunklib.core.span import Separator
from chunklib.recursive import MARKDOWN, PROSE, PYTHON, split_recursive


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


@pytest.mark.parametrize("separators", [None, 3])
def test_what_is_no_list_of_separators_is_named(separators: object) -> None:
    with pytest.raises(TypeError, match=rf"^separators={separators} must be a list, such as PROSE$"):
        split_recursive("text", separators=separators)  # type: ignore[arg-type]


@pytest.mark.parametrize("separators", [[3], [re.compile(b"x")], [None]])
def test_a_separator_must_be_text(separators: list[object]) -> None:
    with pytest.raises(TypeError, match="must be a str or a compiled pattern"):
        split_recursive("text", separators=separators)  # type: ignore[arg-type]


GUIDE = """\
# Guide

Read this first.

Setting up
----------

Plug it in.

***

### Steps

1. Press the button.
   - Not the red one.
2. Wait.

```sh
# a comment
make

make test
```

| key | value |
|-----|-------|
| a   | 1     |
| b   | 2     |

## End

Done.
"""
CODE = """\
import re
from x import y

LIMIT = 3
NAMES = [
    "a",
]


# What it does.
@cache
@register(
    name="f",
)
def f(a):
    return a


class A:
    \"\"\"About def, class and so on.\"\"\"

    @property
    def one(self):
        return 1

    async def two(self):
        await g()

        return 2
def tight():
    pass
if __name__ == "__main__":
    f(1)
"""


def test_markdown_by_its_blocks() -> None:
    assert said(GUIDE, separators=MARKDOWN, chunk_size=75) == [
        "# Guide\n\nRead this first.",
        "Setting up\n----------\n\nPlug it in.\n\n***",
        "### Steps\n\n1. Press the button.\n   - Not the red one.\n2. Wait.",
        "```sh\n# a comment\nmake\n\nmake test\n```",
        "| key | value |\n|-----|-------|\n| a   | 1     |\n| b   | 2     |",
        "## End\n\nDone.",
    ]


def test_markdown_within_its_blocks() -> None:
    steps = GUIDE[GUIDE.index("1.") : GUIDE.index("```sh")]
    assert said(steps, separators=MARKDOWN, chunk_size=45) == [
        "1. Press the button.\n   - Not the red one.", "2. Wait.",
    ]  # fmt: skip
    assert said(steps, separators=MARKDOWN, chunk_size=25) == [
        "1. Press the button.", "- Not the red one.", "2. Wait.",
    ]  # fmt: skip
    table = GUIDE[GUIDE.index("| key") : GUIDE.index("## End")]
    assert said(table, separators=MARKDOWN, chunk_size=50) == [
        "| key | value |\n|-----|-------|\n| a   | 1     |", "| b   | 2     |",
    ]  # fmt: skip
    assert said("Sizes:\n" + table, separators=MARKDOWN, chunk_size=25)[0] == "Sizes:"
    assert said("Sizes:\n" + table, separators=PROSE, chunk_size=25)[0] == "Sizes:\n| key | value |"


def test_markdown_headings_by_level() -> None:
    text = "## A\n\na\n\n### A1\n\na1\n\n## B\n\nb\n\n### B1\n\nb1 b1 b1"
    assert said(text, separators=MARKDOWN, chunk_size=42)[1].startswith("## B")
    assert said(text, separators=PROSE, chunk_size=42)[1].startswith("b1")


@pytest.mark.parametrize("line", ["#hashtag", "#!/bin/sh", "####### seven", "# comment\nx = 1", "-- sql", "`code`"])
def test_what_is_no_heading_rule_or_item(line: str) -> None:
    text = f"One two three.\n\nFour five six.\n{line}\nseven eight nine ten"
    assert said(text, separators=MARKDOWN, chunk_size=len(text) - 4)[0] == "One two three."


def test_a_code_block_that_fits_is_whole_though_it_has_blank_lines() -> None:
    text = "One.\n\nTwo.\n\n```py\n# first\nx = 1\n\ny = 2\n```\n\nThree."
    assert said(text, separators=MARKDOWN, chunk_size=38)[1].startswith("```py")
    assert said(text, separators=PROSE, chunk_size=38)[0].endswith("x = 1")


def test_python_by_its_definitions() -> None:
    assert said(CODE, separators=PYTHON, chunk_size=110) == [
        'import re\nfrom x import y\n\nLIMIT = 3\nNAMES = [\n    "a",\n]',
        '# What it does.\n@cache\n@register(\n    name="f",\n)\ndef f(a):\n    return a',
        'class A:\n    """About def, class and so on."""\n\n    @property\n    def one(self):\n        return 1',
        "async def two(self):\n        await g()\n\n        return 2",
        'def tight():\n    pass\nif __name__ == "__main__":\n    f(1)',
    ]


def test_python_statements_at_the_margin() -> None:
    text = 'LIMIT = 3\nNAMES = [\n    "a",\n]\nif LIMIT:\n    x = 1\nelse:\n    x = 2\ny = 3'
    assert said(text, separators=PYTHON, chunk_size=36) == [
        'LIMIT = 3\nNAMES = [\n    "a",\n]', "if LIMIT:\n    x = 1\nelse:\n    x = 2", "y = 3",
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "separators"), [(GUIDE, MARKDOWN), (CODE, PYTHON)], ids=["Markdown", "Python"])
@pytest.mark.parametrize("chunk_size", [4, 8, 15, 30, 60])
def test_line_ends_of_windows_change_nothing(text: str, separators: list[Separator], chunk_size: int) -> None:
    settings = {"separators": separators, "chunk_size": chunk_size, "length": "words"}
    windows = text.replace("\n", "\r\n")
    unix, others = split_recursive(text, **settings), split_recursive(windows, **settings)  # type: ignore[arg-type]
    assert [span.of(windows).replace("\r\n", "\n") for span in others] == [span.of(text) for span in unix]


def whole(separators: tuple[Separator, ...]) -> list[bool]:
    """For each function and class of this package that has at most 120 tokens: does it lie in one chunk of 150?"""
    kept = []
    for file in Path(chunklib.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        spans = split_recursive(text, chunk_size=150, separators=separators)
        starts = [0, *itertools.accumulate(map(len, text.splitlines(keepends=True)))]
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                start, end = starts[first - 1] + node.col_offset, starts[node.end_lineno or 0] - 1
                if count(text[start:end]) <= 120:
                    kept.append(any(a <= start and end <= b for a, b in spans))
    return kept


def test_python_keeps_more_small_definitions_whole_than_prose() -> None:
    with_prose, with_python = whole(PROSE), whole(PYTHON)
    assert len(with_python) > 80
    assert sum(with_python) > 0.97 * len(with_python) > sum(with_prose)


@pytest.mark.parametrize("separators", [PROSE, MARKDOWN, PYTHON], ids=["prose", "Markdown", "Python"])
@pytest.mark.parametrize(
    "unit",
    ["\n", "\n\n=\n", "\n---", "# x\n", "\n - ", "|\n", "```py\n", "@a\n  y\n", "#\n  y\n", "class A:\n", "\n @x(\n"],
)
def test_lines_that_look_like_a_boundary_and_are_none_come_to_an_end(
    separators: tuple[Separator, ...], unit: str
) -> None:
    """Without its bounds, `PYTHON` would take hours for the decorators that decorate nothing."""
    text = "x" + unit * (1_000_000 // len(unit)) + "y"
    spans = split_recursive(text, chunk_size=200_000, separators=separators, length="characters")
    assert (spans[0][0], spans[-1][1]) == (0, len(text))


def test_a_match_that_began_before_the_window_counts() -> None:
    text = "word " * 30 + "end of the line\ndef f():\n    return 1\n\n    # more of it\n"
    pieces = said(text, separators=PYTHON, chunk_size=50)
    assert pieces[-2:] == ["end of the line", "def f():\n    return 1\n\n    # more of it"]


def test_in_a_long_line_a_separator_is_found_that_begins_at_the_place_or_one_before() -> None:
    (level,) = boundary_levels([re.compile("; ")])
    text = "x" * 300 + "; " + "x" * 10
    assert [level.last(text, low, 310) for low in (299, 300, 301, 302)] == [302] * 4
    assert [level.all(text, low, 310) for low in (299, 300, 301, 302)] == [[302], [302], [302], []]
