# SPDX-License-Identifier: MIT
"""The instructor's kit: questions with one right answer, schedules that add up, restart points that exist."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest

from chunklib.core.document import chunk_documents
from chunklib.core.measure import count
from chunklib.course.datasets import load_course_documents, load_course_questions
from chunklib.course.scoreboard import BUDGETS, scoreboard, scored_documents
from chunklib.search.evaluation import evaluate, paired_difference
from chunklib.search.retrieval import Index
from chunklib.structure import split_paragraphs
from tests.test_notebooks import HYPE
from tools.notebooks import ROOT
from tools.notebooks import lesson as cells
from tools.readme import MINUTES
from tools.short import LESSONS as SHORT
from tools.short import kept

DOCS = ROOT / "docs"
QUESTIONS, WORKSHOP, NOTES = (
    (DOCS / name).read_text(encoding="utf-8") for name in ("questions.md", "workshop.md", "instructor.md")
)


#: The last section of the notes, which belongs to no lesson.
ROOM = "What the room will ask"


def sections(text: str, level: str = "##") -> dict[str, str]:
    """What stands below each heading of a level."""
    return dict(re.findall(rf"(?ms)^{level} (.*?)$(.*?)(?=^{level} |\Z)", text))


def rows(text: str, columns: int) -> list[list[str]]:
    """The body of the only table in a text."""
    table = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]
    assert {len(row) for row in table} == {columns}
    assert set("".join(table[1])) <= set("- ")
    return table[2:]


# --- questions.md ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """One question: its choices by letter, what each remark says, and which is right."""

    number: str
    text: str
    choices: dict[str, str]
    remarks: dict[str, str]

    @property
    def right(self) -> list[str]:
        return [letter for letter, remark in self.remarks.items() if remark.startswith("**Right.** ")]


def parsed(section: str) -> list[Question]:
    """The questions of a section; whatever is not in the format is refused."""
    found = []
    for block in filter(None, re.split(r"(?m)^(?=\*\*\d)", section.strip())):
        match = re.fullmatch(r"\*\*(\d\d\.\d)\*\* ([^*-].*?)\n\n((?:- [A-D]\. .+\n  - .+\n?){4})\s*", block, re.DOTALL)
        assert match, f"not in the format: {block!r}"
        lines = re.findall(r"- ([A-D])\. (.+)\n  - (.+)", match[3])
        assert [letter for letter, *_ in lines] == list("ABCD"), match[1]
        text = " ".join(match[2].split())
        found.append(Question(match[1], text, {a: b for a, b, _ in lines}, {a: c for a, _, c in lines}))
    return found


BY_LESSON = {title[:2]: parsed(section) for title, section in sections(QUESTIONS).items()}
ALL = [question for some in BY_LESSON.values() for question in some]


def test_each_section_is_a_lesson_in_order_with_the_title_of_the_notes() -> None:
    titles = list(sections(QUESTIONS))
    assert titles == sorted(titles)
    assert len(titles) >= 10
    assert set(titles) <= set(sections(NOTES))
    assert list(sections(NOTES))[-1] == ROOM
    for lesson in BY_LESSON:
        assert cells(lesson)


@pytest.mark.parametrize("lesson", BY_LESSON)
def test_a_lesson_has_four_questions_numbered(lesson: str) -> None:
    assert [question.number for question in BY_LESSON[lesson]] == [f"{lesson}.{n}" for n in range(1, 5)]


@pytest.mark.parametrize("question", ALL, ids=lambda question: question.number)
def test_one_choice_is_right_and_each_wrong_one_has_its_remark(question: Question) -> None:
    assert len(question.right) == 1
    for letter, remark in question.remarks.items():
        if letter not in question.right:
            assert re.fullmatch(r"\*[^*]+\.\* (?:Say|Ask): .+[.?]", remark), f"{letter}: {remark}"
    assert re.search(r"[?.]$", question.text)


@pytest.mark.parametrize("question", ALL, ids=lambda question: question.number)
def test_no_choice_and_no_remark_is_there_twice(question: Question) -> None:
    for lines in (question.choices, question.remarks):
        assert len({re.sub(r"\W+", " ", line).strip().lower() for line in lines.values()}) == 4


def test_no_question_is_there_twice() -> None:
    assert len({question.text for question in ALL}) == len(ALL)
    beliefs = [remark.split(".* ")[0] for question in ALL for remark in question.remarks.values() if remark[1] != "*"]
    assert [belief for belief, n in Counter(beliefs).items() if n > 1] == []


def test_the_right_answer_cannot_be_told_by_its_letter_or_its_length() -> None:
    letters = Counter(question.right[0] for question in ALL)
    assert set(letters) == set("ABCD")
    assert max(letters.values()) <= 0.35 * len(ALL)
    for lesson, some in BY_LESSON.items():
        assert len({question.right[0] for question in some}) >= 3, lesson
    for extreme in (max, min):
        told = [q for q in ALL if extreme(q.choices, key=lambda letter: len(q.choices[letter])) in q.right]
        assert len(told) <= 0.4 * len(ALL), f"{extreme.__name__}: {[q.number for q in told]}"


# --- workshop.md: schedules ------------------------------------------------------------------------------------------

TOTALS = {"90 minutes": 90, "Half a day": 210, "One day": 390}
LESSON = re.compile(r"Lesson (\d\d)(, short)?: reading (\d+), (first exercise|exercises) (\d+)")
SCHEDULES = {
    title: [(start, int(minutes), what) for start, minutes, what in rows(section, 3)]
    for title, section in sections(sections(WORKSHOP)["Schedules"], "###").items()
}


def words_and_cells(some: list[dict[str, Any]]) -> float:
    """Minutes by the rule of the lessons: words / 180, and one for each code cell."""
    prose = sum(len(cell["source"].split()) for cell in some if cell["cell_type"] == "markdown")
    return prose / 180 + len([cell for cell in some if cell["cell_type"] == "code"])


def noted(lesson: str, label: str) -> list[tuple[str, int]]:
    """The entries of ``Minutes:`` or ``Exercises:`` in the instructor's notes."""
    (section,) = (text for title, text in sections(NOTES).items() if title.startswith(lesson))
    (line,) = re.findall(rf"(?m)^{label}: (.+)\.$", section)
    entries = re.findall(r"(.*?) ?(\d+)(?:, |$)", line)
    assert ", ".join(f"{name} {minutes}".strip() for name, minutes in entries) == line
    return [(name, int(minutes)) for name, minutes in entries]


def clock(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02}"


def test_there_are_three_schedules() -> None:
    assert SCHEDULES.keys() == TOTALS.keys()


@pytest.mark.parametrize("title", TOTALS)
def test_the_minutes_of_a_schedule_add_up(title: str) -> None:
    now = 0
    for start, minutes, what in SCHEDULES[title]:
        assert start == clock(now), what
        now += minutes
    assert now == TOTALS[title]


@pytest.mark.parametrize("title", TOTALS)
def test_lessons_in_a_schedule_take_the_minutes_of_their_first_page(title: str) -> None:
    for _, minutes, what in SCHEDULES[title]:
        if not what.startswith("Lesson"):
            continue
        match = LESSON.fullmatch(what)
        assert match, what
        lesson, short, reading, label, exercises = match.groups()
        assert minutes == int(reading) + int(exercises), what
        if short:
            expected = words_and_cells(kept(cells(lesson)))
            assert abs(int(reading) - expected) <= expected / 4, f"{what}: {expected:.0f} expected"
            assert (label, int(exercises)) == ("first exercise", noted(lesson, "Exercises")[0][1]), what
        else:
            assert (reading, exercises) == MINUTES.findall(cells(lesson)[0]["source"])[0], what
            assert label == "exercises"


@pytest.mark.parametrize("title", TOTALS)
def test_no_schedule_repeats_a_lesson_or_goes_on_too_long_without_a_break(title: str) -> None:
    lessons = [what[7:9] for _, _, what in SCHEDULES[title] if what.startswith("Lesson")]
    assert lessons == sorted(set(lessons))
    assert (title == "90 minutes") == (lessons == list(SHORT) and ", short" in str(SCHEDULES[title]))
    stretch = 0
    for _, minutes, what in SCHEDULES[title]:
        stretch = 0 if what in ("Break", "Lunch") else stretch + minutes
        assert stretch <= 90, what


@pytest.mark.parametrize("title", TOTALS)
def test_questions_in_a_schedule_follow_their_lesson(title: str) -> None:
    known, lesson, asked = {question.number for question in ALL}, "", 0
    for _, _, what in SCHEDULES[title]:
        lesson = what[7:9] if what.startswith("Lesson") else lesson
        if what.startswith("Question"):
            numbers = re.findall(r"\d\d\.\d", what)
            assert set(numbers) <= known, what
            assert {number[:2] for number in numbers} == {lesson}, what
            asked += 1
    assert asked == sum(what.startswith("Lesson") for _, _, what in SCHEDULES[title])


# --- workshop.md: restart points -------------------------------------------------------------------------------------

RESTARTS = [
    (lesson, heading, name, int(minute))
    for lesson, heading, name, minute in rows(sections(WORKSHOP)["Restart points"], 4)
]
SCHEDULED = sorted({what[7:9] for some in SCHEDULES.values() for *_, what in some if what.startswith("Lesson")})


def timetable(lesson: str) -> tuple[dict[str, int], int]:
    """At which minute each section of the notes begins, and when all ends; the recap comes behind the exercises."""
    minutes = noted(lesson, "Minutes")
    exercises = ("exercises", sum(n for _, n in noted(lesson, "Exercises")))
    at = len(minutes) - (minutes[-1][0] == "recap")
    starts, now = {}, 0
    for name, n in [*minutes[:at], exercises, *minutes[at:]]:
        assert name not in starts, f"{lesson}: {name!r} twice"
        starts[name], now = now, now + n
    return starts, now


def places(some: list[dict[str, Any]]) -> dict[str, float]:
    """The headings of second level, and after how many minutes each comes by the rule of the lessons."""
    found: dict[str, float] = {}
    now = 0.0
    for cell in some:
        if cell["cell_type"] == "code":
            now += "exercise" not in cell["metadata"].get("tags", [])
            continue
        for part in re.split(r"(?m)^(?=#+ )", cell["source"]):
            if part.startswith("## "):
                found.setdefault(part.splitlines()[0][3:], now)
            now += len(part.split()) / 180
    return found


def test_each_lesson_of_the_schedules_has_restart_points_and_no_other() -> None:
    assert sorted({lesson for lesson, *_ in RESTARTS}) == SCHEDULED
    assert [lesson for lesson, *_ in RESTARTS] == sorted(lesson for lesson, *_ in RESTARTS)


@pytest.mark.parametrize("lesson", SCHEDULED)
def test_restart_points_are_headings_at_the_minute_of_the_notes(lesson: str) -> None:
    starts, _ = timetable(lesson)
    by_rule = places(cells(lesson))
    stretched = starts["exercises"] / by_rule["Exercises"]  # the lesson's own minutes, against those of the rule
    for number, heading, name, minute in RESTARTS:
        if number == lesson:
            assert heading in by_rule, f"{lesson} has no heading {heading!r}"
            assert name in starts, f"the notes of {lesson} have no section {name!r}"
            assert minute == starts[name], f"{lesson}, {heading}: minute {starts[name]}"
            if name != "recap":  # that is behind the exercises, which the rule does not count
                assert abs(by_rule[heading] * stretched - minute) < 3, f"{heading!r} is not {name!r}"
            else:
                assert heading == "Recap"


@pytest.mark.parametrize("lesson", SCHEDULED)
def test_restart_points_are_twenty_minutes_apart_at_most(lesson: str) -> None:
    _, end = timetable(lesson)
    minutes = [0, *(minute for number, *_, minute in RESTARTS if number == lesson), end]
    assert all(0 < b - a <= 20 for a, b in pairwise(minutes)), minutes


@pytest.mark.parametrize("lesson", SHORT)
def test_the_short_version_keeps_enough_of_them(lesson: str) -> None:
    (reading,) = (
        int(match[3])
        for *_, what in SCHEDULES["90 minutes"]
        if (match := LESSON.fullmatch(what)) and match[1] == lesson
    )
    left = places(kept(cells(lesson)))
    stretched = reading / left["Recap"]
    minutes = [
        0,
        *(left[heading] * stretched for number, heading, *_ in RESTARTS if number == lesson and heading in left),
    ]
    assert all(b - a <= 20 for a, b in pairwise([*minutes, reading + noted(lesson, "Exercises")[0][1]])), minutes


# --- the rest --------------------------------------------------------------------------------------------------------


def test_the_notes_say_what_to_answer_for_each_exercise() -> None:
    for title, section in sections(NOTES).items():
        if title == ROOM:
            continue
        module = (ROOT / "chunklib" / "course" / "exercises" / f"lesson_{title[:2]}.py").read_text(encoding="utf-8")
        ids = set(re.findall(r'(?m)^    "(\d+\.\d)": ', module))
        assert len(ids) >= 3, title
        assert set(re.findall(r"\b(\d+\.\d):", section)) == ids, title


def test_the_numbers_told_to_the_room_are_those_of_the_scoreboard_and_the_lessons() -> None:
    board = scoreboard()
    notes, said = (" ".join(text.split()) for text in (NOTES, sections(NOTES)[ROOM]))
    larger, smaller = "recursive 150", "recursive 100"
    mean, interval = re.fullmatch(r"\+(\S+) (\[.+\])", str(board.gain(smaller, over=larger))).groups()  # type: ignore[union-attr]
    shares = [f"{100 * board[name].found['all'].mean:.0f}" for name in (smaller, larger)]
    assert f"{shares[0]} against {shares[1]} % (+{mean} points {interval}, in the lesson)" in notes
    assert f"{smaller.split()[1]} finds {mean} points more {interval} (lesson 02)" in said
    assert f"the gain is {board.gain('markdown 150 with context', over='markdown 150')}." in said
    documents = scored_documents()
    asked = [q for q in load_course_questions(*(document.id for document in documents)) if q.gold]
    assert f"In lesson 04 there are {len(asked)}," in said
    curve = dict(zip(BUDGETS, board[smaller].curve, strict=True))
    assert f"{100 * curve[1000]:.0f} % of the answers in 1,000 characters, {100 * curve[8000]:.0f} % in 8,000" in said


def test_headings_were_a_tie_in_lesson_00_question_by_question() -> None:
    """The lesson shows whiskers alone; so its two ways are built once more, and compared in pairs."""
    code = "\n".join(cell["source"] for cell in cells("00") if cell["cell_type"] == "code")
    names = re.findall(r'"([^"]+)"', re.findall(r"(?m)^names = \[(.+)\]$", code)[0])
    documents = load_course_documents(*names)
    plain = [chunk for chunk in chunk_documents(documents, split_paragraphs) if not chunk.text.startswith("#")]
    headed = [replace(chunk, context=" > ".join(chunk.section_path)) for chunk in plain]
    with_headings, without = (evaluate(Index(some), load_course_questions(*names)).found for some in (headed, plain))
    mean, low, high = (100 * value for value in paired_difference(with_headings, without))
    said = " ".join(sections(NOTES)[ROOM].split())
    assert f"{mean:+.1f} [{low:+.1f}, {high:+.1f}] over {len(without)} questions" in said


def test_a_blank_between_two_sentences_may_be_a_token_more() -> None:
    """What question 02.2 has the room count: joining can add, as it can melt."""
    assert count(" 24 hours") == count("24 hours") + 1
    assert count(" vacuum") == count("vacuum") - 1
    assert "count *24 hours* with and without a blank before it" in QUESTIONS


def test_the_capstone_can_be_read_in_its_minutes_by_a_pair() -> None:
    words = [len(path.read_text(encoding="utf-8").split()) for path in (ROOT / "capstone" / "documents").iterdir()]
    (minutes,) = re.findall(r"(?m)^\| (\d+) \| read the folder on paper, shared out in the pair \|$", WORKSHOP)
    assert abs(sum(words) / 2 / 180 - int(minutes)) < 2


def test_windows_is_set_up_with_the_lines_of_the_readme() -> None:
    fence = re.compile(r"```\n(py -3\.11.*?)```", re.DOTALL)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert fence.findall(WORKSHOP) == fence.findall(readme) != []


def test_the_tables_of_the_kit_have_no_empty_cell() -> None:
    profiles, failures = (
        rows(sections(WORKSHOP)["Who comes"], 5),
        rows(sections(WORKSHOP)["When installing fails"].split("###")[0], 3),
    )
    assert len(profiles) == 3
    assert len(failures) >= 7
    assert all(map(all, [*profiles, *failures]))


@pytest.mark.parametrize("name", ["questions.md", "workshop.md", "instructor.md"])
def test_the_tone_and_the_links(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    assert HYPE.findall(re.sub(r"`[^`]*`", "", text)) == []
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (DOCS / link).exists(), link
