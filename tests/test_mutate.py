# SPDX-License-Identifier: MIT
"""The mutation run changes what it says, one thing at a time, where it can matter."""

from __future__ import annotations

import ast

import pytest

from tools.mutate import modules, mutants, own, units
from tools.notebooks import ROOT


def test_each_change_is_one_change() -> None:
    source = "def f(a, b):\n    if a and not b in (1, True):\n        return a * 2\n    return a // b"
    found = [text for _, text in mutants(source)]
    assert sorted(found) == sorted(
        source.replace(old, new)
        for old, new in [
            ("a and not b in (1, True)", "(not (a and (not b in (1, True))))"),
            ("a and not b in (1, True)", "(a or not b in (1, True))"),
            ("b in (1, True)", "(b not in (1, True))"),
            ("1,", "2,"),
            ("True", "False"),
            ("a * 2", "(a // 2)"),
            ("2\n", "3\n"),
            ("a // b", "(a * b)"),
        ]
    )


@pytest.mark.parametrize(
    "source",
    [
        "def f(a: Literal[1] = x) -> tuple[Literal[2], 'a + b']: ...",
        "a: Annotated[int, 3]",
        "if TYPE_CHECKING:\n    x = 1",
        "def f():\n    raise ValueError(f'{a + 1} of {b}' if c else 'none')",
        "zip(a, b, strict=True)",
        "x = 'a < 1'",
    ],
)
def test_what_cannot_matter_is_left_alone(source: str) -> None:
    assert list(mutants(source)) == []


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("é = 'ß', a < b", ["é = 'ß', (a <= b)"]),
        ("x = f'é {a + b:>{w}} é'", ["x = (f'é {a - b:>{w}} é')"]),
        ("x = (a +\n  b)  # why\ny", ["x = ((a - b\n))  # why\ny"]),
        ("x = 2 * a.b\n", ["x = (2 // a.b)\n", "x = 3 * a.b\n"]),
        ("x = a if b else c", ["x = a if (not b) else c"]),
        ("x = a if b == c else d", ["x = a if (b != c) else d"]),
        ("x = a if b < c else d", ["x = a if (not b < c) else d", "x = a if (b <= c) else d"]),
    ],
)
def test_the_rest_of_the_text_stays_as_it_is(source: str, changes: list[str]) -> None:
    assert [text for _, text in mutants(source)] == changes


def test_the_line_of_a_change_is_told() -> None:
    assert [line for line, _ in mutants("a = 1\nb = 'x'\nc = a - 1")] == [1, 3, 3]


def test_every_change_of_a_module_can_be_read_and_keeps_its_lines() -> None:
    source = (ROOT / "chunklib" / "semantic.py").read_text(encoding="utf-8")
    found = [text for _, text in mutants(source)]
    assert len(found) == len(set(found)) > 50
    for text in found:
        assert ast.parse(text)
        changed = [a != b for a, b in zip(source.split("\n"), text.split("\n"), strict=True)]
        first, last = changed.index(True), len(changed) - changed[::-1].index(True)
        assert last - first <= 10


def test_what_is_changed_and_what_is_to_notice() -> None:
    assert {"core/measure", "course/exercises/__init__"} < set(modules())
    assert not {"__init__", "course/exercises/lesson_01"} & set(modules())
    assert {"chunklib/core/span.py", "tests/test_laws.py", "capstone/capstone.ipynb"} < set(units())
    assert all((ROOT / unit).exists() for module in modules() for unit in own(module))
