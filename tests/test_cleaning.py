# SPDX-License-Identifier: MIT
"""Cleaning: worked examples, what is guarded, each step idempotent on any text, texts that hurt."""

from __future__ import annotations

import itertools
import json
from functools import partial
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from chunklib.course.datasets import load_course_documents
from chunklib.documents.cleaning import (
    ABBREVIATIONS,
    CONTRACTIONS,
    GUARDED,
    KEYWORD_STEPS,
    Step,
    clean,
    correct_spelling,
    domain_words,
    expand_abbreviations,
    expand_contractions,
    lower_case,
    remove_stop_words,
    remove_symbols,
    repair_unicode,
)
from tests.laws import FRAGMENTS

STEPS: list[Step] = [
    repair_unicode,
    lower_case,
    expand_contractions,
    expand_abbreviations,
    correct_spelling,
    remove_stop_words,
    remove_symbols,
]
ROWS = [json.loads(row) for row in Path(__file__).with_name("reported_faults.jsonl").read_bytes().decode().splitlines()]
CASES = {row["id"]: row for row in ROWS}

PIECES = [
    *FRAGMENTS,
    "not",
    "don't",
    "DON’T",
    "isnt",
    "it's",
    "the",
    "The",
    "of",
    "a",
    "I",
    "no",
    "No.",
    "Fig.",
    "approx.",
    "e.g.",
    "5",
    "5 to 7 days",
    "–",
    "−5 °C",
    "€4.90",
    "$",
    "±",
    "≥ 3",
    "°",
    "%",
    "µg/ml",
    "AX-310",
    "E-47",
    "HomeHub",
    "C++",
    "/",
    "warrenty",
    "recieve",
    "https://example.org/a?b=(1)",
    "www.",
    "@",
    "ops@example.org",
    "[the](x)",
    "](",
    "![",
    "(",
    ")",
    "Ã©",
    "â€™",
    "\u00ad",
    "«",
    "&amp;",
    "o'clock",
    "Alice's",
    "-",
    "'",
    "’",
    ",",
    ":",
    "w/o",
    "UNDER",
    "nt",
]
any_text = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join),
    st.text(max_size=50),
)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
@given(text=any_text)
def test_a_second_time_changes_nothing(step: Step, text: str) -> None:
    once = step(text)
    assert step(once) == once


@given(text=any_text)
def test_negations_survive_every_step(text: str) -> None:
    def negations(of: str) -> list[str]:
        return list(regex.findall(r"(?<![\w'’/&.-])(?:not|no|nor|never|without)(?![\w'’/&.-])", of.lower()))

    for step in (lower_case, expand_contractions, correct_spelling, remove_stop_words, remove_symbols):
        assert len(negations(step(text))) >= len(negations(text)), step


@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_no_guarded_token_is_dropped(text: str) -> None:
    text = repair_unicode(text)
    for step in (correct_spelling, remove_stop_words, remove_symbols):
        left = step(text)
        at = 0
        for found in GUARDED.finditer(text):
            at = left.find(found[0], at)
            assert at >= 0, (step, found[0])
            at += len(found[0])


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_on_the_course_documents(step: Step) -> None:
    for document in load_course_documents():
        once = step(document.text)
        assert step(once) == once
        assert once.count("\f") == document.text.count("\f")
    both = clean(document.text, *KEYWORD_STEPS)
    assert clean(both, *KEYWORD_STEPS) == both


def test_the_three_sentences() -> None:
    cats = "There was a cat. The cat sat. The cat sat on a mat."
    assert clean(cats, *KEYWORD_STEPS) == "cat cat sat cat sat mat"
    assert clean(cats) == cats
    assert clean("") == clean("", *KEYWORD_STEPS) == ""


@pytest.mark.parametrize("text", [None, b"bytes", 7])
def test_text_must_be_str(text: object) -> None:
    with pytest.raises(TypeError, match="must be str"):
        clean(text)  # type: ignore[arg-type]


# --- One step at a time ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("cafÃ© â€“ 5 â‚¬", "café – 5 €"),
        ("It’s “fine” — 5–7 °C", "It’s “fine” — 5–7 °C"),
        ("e\u0301", "é"),
        ("ﬁrmware", "firmware"),
        ("a\x00b\ud800", "ab\ufffd"),
        ("R&amp;D\r\n\f", "R&amp;D\r\n\f"),
        ("退货期限，六十天！", "退货期限，六十天！"),
    ],
)
def test_repair(text: str, repaired: str) -> None:
    assert repair_unicode(text) == repaired


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("Don't", "Do not"),
        ("DON’T", "DO NOT"),
        ("it doesn’t, it wont, it dont", "it does not, it wont, it do not"),
        ("can't won't shan't", "cannot will not shall not"),
        ("I'm sure it's, I've, let's", "I am sure it is, I have, let us"),
        ("she'd dogs' o'clock", "she'd dogs' o'clock"),
        ("at https://example.org/don't", "at https://example.org/don't"),
    ],
)
def test_contractions(text: str, expanded: str) -> None:
    assert expand_contractions(text) == expanded


def test_no_contraction_loses_its_negation_or_expands_twice() -> None:
    for short, whole in CONTRACTIONS.items():
        assert ("n't" in short or short.endswith("nt")) == (" not" in whole or whole == "cannot")
        assert expand_contractions(short) == whole
        assert expand_contractions(whole) == whole


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("No. 5 and Nos. 6", "number 5 and numbers 6"),
        ("Is it free? No. Five days.", "Is it free? No. Five days."),
        ("the answer is no. 5 are left", "the answer is no. 5 are left"),
        ("see p. 7, fig. 3", "see page 7, figure 3"),
        ("w/o case, incl. cable", "without case, including cable"),
        ("the pump. 5 litres", "the pump. 5 litres"),
    ],
)
def test_abbreviations(text: str, expanded: str) -> None:
    assert expand_abbreviations(text) == expanded


def test_a_table_of_ones_own() -> None:
    assert expand_abbreviations("RMA no. 5", table={"RMA": "return number"}) == "return number no. 5"
    assert expand_abbreviations("e.g.", table={}) == "e.g."
    assert all(expand_abbreviations(whole) == whole for whole in ABBREVIATIONS.values())


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("the warrenty and the reciept", "the warranty and the receipt"),
        ("preorder", "preorder"),  # "reorder" begins with another letter
        ("dont usb HomeHub Warrenty", "dont usb HomeHub Warrenty"),
        ("https://example.org/warrenty", "https://example.org/warrenty"),
        ("warrenty's", "warrenty's"),
    ],
)
def test_spelling(text: str, corrected: str) -> None:
    assert correct_spelling(text) == corrected


def test_domain_words_are_not_corrected() -> None:
    assert correct_spelling("tiktoks warrenty", protected={"warrenty"}) == correct_spelling("tiktoks") + " warrenty"
    own = domain_words(document.text for document in load_course_documents())
    assert {"homehub", "techgadgets", "careplus"} <= own
    step = partial(correct_spelling, protected=own)
    assert step("the homehub shows the careplus warrenty") == "the homehub shows the careplus warranty"


def test_stop_words() -> None:
    assert remove_stop_words("The IT desk, not the WHO. Vitamin D and I.") == "IT desk, not WHO. Vitamin D ."
    assert remove_stop_words("It is covered.\nIt is not covered.") == "covered.\nnot covered."
    assert remove_stop_words("and/or out-of-the-box") == "and/or out-of-the-box"
    assert remove_stop_words("isn’t don't won") == "isn’t don't won"


def test_symbols() -> None:
    assert remove_symbols("| a | **b** |\n| --- | --- |") == "a b\n"
    assert remove_symbols("5–7 days; ~5 days? 3 < 4!") == "5–7 days ~5 days 3 < 4"
    assert remove_symbols("👍🏽 fine") == "fine"


# --- Reported faults -------------------------------------------------------------------------------------------------


def reported(name: str) -> str:
    return str(CASES[name]["input"])


def test_enr_01_stop_words_keep_the_meaning() -> None:
    left = remove_stop_words(reported("ENR-01")).split()
    assert [word for word in left if word in ("not", "no", "before", "than")] == ["not", "before", "no", "than"]
    assert clean(reported("ENR-01")) == reported("ENR-01")
    # others of the kind
    assert remove_stop_words("It is only covered if you have not opened it.") == "only covered if not opened ."
    assert remove_stop_words("Nor under water, nor above 40 °C") == "Nor under water, nor above 40 °C"


@pytest.mark.parametrize("text", [CASES["ENR-03"]["input"], "James' fan", "the '90s, rock 'n' roll's o", "Class D's c"])
def test_enr_03_possessives_stay(text: str) -> None:
    assert expand_contractions(text) == text


def test_enr_05_links() -> None:
    urls = ["https://docs.example.org/p?q=1&r=(2)", "https://img.example.org/a.png", "https://example.org/x"]
    for text in (clean(reported("ENR-05")), remove_stop_words(reported("ENR-05"))):
        assert all(url in text for url in urls)


def test_enr_07_form_feeds_stay() -> None:
    for step in STEPS:
        assert step(reported("ENR-07")).count("\f") == 3
    assert "Page two" in remove_symbols(reported("ENR-07"))


def test_enr_09_signs_and_units_stay() -> None:
    assert clean(reported("ENR-09")) == reported("ENR-09")
    left = remove_symbols(reported("ENR-09"))
    assert left.startswith("Range 2019–2021 ")
    for part in ("−5 °C", "+40 °C", "1,234.50 €", "$1.3k", "5 µg/ml", "± 2 %", "ISO 9001-2", "≥ 3"):
        assert part in left
    for part in ("5–7 days", "€4.90", "v2.4.1", "2025-03-01", "8:00", "-18 °C", "15%", "3.5 mm", "60 km/h", "1/2"):
        assert part in remove_symbols(f"({part}); **{part}**.")


# --- Texts that hurt -------------------------------------------------------------------------------------------------

UNITS = [
    "a",
    "A",
    "5",
    "5 to ",
    "5-",
    ".",
    "a.",
    "a-",
    "a@",
    "@a",
    "a'",
    "https://",
    "www.",
    "[",
    "[a](",
    "](",
    "![",
    "(",
    "aA",
    "A-",
    "€",
    "± ",
    " ",
    "\n",
    "\f",
    "not ",
    "don't ",
    "the ",
    "Ã©",
    "1.1.",
    "5 °",
    "𝒳",
    "\u0301",
    "1/",
    "a/",
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_every_step_comes_to_an_end(step: Step) -> None:
    step("warm up, recieve")
    for unit, tail in itertools.product(UNITS, ("", "x!")):
        step(unit * (40_000 // len(unit)) + tail)
