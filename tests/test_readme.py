# SPDX-License-Identifier: MIT
"""What the README shows is true."""

import doctest
import re

from tools.notebooks import ROOT
from tools.readme import MINUTES, README, written


def test_the_first_lines_print_what_they_show() -> None:
    failed, tried = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert (failed, tried) == (0, 7)


def test_the_list_of_lessons_is_what_the_lessons_say() -> None:
    text = README.read_text(encoding="utf-8")
    assert written(text) == text, "run python -m tools.readme"


def test_every_file_that_it_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert len(links) > 2
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_instructors_minutes_add_up_to_those_of_the_lesson() -> None:
    notes = (ROOT / "docs" / "instructor.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"(?ms)^## (\d\d) .*?$(.*?)(?=^## |\Z)", notes))
    lessons = {path.name[:2]: path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert sections.keys() == lessons.keys()
    for number, section in sections.items():
        sums = [
            sum(map(int, re.findall(r"(\d+)(?=[,.](?: |$))", re.findall(rf"(?m)^{label}: (.*)$", section)[0])))
            for label in ("Minutes", "Exercises")
        ]
        assert [str(n) for n in sums] == list(MINUTES.findall(lessons[number])[0]), number
        assert "Short of time: " in section
        assert "For the room: " in section
