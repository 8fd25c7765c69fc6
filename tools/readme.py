# SPDX-License-Identifier: MIT
"""Write the README's list of lessons from the lessons, and the numbers of its table of techniques from the scoreboard.

python -m tools.readme
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from chunklib.course.scoreboard import scoreboard
from tools.notebooks import NOTEBOOKS, ROOT, command

README = ROOT / "README.md"
#: documents and questions, technique with settings, (row, kind, row that it is compared with), lesson
TECHNIQUES = (
    ("any text, as the baseline that others have to beat", "`split_fixed_size(chunk_size=200, chunk_overlap=20)`",
     ("fixed 200, overlap 20", "all", "fixed 200"), "01"),
    ("prose with paragraphs; when in doubt", "`split_recursive(chunk_size=150)`; `separators=PYTHON` for source code",
     ("recursive 150", "all", "fixed 200, overlap 20"), "02"),
    ("prose whose headings are not searched", "`split_recursive(chunk_size=100)`",
     ("recursive 100", "all", "recursive 150"), "02"),
    ("talk and prose without paragraphs; chunks that must end with a sentence", "`split_sentences(chunk_size=150)`",
     ("sentences 150", "talk", "recursive 150"), "03"),
    ("Markdown with headings, tables, lists, code", "`split_markdown(chunk_size=150)`, then `add_context`",
     ("markdown 150 with context", "all", "recursive 150"), "04"),
    ("answers that need the heading above them; pages, web pages, labelled lines",
     "`split_markdown`, `split_at`, `split_labelled_lines`, then `add_context`",
     ("markdown 150 with context", "section", "markdown 150"), "04"),
    ("long talk, when you need its stretches: to title them, to sum them up",
     "`split_semantic(window=1, min_chunk_size=75, max_chunk_size=150)`",
     ("semantic 150", "all", "recursive 150"), "05"),
    ("tables, cut by whatever splitter", "`add_context` beside it",
     ("150 with context", "table", "recursive 150"), "06"),
    ("passages that a reader must see whole, longer than the encoder reads",
     "`ParentChildIndex`, parents of 400, children of 100",
     ("parent-child 400/100", "all", "recursive 150"), "07"),
    ("codes, names, part numbers in the questions",
     "`Index`: keywords fused, headings, copies once, neighbours, best sentence",
     ("150, all", "code", "recursive 150"), "09"),
    ("the most that this course finds", "`split_markdown(chunk_size=150)`, `add_context`, `Index`: keywords fused",
     ("markdown 150 with context, words", "all", "markdown 150 with context"), "09"),
)  # fmt: skip
MINUTES = re.compile(r"\*\*(\d+) minutes\*\* reading and running, (\d+) minutes exercises")


def first_page(notebook: dict[str, Any]) -> tuple[str, str, str, str]:
    """What the first cell of a lesson says: its title, what it promises, minutes of reading and of exercises."""
    cell = "".join(notebook["cells"][0]["source"])
    title, promise, *_ = [" ".join(block.split()) for block in cell.split("\n\n")]
    reading, exercises = MINUTES.findall(cell)[0]
    return title.removeprefix("# "), promise, reading, exercises


def row(notebook: Path) -> str:
    """One lesson as a row: its number, its title as a link, its promise, its minutes."""
    title, promise, reading, exercises = first_page(json.loads(notebook.read_text(encoding="utf-8")))
    return f"| {notebook.name[:2]} | [{title}](notebooks/{notebook.name}) | {promise} | {reading} + {exercises} |"


def lessons() -> str:
    """The whole table."""
    rows = [row(notebook) for notebook in NOTEBOOKS]
    head = ["| | Lesson | What you get from it | Minutes (exercises) |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows]) + "\n"


def techniques() -> str:
    """What to take for which documents, each with what it finds on the scoreboard and what that is over another way."""
    board = scoreboard()
    lines = ["| Your documents and questions | Take | Found | Against | Lesson |", "| --- | --- | --- | --- | --- |"]
    for documents, technique, (name, kind, over), lesson in TECHNIQUES:
        found = f"{100 * board[name].found[kind].mean:.0f} % of {kind}"
        lines.append(
            f"| {documents} | {technique} | {found} | {over}: {board.gain(name, over=over, kind=kind)} | {lesson} |"
        )
    return "\n".join(lines) + "\n"


def written(readme: str) -> str:
    """The README's text with both tables as they should be."""
    for name, table in {"lessons": lessons(), "techniques": techniques()}.items():
        begin, end = f"<!-- {name}: written by python -m tools.readme -->\n", f"<!-- end of {name} -->\n"
        before, rest = readme.split(begin)
        readme = before + begin + "\n" + table + "\n" + end + rest.split(end)[1]
    return readme


if __name__ == "__main__":
    command(__doc__).parse_args()
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
