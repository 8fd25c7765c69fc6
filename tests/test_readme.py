# SPDX-License-Identifier: MIT
"""What the README shows is true."""

import doctest
from pathlib import Path


def test_the_first_lines_print_what_they_show() -> None:
    readme = Path(__file__).parent.parent / "README.md"
    failed, tried = doctest.testfile(str(readme), module_relative=False, encoding="utf-8")
    assert (failed, tried) == (0, 3)
