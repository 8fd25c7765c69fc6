# SPDX-License-Identifier: MIT
"""The mutation run changes what it says, one thing at a time."""

from __future__ import annotations

from tools.mutate import mutants


def test_each_change_is_one_change() -> None:
    source = "def f(a, b):\n    if a and not b in (1, True):\n        return a * 2\n    return a // b"
    found = [text.splitlines() for _, text in mutants(source)]
    before = "\n".join(source.splitlines()).replace("not b in", "not b in").splitlines()
    assert all(sum(x != y for x, y in zip(text, before, strict=True)) <= 2 for text in found)
    assert len(found) == len({tuple(text) for text in found}) == 8


def test_the_line_of_a_change_is_told() -> None:
    assert [line for line, _ in mutants("a = 1\nb = 'x'\nc = a - 1")] == [1, 3, 3]
