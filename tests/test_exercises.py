# SPDX-License-Identifier: MIT
# Needs: pytest.
"""The exercise mechanics, on small exercises of our own; then every lesson's exercises and the cells that pose them."""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import html
import importlib
import inspect
import itertools
import json
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from chunklib.course import exercises
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
def _no_callbacks_of_others() -> Iterator[None]:
    """Hypothesis times the garbage collector from a callback. A stop that strikes inside it is only reported, and
    pytest takes the report for a fault of ours; no learner's kernel has that callback."""
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
    wrong=((without_overlap, "The overlap is not used."), (for_ever, "An overlap as large as the size stands still.")),
)
COUNT = Exercise(
    guess(n_windows), n_windows, ("Count the steps.", "Round up."), ((5, "That is the overlap left out."),)
)
LESSON = {"1.1": COUNT, "1.2": STARTS}
#: Without the solution's ValueError, which ``cases`` would ask for: here the step is nought and only the loop counts.
ENDLESS = {"1": Exercise(lambda f: str(f(9, 4, 4)), window_starts, ("", ""), STARTS.wrong)}


def verdict(answer: Any, id: str = "1.2", seconds: float = 0.3) -> Verdict:
    return check(LESSON, id, answer, seconds=seconds)


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
    assert "stands still" not in verdict(without_overlap).message


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


def exits(*args: int) -> None:
    sys.exit(1)


def recurses(*args: int) -> Any:
    return recurses(*args)


def interrupts(*args: int) -> None:
    raise KeyboardInterrupt


def fails_awkwardly(*args: int) -> None:
    raise type("Nasty", (Exception,), {"__str__": Awkward.__repr__})


HOSTILE = {
    "nan": lambda *args: float("nan"),
    "huge list": lambda *args: [0] * 5_000_000,
    "huge range": lambda *args: range(10**30),
    "huge int": lambda *args: 10**5000,
    "wrong type": lambda *args: {"a": 1},
    "awkward": lambda *args: Awkward(),
    "exits": exits,
    "recurses": recurses,
    "interrupts": interrupts,
    "fails awkwardly": fails_awkwardly,
    "endless generator": lambda *args: (i for i in itertools.count()),
    "endless iterator": lambda *args: itertools.repeat(0),
    "no function": 7,
    "called too early": [0, 3, 6, 9],
    "class": Awkward,
    "built-in": len,
    "partial": functools.partial(window_starts, overlap=1),
    "nothing": None,
}


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
def test_hostile_answers_are_told_not_raised(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exercises, "MEMORY", 100_000_000)
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
        except Exception:
            pass


def slow_to_free(*args: int) -> None:
    held = [[i] for i in range(3_000_000)]  # so that a second stop comes while the first one still tidies up
    while held:
        pass


def settled(threads: int) -> bool:
    """Is the number of threads down to this, or soon?"""
    end = time.monotonic() + 2
    while threading.active_count() > threads and time.monotonic() < end:
        time.sleep(0.01)
    return threading.active_count() <= threads


@pytest.mark.filterwarnings("error")  # nor may the thread leave a traceback on stderr
@pytest.mark.parametrize(("answer", "seconds"), [(for_ever, 0.5), (catches, 0.5), (slow_to_free, 2)])
def test_an_endless_loop_is_stopped_and_its_thread_is_gone(answer: Any, seconds: float) -> None:
    start, before = time.monotonic(), threading.active_count()
    message = check(ENDLESS, "1", answer, seconds=seconds).message
    assert time.monotonic() - start < 5
    assert settled(before)
    assert f"`window_starts(9, 4, 4)` was still running after {seconds} seconds and was stopped.\n" in message
    assert message.endswith("An overlap as large as the size stands still.")


@pytest.mark.parametrize("bare", [True, False], ids=["bare except", "asleep"])
def test_what_cannot_be_stopped_is_admitted(bare: bool) -> None:
    release = threading.Event()

    def stays(*args: int) -> None:
        while bare and not release.is_set():
            with contextlib.suppress(BaseException):  # as a bare ``except:`` does
                release.wait(0.2)
        release.wait()

    before = threading.active_count()
    assert "could not be stopped; please restart the kernel" in verdict(stays).message
    release.set()
    assert settled(before)


def test_a_loop_that_fills_the_memory_is_stopped_before_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exercises, "MEMORY", 100_000_000)
    start = time.monotonic()
    assert "had filled 100 MB of memory and was stopped" in check(ENDLESS, "1", for_ever, seconds=30).message
    assert time.monotonic() - start < 10


# The interrupt may strike while psutil has a file open, which is then closed by the collector, with a warning.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_of_the_learner_ends_the_call() -> None:
    before, done = threading.active_count(), threading.Event()

    def press() -> None:
        """Once more after a while, as a learner would: an interrupt that strikes inside a collector is swallowed."""
        wait = 0.3
        while not done.wait(wait):
            signal.raise_signal(signal.SIGINT)
            wait = 5

    def checked() -> None:
        try:
            check(ENDLESS, "1", for_ever, seconds=20)
        finally:
            done.set()

    presser = threading.Thread(target=press)
    # A shell's background job ignores the signal, and Python then leaves it at that.
    before_that = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        presser.start()
        with pytest.raises(KeyboardInterrupt):
            checked()
    finally:
        presser.join()
        signal.signal(signal.SIGINT, before_that)
    assert settled(before)


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


@pytest.mark.parametrize(("module", "id"), EXERCISES)
def test_lesson_solution_and_wrong_answers(module: str, id: str) -> None:
    lesson: Any = importlib.import_module(f"chunklib.course.exercises.{module}")
    held: Exercise = lesson.EXERCISES[id]
    solution = held.solution
    right = solution if inspect.signature(solution).parameters else solution()
    assert lesson.check(id, right).state == SOLVED, lesson.check(id, right).message
    assert all(hint.strip() for hint in held.hints)
    assert held.wrong, f"{id} knows no usual mistake; list one in wrong="
    for answer, remark in held.wrong:
        found = lesson.check(id, answer, seconds=1)
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


def test_the_discovery_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests above are empty until the first lesson is there: here their tools are tried on a small one."""
    stub = 'def window_starts(n, size, overlap):\n    return ...  # your lines\nexercise.check("1.2", window_starts)'
    sources = ["%matplotlib inline\nimport fake_lesson as exercise", stub, "print(window_starts(10, 4, 1))"]
    cells = [
        {"cell_type": "code", "source": text.splitlines(keepends=True), "metadata": {"tags": ["exercise"] * (i == 1)}}
        for i, text in enumerate(sources)
    ]
    notebook = tmp_path / "01_fixed_size.ipynb"
    notebook.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    fake = ModuleType("fake_lesson")
    fake.__dict__.update(check=functools.partial(check, LESSON))
    monkeypatch.setitem(sys.modules, "fake_lesson", fake)
    assert exercise_cells(notebook) == [(1, stub)]
    test_stub_in_the_notebook(notebook, 1, stub)
    with pytest.raises(AssertionError, match="double"):
        test_stub_in_the_notebook(notebook, 1, stub.replace("n, size", "double, size"))
    with pytest.raises(AssertionError, match="a later cell uses"):
        test_no_later_cell_uses_the_result_of_an_exercise(notebook)
    with pytest.raises(AssertionError, match="must end with"):
        posed("exercise.check('0.1', lambda n: ...)")
