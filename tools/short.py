# SPDX-License-Identifier: MIT
"""Make the 90-minute version of lessons 00, 01 and 04: what leads to their core cells, one exercise, the recap; run it.

    python -m tools.short [FOLDER]

FOLDER is ``my_notebooks/short`` unless named. A lesson of it that does not run stops the command with the cell's name.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

from chunklib.sentence import split_sentences
from tools.notebooks import NOTEBOOKS, ROOT, cells, command, dump, rebuild, tags
from tools.readme import MINUTES

LESSONS = ("00", "01", "04")
#: How the schedule of 90 minutes, in docs/workshop.md, names a lesson and its minutes.
SCHEDULED = re.compile(r"Lesson (\d\d), short: reading (\d+), first exercise (\d+)")
NOTE = "This is the short version: it has about half of the lesson."
#: Which points of a lesson's first page, counted from 0, the short version leaves out; the recap has the same points.
LEFT_OUT = {"00": {0, 4}, "01": {3, 4}, "04": {3, 4}}

Cell = dict[str, Any]


def is_words(cell: Cell) -> bool:
    """Whether a cell is read and not run."""
    return bool(cell["cell_type"] == "markdown")


def before_a_gap(words: str) -> str:
    """Words without what leads to the code that came next: a guess, a last sentence that ends in a colon or asks.

    >>> before_a_gap("30 becomes 60. And over all questions:")
    '30 becomes 60.'
    """
    words = re.split(r"\n\n(?=#+ )", words)[0]  # a heading inside a cell opens what is left out
    paragraphs = [part for part in words.split("\n\n") if not re.search(r"\bGuess\b", part)]
    while paragraphs and paragraphs[-1].endswith((":", "?")):
        last = paragraphs.pop()
        if rest := last[: split_sentences(last)[-1].start].rstrip():
            paragraphs.append(rest)
    return "\n\n".join(paragraphs)


def without_other_lessons(words: str) -> str:
    """Words without the paragraphs that lean on a lesson the short version lacks.

    >>> without_other_lessons("Lesson 00 ended well.\\n\\nLesson 03 ended with a question. Here is why.")
    'Lesson 00 ended well.'
    """
    paragraphs = words.split("\n\n")
    return "\n\n".join(part for part in paragraphs if set(re.findall(r"[Ll]esson (\d\d)", part)) <= set(LESSONS))


def led_to(section: list[Cell]) -> list[Cell]:
    """A section down to its last core cell, and the words behind that.

    What lies before a core cell comes along, tagged or not: its words speak of it, and lead on from it.
    """
    core = [i for i, cell in enumerate(section) if "core" in tags(cell)]
    if not core:
        return []
    end = core[-1] + 1
    words = list(takewhile(is_words, section[end:]))
    if words and end + len(words) < len(section):
        words[-1] = {**words[-1], "source": before_a_gap(words[-1]["source"])}
    return section[:end] + words


def kept(cells: list[Cell]) -> list[Cell]:
    """The title, of each section what leads to its core cells, the first exercise, the recap."""
    exercise = next(i for i, cell in enumerate(cells) if "exercise" in tags(cell))
    recap = next(cell for cell in cells if cell["source"].startswith("## Recap"))
    body = cells[1 : exercise - 1]
    starts = [i for i, cell in enumerate(body) if i == 0 or (is_words(cell) and cell["source"].startswith("#"))]
    found = [cell for start, end in pairwise([*starts, len(body)]) for cell in led_to(body[start:end])]
    found = [{**cell, "source": without_other_lessons(cell["source"])} if is_words(cell) else cell for cell in found]
    recap = {**recap, "source": recap["source"].partition("\n\n## ")[0]}
    return [cells[0], *(cell for cell in found if cell["source"]), *cells[exercise - 1 : exercise + 1], recap]


def without_points(words: str, points: set[int]) -> str:
    """Words without some of the points of their list, counted from 0.

    >>> without_points("You will\\n\\n- ask,\\n- answer,\\n- go.", {1, 2})
    'You will\\n\\n- ask.'
    """
    listed = re.findall(r"(?m)^- .*$", words)
    left = [line for i, line in enumerate(listed) if i not in points]
    return words.replace("\n".join(listed), "\n".join([*left[:-1], re.sub(",$", ".", left[-1])]))


def with_minutes(words: str, number: str) -> str:
    """A lesson's first cell, with the minutes that the schedule gives to its short version."""
    schedule = (ROOT / "docs" / "workshop.md").read_text(encoding="utf-8")
    reading, exercise = {lesson: minutes for lesson, *minutes in SCHEDULED.findall(schedule)}[number]
    short = f"{NOTE}\n\n**{reading} minutes** reading and running, {exercise} minutes for one exercise"
    return MINUTES.sub(short, words)


def write(folder: Path) -> list[Path]:
    """Write the short lessons and run them."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for source in (path for path in NOTEBOOKS if path.name[:2] in LESSONS):
        number = source.name[:2]
        notebook = json.loads(source.read_text(encoding="utf-8"))
        title, *rest, recap = kept(cells(source))
        first = with_minutes(without_points(title["source"], LEFT_OUT[number]), number)
        last = without_points(recap["source"], LEFT_OUT[number])
        notebook["cells"] = [{**title, "source": first}, *rest, {**recap, "source": last}]
        paths.append(folder / source.name)
        paths[-1].write_text(dump(notebook), encoding="utf-8", newline="\n")
        if found := rebuild(paths[-1]):
            sys.exit("\n".join(found))
    return paths


if __name__ == "__main__":
    options = command(__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=ROOT / "my_notebooks" / "short", metavar="FOLDER")
    for path in write(options.parse_args().folder):
        print(path.name, "runs")
