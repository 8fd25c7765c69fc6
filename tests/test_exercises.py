# SPDX-License-Identifier: MIT
# Needs: pytest.
"""The exercise mechanics, on small exercises of our own; then every lesson's exercises and the cells that pose them."""

from __future__ import annotations

import ast
import functools
import gc
import html
import importlib
import inspect
import itertools
import re
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from chunklib.course.exercises import (
    NOT_YET,
    SOLVED,
    UNTOUCHED,
    Exercise,
    Verdict,
    as_in_the_cell,
    cases,
    check,
    guess,
    same,
)
from tools.notebooks import ROOT, cells, tags


@pytest.fixture(autouse=True)
def _neither_haste_nor_callbacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Time enough on busy cores. And Hypothesis times the garbage collector from a callback: a stop that strikes inside
    it is only reported, and pytest takes the report for a fault of ours; no learner's kernel has that callback."""
    assert check.__kwdefaults__
    monkeypatch.setitem(check.__kwdefaults__, "seconds", 600)
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(callbacks)


# --- Small exercises -------------------------------------------------------------------------------------------------


def window_starts(n: int, size: int, overlap: int) -> list[int]:
    if overlap >= size:
        raise ValueError(f"overlap={overlap} must be below size={size}")
    return list(range(0, n, size - overlap))


def without_overlap(n: int, size: int, overlap: int) -> list[int]:
    return list(range(0, n, size))


def for_ever(n: int, size: int, overlap: int) -> list[int]:
    starts = [0]
    while starts[-1] < n:
        starts.append(starts[-1] + size - overlap)
    return starts[:-1]


def n_windows() -> int:
    step = 200 - 20  # a comment that only the solution has
    return -(-1000 // step)


STARTS = Exercise(
    judge=cases(window_starts, (10, 4, 1), (0, 4, 1), (60, 2, 1), (9, 4, 4)),
    solution=window_starts,
    hints=("Each window starts <after> the one before.", "The step is `size - overlap`."),
    wrong=((without_overlap, "The overlap is not used."),),
)
COUNT = Exercise(
    guess(n_windows), n_windows, ("Count the steps.", "Round up."), ((5, "That is the overlap left out."),)
)
LESSON = {"1.1": COUNT, "1.2": STARTS}
#: Without the solution's ValueError, which ``cases`` would ask for: here the step is nought and only the loop counts.
ENDLESS = {"1": Exercise(lambda f: str(f(9, 4, 4)), window_starts, ("", ""), ((for_ever, "It stands still."),))}


def verdict(answer: Any, id: str = "1.2") -> Verdict:
    return check(LESSON, id, answer)


def test_solved_and_not_yet() -> None:
    assert repr(verdict(window_starts)) == "Exercise 1.2: solved"
    assert repr(verdict(lambda n, size, overlap: [0] if n else [])) == (
        "Exercise 1.2: not yet\nFor `window_starts(10, 4, 1)`\nexpected `[0, 3, 6, 9]`\nbut got `[0]`"
    )


def test_an_unknown_id_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"id='1\.9' .* 1\.1, 1\.2"):
        check(LESSON, "1.9", window_starts)


def half_done(n: int, size: int, overlap: int) -> Any:
    step: Any = ...
    return list(range(0, n, step))


@pytest.mark.parametrize("answer", [..., lambda n, size, overlap: ..., half_done])
def test_untouched_is_no_error(answer: Any) -> None:
    assert verdict(answer).state == UNTOUCHED
    assert verdict(..., "1.1").state == UNTOUCHED


def test_a_known_mistake_gets_its_remark() -> None:
    assert verdict(lambda n, size, overlap: range(0, n, size)).message.endswith("\nThe overlap is not used.")
    assert verdict(5, "1.1").message == "`5` is not it: it is more.\nThat is the overlap left out."
    assert "overlap" not in verdict(lambda n, size, overlap: [5]).message.split("\n", 1)[1]


def test_a_prediction_tells_more_or_less_and_not_the_answer() -> None:
    assert verdict(6, "1.1").state == SOLVED
    assert verdict(7, "1.1").message == "`7` is not it: it is less."
    assert verdict("6", "1.1").message == "`'6'` is not it: expected `int`."
    assert verdict(n_windows, "1.1").message.startswith("`n_windows` should be a value, but is a function.")


def test_none_that_may_be_an_answer_asks_for_no_return() -> None:
    from chunklib.course.exercises import lesson_10

    message = lesson_10.check("10.3", lambda text, quote, before: None).message
    assert "return" not in message
    assert "expected `8`\nbut got `None`" in message


def test_none_asks_for_the_return() -> None:
    assert verdict(lambda n, size, overlap: None).message == (
        "`window_starts(10, 4, 1)` returned `None`. Is a `return` missing?"
    )


def test_an_error_is_told_with_its_line_and_input() -> None:
    def divides(n: int, size: int, overlap: int) -> float:
        return helper(n) / 0

    def helper(n: int) -> int:
        return n

    assert verdict(divides).message == (
        "`window_starts(10, 4, 1)` ended with an error, `ZeroDivisionError: division by zero`.\n"
        f"In line {inspect.getsourcelines(divides)[1] + 1}: `return helper(n) / 0`"
    )
    assert verdict(lambda n: n).message.endswith("Is the `def` line still as it came?")


def test_where_the_solution_refuses_the_answer_must_refuse() -> None:
    def accepts_all(n: int, size: int, overlap: int) -> list[int]:
        return window_starts(n, size, overlap) if overlap < size else []

    assert verdict(accepts_all).message == (
        "For `window_starts(9, 4, 4)`\nexpected an error, `ValueError: overlap=4 must be below size=4`\nbut got `[]`"
    )


def test_long_values_show_where_they_part() -> None:
    def skips(n: int, size: int, overlap: int) -> list[int]:
        return [start for start in window_starts(n, size, overlap) if start != 50]

    assert verdict(skips).message.endswith(
        "\nThe first 50 agree; from there expected `[50, 51, 52]`, but got `[51, 52, 53]`"
    )
    late = verdict(lambda n, size, overlap: [1 + start for start in window_starts(n, size, overlap)])
    assert "agree" not in late.message, "none does"


def test_the_input_of_one_call_is_safe_from_the_next() -> None:
    def drop_first(words: list[str]) -> list[str]:
        return words[1:]

    def greedy(words: list[str]) -> list[str]:
        words.pop(0)
        return words

    lesson = {"1": Exercise(cases(drop_first, (["a", "b"],)), drop_first, ("", ""))}
    assert [check(lesson, "1", greedy).state for _ in range(3)] == [SOLVED] * 3


def test_lazy_answers_are_read_and_prints_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    def lazy(n: int, size: int, overlap: int) -> Iterator[int]:
        print("size", size)
        yield from window_starts(n, size, overlap)

    assert verdict(lazy).state == SOLVED
    assert capsys.readouterr().out == "size 4\nsize 4\nsize 2\nsize 4\n"


# --- Hostile answers -------------------------------------------------------------------------------------------------


class Awkward:
    """No equality, no repr, and an error that cannot be printed."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparing")

    def __repr__(self) -> str:
        raise RuntimeError("no printing")

    __str__ = __repr__


def recurses(*args: int) -> Any:
    return recurses(*args)


def fails_awkwardly(*args: int) -> None:
    raise type("Nasty", (Exception,), {"__str__": Awkward.__repr__})


HOSTILE = {
    "nan": lambda *args: float("nan"),
    "huge list": lambda *args: [0] * 5_000_000,
    "huge range": lambda *args: range(10**30),
    "huge int": lambda *args: 10**5000,
    "awkward": lambda *args: Awkward(),
    "exits": lambda *args: sys.exit(1),
    "recurses": recurses,
    "fails awkwardly": fails_awkwardly,
    "called too early": [0, 3, 6, 9],
    "class": Awkward,
    "partial": functools.partial(window_starts, overlap=1),
    "nothing": None,
}


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
def test_hostile_answers_are_told_not_raised(answer: Any) -> None:
    for id in LESSON:
        found = verdict(answer, id)
        assert found.state == NOT_YET
        assert found.message
        assert len(found.message) < 1000
        assert found._repr_html_()


def test_a_judge_that_stumbles_is_told() -> None:
    def first(n: int) -> list[int]:
        return [n]

    def judge(answer: Any) -> str | None:
        return None if answer(3)[0] == 3 else "no"

    found = check({"1": Exercise(judge, first, ("", ""))}, "1", lambda n: n)
    assert found.state == NOT_YET
    assert "TypeError: 'int' object is not subscriptable" in found.message


def catches(*args: int) -> None:
    while True:
        try:
            raise ValueError
        except:  # noqa: E722
            pass


@pytest.mark.parametrize("answer", [for_ever, catches, lambda *args: itertools.repeat(0)])
def test_an_endless_loop_is_stopped_and_nothing_is_left_of_the_watch(answer: Any) -> None:
    threads, handler = threading.active_count(), signal.getsignal(signal.SIGTERM)
    message = check(ENDLESS, "1", answer, seconds=0.2).message
    assert message == (
        "`window_starts(9, 4, 4)` was still running after 0.2 seconds.\n"
        "Probably a loop that never ends: does each round come nearer to the end?\nIt stands still."
    )
    assert (threading.active_count(), signal.getsignal(signal.SIGTERM)) == (threads, handler)


def test_an_interrupt_is_the_learners_own() -> None:
    def interrupted(*args: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verdict(interrupted)


# --- What a verdict shows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [..., without_overlap, window_starts])
def test_html_folds_hints_and_solution_and_plain_text_has_neither(answer: Any) -> None:
    found = verdict(answer)
    page = found._repr_html_()
    folds = re.findall(r"<details><summary>(.*?)</summary>.*?</details>", page, re.DOTALL)
    assert folds == (["Solution"] if found.state == SOLVED else ["Hint 1", "Hint 2", "Solution"])
    assert html.escape(as_in_the_cell(window_starts)) in page
    assert_keeps_its_secrets(found)


def test_html_is_escaped_and_survives_the_sanitizer() -> None:
    page = verdict(lambda *args: ["<script>alert(1)</script> & $5 or $6"])._repr_html_()
    assert "<script>" not in page
    assert "<after>" not in page
    assert "<code>[&#x27;&lt;script&gt;alert(1)&lt;/script&gt; &amp; $5 or $6&#x27;]</code>" in page
    assert "<code>size - overlap</code>" in page
    assert not re.search(r"<style|<svg|var\(|role=|aria-|[^-]color:|[ (]\.\d", page)
    assert {verdict(a)._repr_html_().split("Exercise")[0][-2] for a in (..., 5, window_starts)} == {"○", "✗", "✓"}


def assert_keeps_its_secrets(found: Verdict) -> None:
    plain = repr(found)
    assert not [hint for hint in found.exercise.hints if hint and hint in plain]
    body = as_in_the_cell(found.exercise.solution).splitlines()[1:]
    assert not [line for line in body if line.strip() in plain]


def test_same() -> None:
    np = pytest.importorskip("numpy")
    assert same([(0, 3), (3, 6)], [[0, 3], [3, 6]])
    assert same([0.5], np.array([0.5], dtype=np.float32))
    assert same([1, 2], {1: 0, 2: 0}.keys())
    assert same(["a"], {0: "a"}.values())
    assert not same([1, 2], {1: 0, 2: 0})
    assert not same([1, 2], {1, 2})
    assert not same(1_000_001, 1_000_000)
    assert not same("ab", ["a", "b"])
    assert not same(float("nan"), float("nan"))
    assert not same([1, 2], np.array([[1, 2]]))
    assert not same(3, None)


# --- The lessons: every module and every notebook that exists --------------------------------------------------------

MODULES = sorted((ROOT / "chunklib" / "course" / "exercises").glob("lesson_*.py"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def lesson_module(path: Path) -> ModuleType:
    return importlib.import_module(f"chunklib.course.exercises.{path.stem}")


def code_cells(notebook: Path) -> list[tuple[str, set[str]]]:
    """Source and tags of each code cell; lines of magic, which ``ast`` cannot read, are blanked."""
    return [
        (re.sub(r"(?m)^[%!].*$", "", cell["source"]), set(tags(cell)))
        for cell in cells(notebook)
        if cell["cell_type"] == "code"
    ]


def posed(source: str) -> tuple[str, str]:
    """Id and name of an exercise cell, which ends with ``exercise.check("1.2", name)``."""
    last = ast.parse(source).body[-1]
    match last:
        case ast.Expr(
            ast.Call(
                func=ast.Attribute(ast.Name("exercise"), "check"),
                args=[ast.Constant(str(id)), ast.Name(str(name))],
                keywords=[],
            )
        ):
            return id, name
    raise AssertionError(f"an exercise cell must end with exercise.check(id, name), not {ast.unparse(last)!r}")


def exercise_cells(notebook: Path) -> list[tuple[int, str]]:
    return [(at, source) for at, (source, tags) in enumerate(code_cells(notebook)) if "exercise" in tags]


def bound(source: str) -> set[str]:
    """Names that a cell assigns, defines or imports at its top level."""
    names: set[str] = set()
    for statement in ast.parse(source).body:
        match statement:
            case ast.FunctionDef(name) | ast.ClassDef(name):
                names.add(name)
            case ast.Import(aliases) | ast.ImportFrom(names=aliases):
                names.update((alias.asname or alias.name).split(".")[0] for alias in aliases)
            case _:
                stored = (n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
                names.update(n.id for n in stored)
    return names


def run_stub(notebook: Path, at: int, source: str) -> tuple[Any, Verdict]:
    """What an exercise cell assigns and shows, run after nothing but the imports of the cells before it."""
    before = [node for text, _ in code_cells(notebook)[:at] for node in ast.parse(text).body]
    imports = [ast.unparse(node) for node in before if isinstance(node, ast.Import | ast.ImportFrom)]
    space: dict[str, Any] = {}
    exec("\n".join(imports), space)
    *body, last = ast.parse(source).body
    exec("\n".join(ast.unparse(node) for node in body), space)
    return space[posed(source)[1]], eval(ast.unparse(last), space)


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    """What two signatures must share; a stub may leave annotations out."""
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


EXERCISES = [(path.stem, id) for path in MODULES for id in lesson_module(path).EXERCISES]
STUBS = [(path, at, source) for path in NOTEBOOKS for at, source in exercise_cells(path)]


def test_modules_and_notebooks_agree_on_their_exercises() -> None:
    posed_in = {path.name[:2]: [posed(s)[0] for _, s in exercise_cells(path)] for path in NOTEBOOKS}
    held_in = {path.stem[-2:]: list(lesson_module(path).EXERCISES) for path in MODULES}
    assert {lesson: ids for lesson, ids in posed_in.items() if ids} == held_in


def as_views(value: Any) -> Any:
    """Each list as the values of a dict, which is how a learner may have come by it."""
    if isinstance(value, tuple):
        return tuple(map(as_views, value))
    return dict(enumerate(map(as_views, value))).values() if isinstance(value, list) else value


@pytest.mark.parametrize(("module", "id"), EXERCISES)
def test_lesson_solution_and_wrong_answers(module: str, id: str) -> None:
    lesson: Any = importlib.import_module(f"chunklib.course.exercises.{module}")
    held: Exercise = lesson.EXERCISES[id]
    solution = held.solution
    right = solution if inspect.signature(solution).parameters else solution()
    assert lesson.check(id, right).state == SOLVED, lesson.check(id, right).message
    assert not callable(right) or lesson.check(id, lambda *args: as_views(right(*args))).state == SOLVED
    assert all(hint.strip() for hint in held.hints)
    assert held.wrong, f"{id} knows no usual mistake; list one in wrong="
    for answer, remark in held.wrong:
        found = lesson.check(id, answer)
        assert found.state == NOT_YET
        assert found.message.endswith(remark)
        assert_keeps_its_secrets(found)


@pytest.mark.parametrize(("notebook", "at", "source"), STUBS, ids=[f"{path.stem}-{at}" for path, at, _ in STUBS])
def test_stub_in_the_notebook(notebook: Path, at: int, source: str) -> None:
    answer, found = run_stub(notebook, at, source)
    solution = found.exercise.solution
    assert found.state == UNTOUCHED, found.message
    assert solution.__name__ == posed(source)[1]
    assert parameters(solution) == (parameters(answer) if callable(answer) else [])
    assert_keeps_its_secrets(found)


@pytest.mark.parametrize(("notebook", "at", "source"), STUBS, ids=[f"{path.stem}-{at}" for path, at, _ in STUBS])
def test_the_solution_shown_passes_when_it_is_pasted(notebook: Path, at: int, source: str) -> None:
    _, found = run_stub(notebook, at, source)
    last = ast.unparse(ast.parse(source).body[-1])
    _, verdict = run_stub(notebook, at, f"{as_in_the_cell(found.exercise.solution)}\n{last}")
    assert verdict.state == SOLVED, verdict.message


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_later_cell_uses_the_result_of_an_exercise(notebook: Path) -> None:
    cells = code_cells(notebook)
    for at, source in exercise_cells(notebook):
        for later, _ in cells[at + 1 :]:
            used = {node.id for node in ast.walk(ast.parse(later)) if isinstance(node, ast.Name)}
            assert not used & bound(source), f"{notebook.name}: a later cell uses {used & bound(source)}"
