# SPDX-License-Identifier: MIT
"""What the README shows is true."""

import doctest
import re

from tools.notebooks import ROOT
from tools.readme import README, written


def test_the_first_lines_print_what_they_show() -> None:
    failed, tried = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert (failed, tried) == (0, 3)


def test_the_list_of_lessons_is_what_the_lessons_say() -> None:
    text = README.read_text(encoding="utf-8")
    assert written(text) == text, "run python -m tools.readme"


def test_every_file_that_it_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert len(links) > 2
    assert [link for link in links if not (ROOT / link).exists()] == []
