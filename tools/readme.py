# SPDX-License-Identifier: MIT
"""Write the README's list of lessons from the lessons themselves: title, promise, minutes.

python -m tools.readme
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from tools.notebooks import ROOT

README = ROOT / "README.md"
BEGIN, END = "<!-- lessons: written by python -m tools.readme -->\n", "<!-- end of lessons -->\n"
MINUTES = re.compile(r"\*\*(\d+) minutes\*\* reading and running, (\d+) minutes exercises")


def row(notebook: Path) -> str:
    """One lesson as a row: its number and title (a link), what it promises, minutes of reading and of exercises."""
    cell = json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"]
    title, promise, *_ = [block.strip() for block in "".join(cell).split("\n\n")]
    reading, exercises = MINUTES.findall("".join(cell))[0]
    link = f"[{title.removeprefix('# ')}](notebooks/{notebook.name})"
    return f"| {notebook.name[:2]} | {link} | {' '.join(promise.split())} | {reading} + {exercises} |"


def lessons() -> str:
    """The whole table."""
    rows = [row(notebook) for notebook in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))]
    head = ["| | Lesson | What you get from it | Minutes (exercises) |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows]) + "\n"


def written(readme: str) -> str:
    """The README's text with the list of lessons as it should be."""
    before, rest = readme.split(BEGIN)
    return before + BEGIN + "\n" + lessons() + "\n" + END + rest.split(END)[1]


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
