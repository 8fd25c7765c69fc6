# SPDX-License-Identifier: MIT
"""Rules that only the collection as a whole can keep: one thread, no code told twice.

The rules of a single lesson are in `test_notebooks.py`, those of the instructor's kit in `test_kit.py`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tools import notebooks
from tools.notebooks import NOTEBOOKS
from tools.readme import MINUTES

Cells = list[tuple[str, str]]  # kind and source of each cell

REPEATED = 4  # lines of code that two lessons may not share in a row


def cells(path: Path) -> Cells:
    return [(cell["cell_type"], cell["source"]) for cell in notebooks.cells(path)]


def prose(some: Cells) -> str:
    return "\n\n".join(source for kind, source in some if kind == "markdown")


# --- One thread ------------------------------------------------------------------------------------------------------


def bullets(text: str) -> int:
    return len(re.findall(r"(?m)^- ", text))


def recap(some: Cells) -> str:
    return prose(some).partition("\n## Recap\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(("path", "following"), list(pairwise(NOTEBOOKS)), ids=lambda path: path.stem)
def test_a_lesson_leads_to_the_next(path: Path, following: Path) -> None:
    assert f"]({following.name})" in prose(cells(path)).partition("\n## Further reading\n")[2]


@pytest.mark.parametrize(("path", "before"), [(b, a) for a, b in pairwise(NOTEBOOKS)], ids=lambda path: path.stem)
def test_a_lesson_opens_where_the_last_one_ended(path: Path, before: Path) -> None:
    """By its first words under its first heading, apart from those that need 00 and 01 only."""
    opening = next(source for kind, source in cells(path)[1:] if kind == "markdown")
    assert re.search(rf"(?i)\blessons? {before.name[:2]}\b|\[lesson {before.name[:2]}\]", opening), opening


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_recap_answers_what_the_opening_promised(path: Path) -> None:
    assert bullets(recap(cells(path))) == bullets(cells(path)[0][1])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_text_and_code_take_turns(path: Path) -> None:
    """At most three code cells follow each other, and half of them have ten lines or fewer."""
    kinds = "".join("c" if kind == "code" else "m" for kind, _ in cells(path))
    lines = sorted(len(source.splitlines()) for kind, source in cells(path) if kind == "code")
    assert "cccc" not in kinds
    assert lines[len(lines) // 2] <= 10


def test_the_hours_of_the_course_are_those_of_its_lessons() -> None:
    minutes = sum(int(n) for path in NOTEBOOKS for n in MINUTES.findall(cells(path)[0][1])[0])
    assert f"The lessons take about {round(minutes / 60)} hours" in cells(NOTEBOOKS[0])[0][1]


# --- No code told twice ----------------------------------------------------------------------------------------------


def runs(some: Cells) -> Iterator[str]:
    """Each run of `REPEATED` lines of code, without imports and blank lines."""
    for kind, source in some:
        if kind == "code":
            lines = [line for line in source.splitlines() if line.strip() and not re.match("from |import ", line)]
            yield from ("\n".join(lines[at : at + REPEATED]) for at in range(len(lines) - REPEATED + 1))


def repeated(lessons: dict[str, Cells]) -> list[tuple[str, list[str]]]:
    """The runs that stand in more than one lesson, each with the lessons' names."""
    where: dict[str, set[str]] = defaultdict(set)
    for name, some in lessons.items():
        for run in runs(some):
            where[run].add(name)
    return [(run, sorted(names)) for run, names in where.items() if len(names) > 1]


def test_no_lesson_repeats_the_code_of_another() -> None:
    assert repeated({path.stem: cells(path) for path in NOTEBOOKS}) == []


def test_repeated_code_is_noticed() -> None:
    four = ("code", "import re\n\na = 1\nb = 2\n\nc = 3\nd = 4")
    assert repeated({"00": [four], "01": [("code", "x = 0\na = 1\nb = 2\nc = 3\nd = 4")]}) == [
        ("a = 1\nb = 2\nc = 3\nd = 4", ["00", "01"])
    ]
    assert repeated({"00": [four], "01": [("code", "a = 1\nb = 2\nc = 3")]}) == []
