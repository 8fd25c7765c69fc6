# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: chunklib.course.exercises.
"""Exercises of lesson 04: count sections, tell a row as prose, cut a table so that its header fits each piece.

But: rows and headers are strings here; where they stand in their document is what `split_markdown` adds.
"""

from __future__ import annotations

import re
from functools import partial

from chunklib.course.exercises import Exercise, cases, guess
from chunklib.course.exercises import check as check_answer


def n_sections() -> int:
    """The sections of the text in exercise 4.1."""
    sections = ["Read me first.", "# Setup, ## Linux and the code below it", "## Windows"]
    return len(sections)


def row_as_prose(header: str, row: str) -> str:
    """A row as prose: each cell with the name of its column, empty cells left out."""

    names, cells = (re.split(r"(?<!\\)\|", line.strip("|")) for line in (header, row))
    pairs = [(name.strip(), cell.strip().replace("\\|", "|")) for name, cell in zip(names, cells, strict=True)]
    return "; ".join(f"{name}: {cell}" for name, cell in pairs if cell)


def table_pieces(header: str, rows: list[str], size: int) -> list[list[str]]:
    """The rows in pieces, each of which fits with the header in front; a row that does not fit stands alone."""
    pieces: list[list[str]] = []
    for row in rows:
        if pieces and len("\n".join([header, *pieces[-1], row])) <= size:
            pieces[-1].append(row)
        else:
            pieces.append([row])
    return pieces


def _cut_at_every_bar(header: str, row: str) -> str:
    names, cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in (header, row))
    return "; ".join(f"{name}: {cell}" for name, cell in zip(names, cells, strict=False) if cell)


def _with_empty_cells(header: str, row: str) -> str:
    names, cells = (re.split(r"(?<!\\)\|", line.strip("|")) for line in (header, row))
    pairs = zip(names, cells, strict=False)
    return "; ".join(f"{name.strip()}: {cell.strip()}".replace("\\|", "|") for name, cell in pairs)


def _dropped_too_early(header: str, row: str) -> str:
    names, cells = (re.split(r"(?<!\\)\|", line.strip("|")) for line in (header, row))
    kept = [cell.strip().replace("\\|", "|") for cell in cells if cell.strip()]
    return "; ".join(f"{name.strip()}: {cell}" for name, cell in zip(names, kept, strict=False))


def _bars_still_escaped(header: str, row: str) -> str:
    names, cells = (re.split(r"(?<!\\)\|", line.strip("|")) for line in (header, row))
    pairs = zip(names, cells, strict=False)
    return "; ".join(f"{name.strip()}: {cell.strip()}" for name, cell in pairs if cell.strip())


def _header_not_counted(header: str, rows: list[str], size: int) -> list[list[str]]:
    return table_pieces("", rows, size + 1)


def _header_in_each(header: str, rows: list[str], size: int) -> list[list[str]]:
    return [[header, *piece] for piece in table_pieces(header, rows, size)]


def _line_ends_not_counted(header: str, rows: list[str], size: int) -> list[list[str]]:
    pieces: list[list[str]] = []
    for row in rows:
        if pieces and len(header) + sum(map(len, pieces[-1])) + len(row) <= size:
            pieces[-1].append(row)
        else:
            pieces.append([row])
    return pieces


def _long_rows_dropped(header: str, rows: list[str], size: int) -> list[list[str]]:
    return table_pieces(header, [row for row in rows if len(header) + 1 + len(row) <= size], size)


def _empty_piece_first(header: str, rows: list[str], size: int) -> list[list[str]]:
    pieces: list[list[str]] = [[]]
    for row in rows:
        if len("\n".join([header, *pieces[-1], row])) > size:
            pieces.append([])
        pieces[-1].append(row)
    return pieces


def _asked_too_late(header: str, rows: list[str], size: int) -> list[list[str]]:
    pieces: list[list[str]] = []
    for row in rows:
        if pieces and len("\n".join([header, *pieces[-1]])) <= size:
            pieces[-1].append(row)
        else:
            pieces.append([row])
    return pieces


FEES = ["| near | 4.90 |", "| far | 9.90 |", "| islands and mountains | 14.90 |", "| sea | 19 |", "| air | 29 |"]
EXERCISES = {
    "4.1": Exercise(
        judge=guess(n_sections),
        solution=n_sections,
        hints=(
            "Which of the lines that begin with `#` are headings? One of them stands between two lines of tildes.",
            "The text before the first heading is a section. `# Setup` has no text of its own.",
        ),
        wrong=(
            (5, "That counts each line with a `#`, and the text before them. One of these lines is code."),
            (4, "A heading without text of its own joins the first section below it."),
            (2, "What stands before the first heading is a section as well."),
        ),
    ),
    "4.2": Exercise(
        judge=cases(
            row_as_prose,
            ("| Zone | Fee |", "| near | 4.90 |"),
            ("| Sign | Name |", "| a \\| b | or |"),
            ("| Model | Socket | Note |", "| D2 | USB-C \\| USB-A |  |"),
            ("| A |", "| x |"),
            ("| A | B | C |", "| x |  | z |"),
        ),
        solution=row_as_prose,
        hints=(
            "`re.split` can cut at a bar that has no backslash before it: a lookbehind, `(?<!...)`, looks back.",
            'Cut with `re.split(r"(?<!\\\\)\\|", line.strip("|"))`, strip each cell, then replace `\\|` by `|`.',
        ),
        wrong=(
            (_cut_at_every_bar, "That cuts at the bar after a backslash, too. It belongs to the cell."),
            (_with_empty_cells, "Empty cells are to be left out."),
            (_dropped_too_early, "A value moved under another name: drop empty cells after they have their names."),
            (_bars_still_escaped, "The backslash is Markdown's. In prose the bar stands alone."),
        ),
    ),
    "4.3": Exercise(
        judge=cases(
            table_pieces,
            ("| Zone | Fee |", FEES, 46),
            ("| Zone | Fee |", FEES, 43),
            ("| Zone | Fee |", FEES, 20),
            ("| Zone | Fee |", FEES[2:], 40),
            ("| Zone | Fee |", FEES, 500),
            ("| Zone | Fee |", [], 46),
        ),
        solution=table_pieces,
        hints=(
            "Keep a list of pieces. For each row ask first: would the last piece, with header and this row, still fit?",
            'What a piece measures is `len("\\n".join([header, *piece]))`. If not, the row begins a new one.',
        ),
        wrong=(
            (_header_in_each, "The header is only measured with a piece; the pieces hold rows alone."),
            (_header_not_counted, "The header goes in front of each piece, so it has to fit as well."),
            (_line_ends_not_counted, "The line ends between the rows are characters, too."),
            (_long_rows_dropped, "A row that is too long must not get lost; it stands alone."),
            (_empty_piece_first, "One of your pieces is empty."),
            (_asked_too_late, "Ask before a row is added: with it, the piece may be too long."),
        ),
    ),
}
check = partial(check_answer, EXERCISES)
