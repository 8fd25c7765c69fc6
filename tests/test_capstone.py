# SPDX-License-Identifier: MIT
"""The capstone: documents that agree with each other, difficulties that are planted, and a choice that is real."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunklib.core.measure import count
from chunklib.course.datasets import load_course_documents, load_questions
from chunklib.search.evaluation import paired_difference
from tests.test_notebooks import HYPE
from tools import lab, notebooks
from tools.capstone import (
    ARCHIVED,
    BASELINE,
    BUDGET,
    FOLDER,
    IN_FORCE,
    KINDS,
    STRATEGIES,
    asks_of_the_past,
    gain,
    questions,
    scores,
    wrong_version,
)
from tools.capstone import documents as load
from tools.notebooks import ROOT

NOTEBOOK = FOLDER / "capstone.ipynb"
TEXTS = {document.id: document.text for document in load()}
RULES, OLD, PRICES = TEXTS[IN_FORCE], TEXTS[ARCHIVED], TEXTS["prices.md"]
MEETING, DESK = TEXTS["members-meeting.txt"], TEXTS["questions-and-answers.txt"]
ASKED = (*questions("tune"), *questions("held_out"))


def golds(kind: str) -> list[tuple[str, str, int, int]]:
    """Of each question of a kind its only gold: the question's id, the document, start and end."""
    found = []
    for q in ASKED:
        if q.kind == kind:
            (((name, (start, end)),),) = q.gold
            found.append((q.id, name, start, end))
    return found


# --- The folder ------------------------------------------------------------------------------------------------------


def test_five_documents_of_another_house() -> None:
    assert len(TEXTS) == 5
    assert 9_000 <= sum(map(count, TEXTS.values())) <= 12_000
    assert not any("Hollin" in document.text for document in load_course_documents())
    assert not any("TechGadgets" in text for text in TEXTS.values())


@pytest.mark.parametrize("path", sorted((FOLDER / "documents").iterdir()), ids=lambda path: path.name)
def test_files_are_plain(path: Path) -> None:
    data = path.read_bytes()
    assert data.endswith(b"\n")
    assert b"\r" not in data
    assert not re.search(rb"[ \t]\n", data)


def test_questions_are_balanced_and_have_names_of_their_own() -> None:
    assert len(ASKED) == 48
    assert Counter(q.split for q in ASKED) == {"tune": 24, "held_out": 24}
    assert len({q.id for q in ASKED}) == len({q.text.casefold() for q in ASKED}) == 48
    kinds = Counter((q.kind, q.split) for q in ASKED)
    assert {kind for kind, _ in kinds} == {*KINDS, "none"}
    assert all(kinds[kind, "tune"] == kinds[kind, "held_out"] >= 2 for kind, _ in kinds)
    assert [q.id for q in ASKED if not q.gold] == [q.id for q in ASKED if q.kind == "none"]
    assert sum(not q.gold for q in ASKED) == 4


def test_every_document_is_asked_about_in_both_halves() -> None:
    for split in ("tune", "held_out"):
        assert {name for q in questions(split) for parts in q.gold for name, _ in parts} == TEXTS.keys()


def test_a_quote_stands_once(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        for part in (part for parts in row["gold"] for part in parts):
            assert TEXTS[part["document"]].count(part["quote"]) == 1, row["id"]
    file = tmp_path / "questions.jsonl"
    rows[0]["gold"][0][0]["quote"] = "Say what you broke, twice."
    file.write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"question {rows[0]['id']}: .* stands 0 times in {IN_FORCE}"):
        load_questions(file, load())


def test_nothing_answers_the_questions_without_an_answer() -> None:
    everything = "\n".join(TEXTS.values()).lower()
    assert [word for word in ("windsurf", "drone", "salary", "wage", "vacanc", "deepest") if word in everything] == []


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z0-9-]+", text.lower()) if len(word) > 4}


def test_questions_use_words_of_their_own() -> None:
    for q in ASKED:
        for parts in q.gold:
            quote = " ".join(TEXTS[name][slice(*span)] for name, span in parts)
            assert len(words(q.text) & words(quote)) <= 3, q.id
            runs = zip(*(q.text.lower().split()[i:] for i in range(4)), strict=False)
            assert not any(" ".join(run) in quote.lower() for run in runs), q.id


# --- Documents agree -------------------------------------------------------------------------------------------------


def rows() -> dict[str, list[str]]:
    """The rows of all price tables by their codes."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in PRICES.splitlines() if "| " in line]
    return {row[0]: row[1:] for row in cells if re.fullmatch(r"[A-Z]+-\d+", row[0])}


def day(text: str, year: int = 2025) -> date:
    return datetime.strptime(f"{text} {year}", "%d %B %Y").date()


def test_deposits_and_motors_keep_to_the_rules() -> None:
    boats = [row for code, row in rows().items() if code[:2] in ("WR", "TN", "CU", "GN", "PL", "HK", "KY", "SB")]
    assert len(boats) == 20
    excess = int(re.findall(r"an excess of €(\d+)", RULES)[0])
    assert max(int(row[4]) for row in boats) == excess
    assert "electric motor, 2 kW" in rows()["PL-2"][0]
    assert "Electric ones up to 4 kW are allowed" in RULES


@pytest.mark.parametrize(
    ("code", "weekday"),
    [
        *((code, 5) for code in ("C-110", "C-120", "C-131", "C-140")),
        *((code, 0) for code in ("C-121", "C-130", "J-202", "J-203")),
        ("J-205", 2),
    ],
)
def test_courses_start_on_the_day_that_their_name_says(code: str, weekday: int) -> None:
    assert day(rows()[code][3]).weekday() == weekday


def test_no_course_takes_the_fleet_in_regatta_week() -> None:
    assert "For the regatta week, the last full week of July, no hire bookings are taken at all" in RULES
    mondays = [monday for n in range(1, 32) if (monday := date(2025, 7, n)).weekday() == 0]
    regatta = max(monday for monday in mondays if monday.day + 6 <= 31)
    for code in ("J-202", "J-203", "C-121"):
        assert not regatta <= day(rows()[code][3]) < date(2025, 7, regatta.day + 7), code


def test_the_meeting_agrees_with_the_papers() -> None:
    assert "Kofi's Level 2 week lost four of its five days" in MEETING
    assert rows()["C-121"][3:] == ["4 August", "325", "Kofi"]
    assert "at the primary school, in the music room, on Wednesdays" in MEETING
    assert "row A has to be empty for it, that's all the Wrens" in MEETING
    assert {rows()[code][6] for code in ("WR-1", "WR-2")} == {"grass, row A"}
    assert "under the rules it's gone" in MEETING, "the boat with the birch"
    assert "A berth is lost when the boat has not been afloat once" in RULES
    assert "Our safety boats are exempt, by a permit that the waterworks renew every other year" in RULES
    assert "it runs out in March" in MEETING


def test_the_desk_agrees_with_the_papers() -> None:
    adult, training = (int(rows()[code][1]) for code in ("M-1", "M-2"))
    assert training < adult
    assert "Membership is cheaper for those in training" in DESK
    assert "float plan left in the red box" in RULES
    assert "It holds float plans" in DESK
    assert any(int(row[4]) > 250 for code, row in rows().items() if code.startswith("C-"))
    assert "For courses above 250" in DESK


# --- What is planted -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "exception"),
    [
        ("have the whole fee back", "There is no payment in cash"),
        ("Red: nobody leaves the landing", "Keelboats may stay out under red"),
        ("Landing on Heron Island is forbidden", "From 15 September to the end of February the birds are gone"),
        ("Level 1 is enough for kayaks", "The Gannet is a case of its own."),
        ("The second half is due 14 days before", "Illness changes the rule of the second half."),
        ("Hirers pay for damage up to an excess", "The excess is doubled"),
        ("Nobody under 16 hires alone", "A young person who is in the race squad"),
        ("the moorings are empty", "A wooden boat may stay afloat"),
        ("there is one of our instructors in a safety boat", "Groups of the scouts"),
    ],
)
def test_exceptions_stand_below_their_rule(rule: str, exception: str) -> None:
    assert RULES.count(rule) == RULES.count(exception) == 1
    between = RULES[RULES.index(rule) : RULES.index(exception)]
    assert "\n\n" in between
    assert "\n#" not in between, "in the same section"


def test_exceptions_of_the_questions_stand_late_in_their_section() -> None:
    for name, _, start, _ in golds("exception"):
        assert RULES[RULES.rindex("\n###", 0, start) : start].count("\n\n") >= 2, name


def test_sections_need_their_heading() -> None:
    words_of_headings = ("hire", "berth", "complaint", "certificate", "check sail", "course", "late parents", "cold")
    for name, _, start, end in golds("section"):
        assert not any(re.search(rf"\b{word}", RULES[start:end].lower()) for word in words_of_headings), name


def headings(text: str) -> list[str]:
    return re.findall(r"(?m)^#{2,3} (.+)$", text)


def test_two_versions_with_the_same_headings_and_other_numbers() -> None:
    shared = set(headings(RULES)) & set(headings(OLD))
    assert len(shared) >= 20
    by_id = {document.id: document for document in load()}
    assert by_id[ARCHIVED].metadata["status"] == "archived"
    assert by_id[IN_FORCE].metadata["status"] == "in force"
    assert by_id[ARCHIVED].metadata["valid_until"] < by_id[IN_FORCE].metadata["valid_from"]
    for old, new in (
        ("Call off a hire 72 hours before", "Call off a hire 48 hours before"),
        ("an excess of €400", "an excess of €250"),
        ("until an hour has passed since the last thunder", "until half an hour has passed since the last thunder"),
        ("Members book up to 28 days ahead", "Members book up to 21 days ahead"),
        ("the crews share the cost of both by halves", "each crew pays its own"),
        ("burgees cost €35 each", "burgees are charged at what they cost to replace"),
    ):
        assert OLD.count(old) == RULES.count(new) == 1
        assert old not in RULES
        assert new not in OLD


def test_both_versions_are_asked_for() -> None:
    for split in ("tune", "held_out"):
        asked = Counter(q.gold[0][0][0] for q in questions(split) if q.kind == "version")
        assert asked == {IN_FORCE: 2, ARCHIVED: 1}
    for q in ASKED:
        past = bool(re.search(r"\b202[234]\b", q.text))
        assert past == (bool(q.gold) and q.gold[0][0][0] == ARCHIVED), q.id


def test_the_sample_strategy_hears_when_a_question_is_about_the_past() -> None:
    for q in ASKED:
        assert asks_of_the_past(q.text) == (bool(q.gold) and q.gold[0][0][0] == ARCHIVED), q.id
    assert not asks_of_the_past("is the price list of 2025 out? it is number 12024")


def test_the_meeting_is_one_block_without_speakers() -> None:
    assert "\n" not in MEETING.strip()
    assert not re.search(r"\b[A-Z][a-z]+:\s", MEETING)
    assert len(MEETING.split()) > 1800
    places = sorted(start for _, _, start, _ in golds("talk"))
    assert all(b - a > 300 for a, b in pairwise(places)), "eight stretches of it are asked about"


def test_the_desk_has_labels_and_no_blank_line_between_them() -> None:
    assert len(re.findall(r"(?m)^Q: ", DESK)) == len(re.findall(r"(?m)^A: ", DESK)) >= 30
    assert len(re.findall(r"\n\nQ: ", DESK)) == 5, "only below the five headings"
    for _, document, start, _ in golds("fact"):
        assert document == "questions-and-answers.txt"
        assert DESK.rindex("A: ", 0, start) > DESK.rindex("Q: ", 0, start)


def test_rows_need_the_names_of_their_columns() -> None:
    assert len(rows()) >= 40
    for name, document, start, end in golds("table"):
        assert document == "prices.md"
        table = PRICES[PRICES.rindex("\n## ", 0, start) : start]
        header = next(line for line in table.splitlines() if line.startswith("| Code"))
        assert len(table) - table.index(header) > 200, f"{name}: far below the header"
        assert PRICES[start:end].startswith("| ")
        assert not set(header.split(" | ")[1:]) & set(PRICES[start:end].split(" | "))


# --- The choice is real ----------------------------------------------------------------------------------------------


def found(name: str, *kinds: str) -> int:
    """Answers of both halves that a strategy finds, of some kinds."""
    total = 0.0
    for split in ("tune", "held_out"):
        row = scores(name, split)
        total += row.found[[kind in (kinds or KINDS) for kind in row.kinds]].sum()
    return int(total)


def test_neither_too_easy_nor_too_hard() -> None:
    for name in STRATEGIES:
        assert 0.4 * 44 <= found(name) <= 0.9 * 44, name


def test_the_order_of_two_strategies_turns_round_between_kinds() -> None:
    """Small pieces find what stands under a heading, large ones what is said in a meeting; over all it is a tie."""
    assert found("recursive 50", "section") >= found(BASELINE, "section") + 3
    assert found("recursive 50", "talk") <= found(BASELINE, "talk") - 3
    both = [np.concatenate([scores(n, s).found for s in ("tune", "held_out")]) for n in ("recursive 50", BASELINE)]
    _, low, high = paired_difference(*both)
    assert low < 0 < high


def test_additions_for_all_alike_are_a_tie() -> None:
    for split in ("tune", "held_out"):
        _, low, high = gain("all additions", split)
        assert low < 0 < high


def test_the_sample_strategy_beats_the_baseline_or_ties() -> None:
    for split in ("tune", "held_out"):
        mean, low, _ = gain("by document", split)
        assert mean > 0
        assert low >= 0
    assert all(found("by document", kind) >= found(BASELINE, kind) for kind in KINDS)


def wrong(name: str) -> int:
    return wrong_version(name, "tune") + wrong_version(name, "held_out")


def test_without_a_filter_the_version_is_mistaken() -> None:
    assert wrong(BASELINE) >= 1
    assert wrong("recursive 50") >= 1
    assert wrong("by document") == 0


# --- The notebook ----------------------------------------------------------------------------------------------------


def cells(kind: str) -> list[str]:
    return [cell["source"] for cell in notebooks.cells(NOTEBOOK) if cell["cell_type"] == kind]


def run(final: bool, capsys: pytest.CaptureFixture[str], build: Any = None) -> str:
    names: dict[str, Any] = {}
    for source in cells("code"):
        exec(source.replace("final = False", f"final = {final}"), names)
        if build and "def build" in source:
            names["build"] = build
    return capsys.readouterr().out


def test_the_notebook_is_short_and_plain() -> None:
    assert 8 <= len(cells("code")) <= 12
    assert all(len(source.splitlines()) <= 20 for source in cells("code"))
    assert HYPE.findall(re.sub(r"`[^`]*`", "", "\n".join(cells("markdown")))) == []
    assert f"BUDGET = {BUDGET} " in cells("code")[0]
    assert "first 2,000 characters" in cells("markdown")[0]


def test_held_out_is_scored_only_when_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(FOLDER)
    out = run(False, capsys)
    assert out.endswith("The held-out questions have not been scored.\n")
    for q in questions("held_out"):
        assert q.text not in out
    last = run(True, capsys, STRATEGIES["by document"]).splitlines()[-3:]
    expected = [f"{scores(name, 'held_out').found.sum():.0f} of 22 found" for name in (BASELINE, "by document")]
    assert [line[10:].split(",")[0] for line in last[:2]] == expected
    mean, low, high = (round(100 * value) for value in gain("by document", "held_out"))
    assert last[2] == f"over the baseline {mean:+} [{low:+}, {high:+}] points after 1 tries on the others"


def test_each_question_of_the_defence_has_its_row() -> None:
    defence = cells("markdown")[-1]
    asked = re.findall(r"(?m)^(\d)\. ", defence)
    marked = [line.strip("| ").split(" | ") for line in re.findall(r"(?m)^\| \d .+$", defence)]
    assert asked == [row[0][0] for row in marked] == list("12345678")
    assert all(len(row) == 4 and all(row) for row in marked)
    assert f"{2 * len(marked)} points" in defence


def test_a_learner_gets_what_is_needed_and_no_solution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copied = lab.copy_missing(FOLDER, tmp_path / "capstone", *lab.CAPSTONE)
    names = {path.relative_to(tmp_path / "capstone").as_posix() for path in copied}
    assert names == {"capstone.ipynb", "questions.jsonl", *(f"documents/{name}" for name in TEXTS)}
    monkeypatch.chdir(tmp_path / "capstone")
    assert "15 of 22" in run(False, capsys)


def test_make_lab_copies_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("notebooks", "capstone/documents"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "notebooks" / lab.FIRST).write_text("{}", encoding="utf-8")
    (tmp_path / "capstone" / "capstone.ipynb").write_text("{}", encoding="utf-8")
    (tmp_path / "capstone" / "documents" / "a.md").write_text("A.", encoding="utf-8")
    monkeypatch.setattr(lab, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["lab.py", "--copy-only"])
    lab.main()
    copies = tmp_path / "my_notebooks"
    assert sorted(path.relative_to(copies).as_posix() for path in copies.rglob("*.*")) == [
        lab.FIRST,
        "capstone/capstone.ipynb",
        "capstone/documents/a.md",
    ]


# --- What the workshop kit says of it --------------------------------------------------------------------------------


def test_the_workshop_kit_tells_the_scores() -> None:
    kit = (ROOT / "docs" / "workshop.md").read_text(encoding="utf-8")
    section = kit[kit.index("## Capstone") : kit.index("## Restart points")]
    said = " ".join(section.split())
    mine, base = (
        [int(scores(name, split).found.sum()) for split in ("tune", "held_out")] for name in ("by document", BASELINE)
    )
    assert f"{mine[0]} and {mine[1]} answers of 22 where the baseline finds {base[0]} and {base[1]}" in said
    for split in ("tune", "held_out"):
        mean, low, high = (round(100 * value) for value in gain("by document", split))
        assert f"{mean:+} {'points ' if split == 'tune' else ''}[{f'{low:+}' if low else 0}, {high:+}]" in said
    section_and_talk = [found(name, kind) for kind in ("section", "talk") for name in ("recursive 50", BASELINE)]
    told = r"(\d) answers under a heading are found instead of (\d), and (\d) from the meeting instead of (\d)"
    assert [int(n) for n in re.findall(told, said)[0]] == section_and_talk
    in_force = [q for q in ASKED if q.gold and q.gold[0][0][0] == IN_FORCE]
    assert f"an archived rule first for {wrong(BASELINE)} of the {len(in_force)} questions about those in force" in said
    minutes = [int(n) for n in re.findall(r"(?m)^\| (\d+) \|", section)]
    assert sum(minutes) == 210, "half a day, as in the schedules"
