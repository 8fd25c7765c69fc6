# SPDX-License-Identifier: MIT
"""What is made from the lessons: the glossary, the 90-minute version, the pages to read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tools.glossary import GLOSSARY, TERMS, defined, written
from tools.notebooks import NOTEBOOKS, ROOT, cells, lesson
from tools.short import LEFT_OUT, LESSONS, NOTE, before_a_gap, kept, with_minutes, without_points, write
from tools.site import folded, page

PREDICT = {
    "cell_type": "code",
    "metadata": {"tags": ["predict"]},
    "outputs": [{"output_type": "stream", "name": "stdout", "text": ["Compare with your guess:\n", "a < b\n"]}],
}


def test_the_glossary_is_what_the_lessons_say() -> None:
    assert GLOSSARY.read_text(encoding="utf-8") == written(), "run python -m tools.glossary"
    assert set(TERMS) <= {path.name[:2] for path in NOTEBOOKS}
    with pytest.raises(LookupError, match=r"00_start_here\.ipynb has no \*\*zebra\*\*"):
        defined("zebra", NOTEBOOKS[0])


def test_the_short_version_runs(tmp_path: Path) -> None:
    for path, number in zip(write(tmp_path), LESSONS, strict=True):
        assert path.name.startswith(number)
        short = cells(path)
        assert 20 < len(short) < len(cells(ROOT / "notebooks" / path.name))
        assert all(cell.get("execution_count", True) for cell in short), "a cell was not run"


def made(*kinds: tuple[str, str, str]) -> list[dict[str, Any]]:
    """Cells from kind, tag and source."""
    return [{"cell_type": kind, "metadata": {"tags": [tag]}, "source": source} for kind, tag, source in kinds]


def test_what_the_short_version_keeps() -> None:
    cells = made(
        ("markdown", "", "# Title"),
        ("markdown", "", "## One\n\nLesson 03 was long."),
        ("code", "", "before a"),
        ("markdown", "", "leads to a:"),
        ("code", "core", "a"),
        ("markdown", "", "about a\n\nLesson 01 and lesson 03 say more."),
        ("markdown", "", "It works. But for how long?"),
        ("code", "", "b"),
        ("markdown", "", "about b"),
        ("markdown", "", "## Two"),
        ("code", "", "c"),
        ("markdown", "", "## Three"),
        ("code", "core", "d"),
        ("markdown", "", "Is it so?"),  # no code of this section is left out
        ("markdown", "", "**1** do"),
        ("code", "exercise", "e"),
        ("markdown", "", "**2** do"),
        ("code", "exercise", "f"),
        ("markdown", "", "## Recap\n\nsaid\n\n## Take it with you\n\nmore"),
    )
    assert [cell["source"] for cell in kept(cells)] == [
        *("# Title", "## One", "before a", "leads to a:", "a", "about a", "It works."),
        *("## Three", "d", "Is it so?", "**1** do", "e", "## Recap\n\nsaid"),
    ]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("It is 9. So here is every question:", "It is 9."),
        ("It is 9.\n\nHow many are left?", "It is 9."),
        ("It is 9.\n\n**Guess**: how many?\n\nWe count. How? By hand:", "It is 9.\n\nWe count."),
        ("It is 9.\n\n## Next\n\nMore.", "It is 9."),
        ("Painted:", ""),
        ("It is 9: three threes.", "It is 9: three threes."),
    ],
)
def test_words_before_a_gap_lead_nowhere(words: str, left: str) -> None:
    assert before_a_gap(words) == left


@pytest.mark.parametrize("number", LESSONS)
def test_no_words_of_the_short_version_speak_of_a_cell_that_is_gone(number: str) -> None:
    """What leads to code leads to the cell that it led to; what stands behind code stood behind that cell."""
    whole, short = lesson(number), kept(lesson(number))
    at = {cell["id"]: i for i, cell in enumerate(whole)}
    for before, cell, after in zip(short, short[1:], short[2:], strict=False):
        if cell["cell_type"] == "code" or "exercise" in after["metadata"].get("tags", []):
            continue
        name, paragraphs = cell["id"], cell["source"].split("\n\n")
        next_is_there = at[after["id"]] == at[name] + 1 and after["cell_type"] == "code"
        assert cell["source"].startswith("#") or at[before["id"]] == at[name] - 1, f"{name}: {cell['source'][:60]}"
        if any(re.search(r"\bGuess\b", part) for part in paragraphs):
            assert next_is_there, name
            assert "predict" in after["metadata"]["tags"], name
        for part, following in zip(paragraphs, [*paragraphs[1:], ""], strict=True):
            assert not part.endswith(":") or re.match(r"[-*|`]|\d+\.", following) or next_is_there, f"{name}: {part}"
        assert set(re.findall(r"[Ll]esson (\d\d)", cell["source"])) <= set(LESSONS), name


@pytest.mark.parametrize("number", LESSONS)
def test_every_guess_of_the_short_version_can_be_compared(number: str) -> None:
    """The other way round: whoever sees what to compare with was asked before."""
    short = kept(lesson(number))
    predicted = [i for i, cell in enumerate(short) if "predict" in cell["metadata"].get("tags", [])]
    assert predicted
    assert all(re.search(r"\bGuess\b", short[i - 1]["source"]) for i in predicted)


@pytest.mark.parametrize("number", LESSONS)
def test_a_short_lesson_tells_the_minutes_of_its_schedule(number: str) -> None:
    kit = (ROOT / "docs" / "workshop.md").read_text(encoding="utf-8")
    title = with_minutes(lesson(number)[0]["source"], number)
    (reading, exercise) = re.findall(
        r"\*\*(\d+) minutes\*\* reading and running, (\d+) minutes for one exercise", title
    )[0]
    assert f"| Lesson {number}, short: reading {reading}, first exercise {exercise} |" in kit
    assert NOTE in title
    assert len(re.findall(r"\d+ minutes", title)) == 2, "and no others"


def test_a_guess_is_folded_on_a_page() -> None:
    (output,) = folded(PREDICT)["outputs"]
    assert output["data"]["text/html"].startswith("<details><summary>Compare with your guess</summary>")
    assert "a &lt; b" in output["data"]["text/html"]
    assert folded({**PREDICT, "metadata": {}})["outputs"] == PREDICT["outputs"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_asks_nothing_of_the_network_and_leads_to_the_other_pages(path: Path) -> None:
    text = page(json.loads(path.read_text(encoding="utf-8")))
    assert re.findall(r'<(?:script|img|iframe)[^>]*\bsrc="(?!data:)[^"]*|<link[^>]*\bhref="[^"]*', text) == []
    links = re.findall(r'href="(\d\d_[^"#]*)', text)
    assert all(link.endswith(".html") and (path.parent / link).with_suffix(".ipynb").exists() for link in links)
    assert text.count("<h1") == 1


@pytest.mark.parametrize("number", LESSONS)
def test_the_short_version_promises_what_its_recap_answers(number: str) -> None:
    """A lesson's first page and its recap have the same points, so what one leaves out the other does, too."""
    sources = [cell["source"] for cell in lesson(number)]
    recap = next(source for source in sources if source.startswith("## Recap")).partition("\n\n## ")[0]
    for words in (sources[0], recap):
        points = re.findall("(?m)^- .*", words)
        kept_points = re.findall("(?m)^- .*", without_points(words, LEFT_OUT[number]))
        assert len(kept_points) == len(points) - len(LEFT_OUT[number])
        assert kept_points[-1].endswith(".")
