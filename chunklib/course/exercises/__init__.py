# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""Exercises: an answer goes in, a verdict comes out, and nothing a learner writes breaks the notebook.

A lesson module holds ``EXERCISES``, a dict from id to `Exercise`, and ``check = partial(check_answer, EXERCISES)``.

But: a call is stopped by an exception thrown into it, which Python code feels at its next step. One long call into C
(``list(itertools.count())``, ``10**10**9``) feels nothing; there only a restart of the kernel helps. Memory is not
watched: until it is stopped, a loop that appends for ever fills 2 to 4 GB.
"""

from __future__ import annotations

import _thread
import ast
import copy
import html
import inspect
import math
import re
import reprlib
import signal
import textwrap
import threading
import traceback
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, NamedTuple

Judge = Callable[[Any], str | None]
SOLVED, NOT_YET, UNTOUCHED = "solved", "not yet", "not attempted yet"
_LOOKS = {SOLVED: ("✓", "0, 158, 115"), NOT_YET: ("✗", "230, 159, 0"), UNTOUCHED: ("○", "128, 128, 128")}
_BOX = '<div style="border-left: 6px solid rgb({0}); background-color: rgba({0}, 0.15); padding: 4px 12px">{1}</div>'
_TEXT = '<div style="white-space: pre-wrap; margin: 4px 0">{}</div>'
_CODE = '<pre style="white-space: pre-wrap; margin: 4px 0; padding: 4px 8px">{}</pre>'
_FOLD = "<details><summary>{}</summary>{}</details>"
_SEQUENCES = (list, tuple, range)
_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80
_short.maxlist = _short.maxtuple = 12


@dataclass(frozen=True)
class Exercise:
    """A question: who judges an answer, one solution, two hints, and what to say to the usual mistakes.

    Parameters: ``judge`` takes the answer and returns ``None``, or what was expected and what came. ``solution`` has
    the name and signature of the stub in the notebook; one without parameters stands for a value, which it returns.
    ``wrong``: pairs of a wrong answer and the remark for every answer that does the same.
    """

    judge: Judge
    solution: Callable[..., Any]
    hints: tuple[str, str]
    wrong: tuple[tuple[Any, str], ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What `check` found. Hints and solution are folded in the HTML, and absent from the plain text."""

    id: str
    state: str
    message: str
    exercise: Exercise = field(compare=False)

    def __repr__(self) -> str:
        return f"Exercise {self.id}: {self.state}\n{self.message}".strip()

    def _repr_html_(self) -> str:
        mark, colour = _LOOKS[self.state]
        hints, source = self.exercise.hints, as_in_the_cell(self.exercise.solution)
        parts = [f"<b>{mark} Exercise {html.escape(self.id)}: {self.state}</b>"]
        parts += [_TEXT.format(_marked_up(self.message))] if self.message else []
        if self.state != SOLVED:  # then another way to write it is still welcome, a hint no longer is
            parts += [_FOLD.format(f"Hint {i}", _TEXT.format(_marked_up(hint))) for i, hint in enumerate(hints, 1)]
        parts.append(_FOLD.format("Solution", _CODE.format(html.escape(source))))
        return _BOX.format(colour, "".join(parts))


def as_in_the_cell(solution: Callable[..., Any]) -> str:
    """A solution's source as a learner would type it: no type hints, no docstring; a value in place of a function
    without parameters."""
    lines = textwrap.dedent(inspect.getsource(solution)).strip().splitlines()
    (definition,) = ast.parse("\n".join(lines)).body
    assert isinstance(definition, ast.FunctionDef)
    first = definition.body[1 if ast.get_docstring(definition) is not None else 0]
    body = [re.sub(r"^(\s*\w+): [^=]+ = ", r"\1 = ", line) for line in lines[first.lineno - 1 :]]
    if names := [argument.arg for argument in definition.args.args]:
        return "\n".join([f"def {definition.name}({', '.join(names)}):", *body])
    return re.sub(r"(?m)^return ", f"{definition.name} = ", textwrap.dedent("\n".join(body)))


class _Call(NamedTuple):
    """A call of the learner's function, and what came of it: a value, or an error in its place."""

    args: tuple[Any, ...]
    named: dict[str, Any]
    value: Any = None
    error: BaseException | None = None

    def spelled(self, name: str) -> str:
        given = [shown(a)[1:-1] for a in self.args] + [f"{k}={shown(v)[1:-1]}" for k, v in self.named.items()]
        return f"`{name}({', '.join(given)})`"


class _Told(Exception):
    """Ends the judging: the verdict is known."""

    def __init__(self, state: str, message: str) -> None:
        self.state, self.message = state, message


class _Stopped(BaseException):
    """Thrown into a call whose time is up: ``except Exception`` lets it pass."""


def check(exercises: Mapping[str, Exercise], id: str, answer: Any, *, seconds: float = 5) -> Verdict:
    """Judge an answer. What the learner's code does is told in the verdict, never raised, but for an interrupt.

    Raises ``ValueError`` for an id that is not among the exercises. Each call of the answer may take ``seconds``.

    >>> def double(n):
    ...     return 2 * n
    >>> lesson = {"0.1": Exercise(cases(double, (3,)), double, ("Think of two.", "Multiply."))}
    >>> check(lesson, "0.1", lambda n: n + 2)
    Exercise 0.1: not yet
    For `double(3)`
    expected `6`
    but got `5`
    """
    if id not in exercises:
        raise ValueError(f"id={id!r} is no exercise of this lesson; take one of {', '.join(exercises)}")
    exercise, calls = exercises[id], list[_Call]()
    name = exercise.solution.__name__
    try:
        if answer is ...:
            raise _Told(UNTOUCHED, f"Put your own in place of the `...` after `{name} =` and run the cell again.")
        if not inspect.signature(exercise.solution).parameters:
            if inspect.isroutine(answer):
                raise _Told(NOT_YET, f"`{name}` should be a value, but is a function. Was it meant to be called?")
        elif not callable(answer) or isinstance(answer, type):
            what = "a class" if isinstance(answer, type) else f"a value, {shown(answer)}"
            raise _Told(NOT_YET, f"`{name}` should be a function, but is {what}. Pass its bare name, without brackets.")
        else:
            answer = _watched(answer, name, seconds, calls)
        message = exercise.judge(answer)
        state = SOLVED if message is None else NOT_YET
    except _Told as told:
        state, message = told.state, told.message
    except Exception as error:  # the judge stumbled over a kind of value that it does not know
        state, message = NOT_YET, f"The answer could not be read: `{_named(error)}`"
    none_allowed = "None" in str(inspect.signature(exercise.solution).return_annotation)
    if state == NOT_YET and not none_allowed and calls and calls[-1].value is calls[-1].error is None:
        message = f"{calls[-1].spelled(name)} returned `None`. Is a `return` missing?"
    remark = _remark(exercise, answer, calls, seconds) if state == NOT_YET else ""
    return Verdict(id, state, f"{message or ''}\n{remark}".strip(), exercise)


def cases(solution: Callable[..., Any], *inputs: tuple[Any, ...]) -> Judge:
    """A judge that gives the same inputs to solution and answer and tells the first difference.

    Where the solution raises ``ValueError``, so must the answer. The solution runs first: what is loaded only once is
    not on the learner's clock.
    """

    def judge(answer: Any) -> str | None:
        for args in inputs:
            call, expected, error = _Call(args, {}).spelled(solution.__name__), None, ""
            try:
                expected = solution(*copy.deepcopy(args))
            except ValueError as refusal:
                error = _named(refusal)
            try:
                got = answer(*args)
            except _Told as told:
                if error and isinstance(told.__cause__, ValueError):
                    continue
                raise
            if error:
                return f"For {call}\nexpected an error, `{error}`\nbut got {shown(got)}"
            if not same(expected, got):
                return f"For {call}\nexpected {shown(expected)}\nbut got {shown(got)}{_parting(expected, got)}"
        return None

    return judge


def guess(solution: Callable[[], Any], *, within: float = 0) -> Judge:
    """A judge of predictions: it says "more" or "less", and does not give the answer away.

    ``within``: how far from the solution a number may be, where rounding is a matter of taste.
    """

    def judge(answer: Any) -> str | None:
        expected = solution()
        if same(expected, answer) or (within and isinstance(answer, Real) and abs(answer - expected) <= within):
            return None
        if isinstance(expected, Real) and isinstance(answer, Real) and answer == answer:
            return f"{shown(answer)} is not it: it is {'more' if expected > answer else 'less'}."
        kind = type(expected).__name__
        return f"{shown(answer)} is not it" + ("." if isinstance(answer, type(expected)) else f": expected `{kind}`.")

    return judge


def same(expected: Any, got: Any) -> bool:
    """Equal in a learner's eyes: lists, tuples, ranges, arrays, keys and values alike, fractions within rounding.

    >>> same([0, 3], range(0, 6, 3)), same(0.3, 0.1 + 0.2), same([1], 1)
    (True, True, False)
    """
    try:
        expected, got = (x.tolist() if hasattr(x, "tolist") else x for x in (expected, got))
        if isinstance(expected, _SEQUENCES) and isinstance(got, (*_SEQUENCES, KeysView, ValuesView, ItemsView)):
            return len(expected) == len(got) and all(map(same, expected, got))
        if isinstance(expected, Real) and isinstance(got, Real) and not isinstance(expected, Integral):
            return math.isclose(expected, got, rel_tol=1e-6, abs_tol=1e-9)
        return bool(expected == got)
    except Exception:  # an answer may be anything, even what cannot be compared
        return False


def shown(value: Any) -> str:
    """A value for a message: its repr, shortened, between backticks."""
    try:
        return f"`{_short.repr(value)}`"
    except Exception:  # a repr that fails, or an int of more digits than Python will print
        return f"`{type(value).__name__}`"


def _parting(expected: Any, got: Any) -> str:
    """Where two long values of one kind part, since what differs may have been left out of their short form."""
    for kind, length in ((list, 3), (str, 40)):
        if isinstance(expected, kind) and isinstance(got, kind) and max(len(expected), len(got)) > _short.maxlist:
            differ = (i for i, (a, b) in enumerate(zip(expected, got, strict=False)) if not same(a, b))
            at = next(differ, min(len(expected), len(got)))
            here, there = shown(expected[at : at + length]), shown(got[at : at + length])
            return f"\nThe first {at} agree; from there expected {here}, but got {there}" if at else ""
    return ""


def _watched(function: Callable[..., Any], name: str, seconds: float, calls: list[_Call]) -> Callable[..., Any]:
    """The learner's function as a judge gets it: what is no proper result ends the judging with a verdict."""

    def watched(*args: Any, **named: Any) -> Any:
        calls.append(call := _run(function, args, named, seconds))
        if call.value is ... or (isinstance(call.error, TypeError) and "'ellipsis'" in str(call.error)):
            raise _Told(UNTOUCHED, "Put your own lines in place of the `...` and run the cell again.")
        if isinstance(call.error, _Stopped):
            endless = "Probably a loop that never ends: does each round come nearer to the end?"
            raise _Told(NOT_YET, f"{call.spelled(name)} was still running after {seconds:g} seconds.\n{endless}")
        if call.error is not None:
            error, where = _named(call.error), _line(call.error, function)
            raise _Told(NOT_YET, f"{call.spelled(name)} ended with an error, `{error}`.\n{where}") from call.error
        return call.value

    return watched


def _line(error: BaseException, function: Callable[..., Any]) -> str:
    """Where in the learner's own lines it went wrong."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    frames = [f for f in frames if code and f.filename == code.co_filename] or frames
    return f"In line {frames[-1].lineno}: `{frames[-1].line}`" if frames else "Is the `def` line still as it came?"


def _remark(exercise: Exercise, answer: Any, calls: list[_Call], seconds: float) -> str:
    """What there is to say about the known mistake that does the same as this answer."""
    for wrong, remark in exercise.wrong:
        if not calls:
            known = same(wrong, answer)
        else:
            repeats = ((call, _run(wrong, call.args, call.named, seconds)) for call in calls)
            known = all(type(a.error) is type(b.error) and same(a.value, b.value) for a, b in repeats)
        if known:
            return remark
    return ""


def _run(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any], seconds: float) -> _Call:
    """Call it, and read to its end what is lazy. What comes of it is handed back, but for an interrupt."""
    try:
        with _limited(seconds):
            value = function(*copy.deepcopy(args), **copy.deepcopy(named))
            # A loop in Python, since list() of an endless iterator could not be stopped.
            return _Call(args, named, [item for item in value] if isinstance(value, Iterator) else value)  # noqa: C416
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the learner's own sys.exit(), too, which must not end the kernel
        return _Call(args, named, error=error)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Throw `_Stopped` into what still runs after so many seconds, and again after as many: a bare ``except:`` may
    swallow it. It comes as a signal, which only the main thread feels; notebooks run their cells there."""
    ended, over = threading.Event(), False

    def ring() -> None:
        while not ended.wait(seconds):
            _thread.interrupt_main(signal.SIGTERM)

    def strike(*_: object) -> None:
        if not over:
            raise _Stopped

    before = signal.signal(signal.SIGTERM, strike)
    bell = threading.Thread(target=ring, daemon=True)
    bell.start()
    try:
        yield
    finally:
        over = True
        ended.set()
        bell.join()
        signal.signal(signal.SIGTERM, before)


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")[:300]


def _marked_up(text: str) -> str:
    """Escaped; what stands between backticks becomes code, in which JupyterLab takes no dollar sign for mathematics."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
