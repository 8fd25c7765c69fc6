# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, an encoder; matplotlib for the chart.
"""The scoreboard: each technique of the course on the course's own documents and questions, one row each.

The number is *answer found*, the share of questions whose gold lies wholly in the first 4,000 characters read, with
its 95 % interval, over all questions and for each kind of them.

But: the course's authors wrote documents and questions, and planted difficulties in them. The scoreboard ranks
techniques by kind of question; it does not foretell a share on documents of your own.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from chunklib.core.document import Chunk, Document
from chunklib.course.charts import Figure, chart_style, figure
from chunklib.course.datasets import DATA, load_course_documents, load_course_questions
from chunklib.search.evaluation import (
    Interval,
    Question,
    Searcher,
    answer_found,
    interval,
    paired_difference,
    unread_share,
)
from chunklib.search.retrieval import Index

STORED = DATA / "scoreboard.json"
BUDGET = 4000
#: Characters read at which the curve of a row is taken.
BUDGETS = (250, 500, 1000, 2000, 4000, 8000)


@dataclass(frozen=True)
class Row:
    """One technique with its settings.

    ``found``: by kind of question, and ``"all"``, the share of answers found within `BUDGET`, with its interval;
    ``curve``: that share for each of `BUDGETS`; ``unread``: the share of its text that the encoder does not read;
    ``answers``: by kind, a 1 for each question whose answer was found and a 0 for each other, in their order.
    """

    name: str
    lesson: str
    chunks: int
    unread: float
    found: dict[str, Interval]
    curve: tuple[float, ...]
    answers: dict[str, str]

    def outcomes(self, kind: str = "all") -> npt.NDArray[np.float64]:
        """One number per question of the kind: 1 found, 0 not."""
        said = "".join(self.answers.values()) if kind == "all" else self.answers[kind]
        return np.array([int(found) for found in said], np.float64)

    def cell(self, kind: str) -> str:
        """Share and interval of one kind in per cent, or a dash."""
        if kind not in self.found:
            return "–"
        mean, low, high = (round(100 * value) for value in self.found[kind])
        return f"{mean} [{low}, {high}]"


@dataclass(frozen=True)
class Scoreboard:
    """Rows to look at: as a table in a notebook, as plain lines anywhere else."""

    rows: tuple[Row, ...]

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"{name!r} is no row; there are {', '.join(row.name for row in self.rows)}")

    def gain(self, name: str, over: str, kind: str = "all") -> str:
        """What one row finds more than another, in points, with the 95 % interval of the difference.

        The same questions are compared one by one, so the interval is narrower than those of the rows; where it holds
        zero, it is a tie.

        >>> scoreboard().gain("recursive 150", over="fixed 400")
        '+22.1 [+17.7, +26.9]'
        """
        mine, other = self[name].outcomes(kind), self[over].outcomes(kind)
        mean, low, high = (round(100 * value, 1) + 0 for value in paired_difference(mine, other))
        return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"

    def _table(self) -> list[list[str]]:
        kinds = list(dict.fromkeys(kind for row in self.rows for kind in row.found))
        head = ["lesson", "technique", "chunks", "unread %", *kinds]
        return [
            head,
            *([r.lesson, r.name, str(r.chunks), f"{100 * r.unread:.0f}", *map(r.cell, kinds)] for r in self.rows),
        ]

    def __repr__(self) -> str:
        table = self._table()
        widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
        aligned = (zip(line, widths, strict=True) for line in table)
        return "\n".join("  ".join(cell.rjust(width) for cell, width in line) for line in aligned)

    def _repr_html_(self) -> str:
        head, *lines = [[html.escape(cell) for cell in line] for line in self._table()]
        small = '<br><span style="font-size: 85%; white-space: nowrap">['  # the interval below its share
        rows = "".join(
            f"<tr>{''.join(f'<td>{cell}</td>' for cell in line).replace(' [', small).replace(']', ']</span>')}</tr>"
            for line in lines
        )
        heads = "".join(f"<th>{cell}</th>" for cell in head)
        note = f"Answers found in {BUDGET:,} characters read, per cent [95 % interval]"
        return (
            f'<div class="mathjax_ignore tex2jax_ignore">{note}'
            f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def chart(self, bold: str = "") -> Figure:
        """Answers found against characters read, a curve for each row; the row named ``bold`` stands out."""
        from matplotlib import pyplot

        with pyplot.rc_context(chart_style()):  # type: ignore[arg-type]
            fig, ax = pyplot.subplots()
            for row in self.rows:
                share = [100 * value for value in row.curve]
                ax.plot(BUDGETS, share, "o-", linewidth=4 if row.name == bold else 1.5, markersize=4)
            height = -100.0
            for row in sorted(self.rows, key=lambda row: row.curve[-1]):
                end = 100 * row.curve[-1]
                height = max(end, height + 7)  # a line of words is seven per cent high
                ax.annotate(
                    row.name, (BUDGETS[-1], end), xytext=(8, 2 * (height - end) - 4), textcoords="offset points"
                )
            ax.set(
                xscale="log", xlabel="characters read", ylabel="answers found (%)", ylim=(0, 100), xlim=(220, 24_000)
            )
            ax.set_xticks(BUDGETS, [f"{budget:,}" for budget in BUDGETS])
            ax.minorticks_off()
            best = max(self.rows, key=lambda row: row.found["all"].mean)
            ax.set_title(f"At {BUDGET:,} characters, {best.name} finds most")
            return figure(
                fig, alt=f"Answers found rise with the characters read, for each of {len(self.rows)} techniques"
            )


def scored_documents() -> tuple[Document, ...]:
    """The documents that are searched: all but the Chinese case book, of which the encoder reads mostly nothing."""
    return tuple(document for document in load_course_documents() if document.id != "zh-cases.md")


def score_row(name: str, chunks: Iterable[Chunk] | Searcher, *, lesson: str, questions: Sequence[Question] = ()) -> Row:
    """Search the chunks for every question of the course that has an answer, and count.

    ``chunks``: searched by their vectors alone; or an index with a search of its own.

    Cost: the encoder reads each chunk and question once; what it read before is kept on disk.
    """
    index: Searcher = Index(chunks) if isinstance(chunks, Iterable) else chunks
    asked = [question for question in questions or load_course_questions() if question.gold]
    lengths = np.sort([chunk.end - chunk.start for chunk in index.chunks])
    enough = int(np.searchsorted(np.cumsum(lengths), BUDGETS[-1])) + 1
    ranked = index.search_many([question.text for question in asked], enough)
    curves = np.array(
        [
            [answer_found(hits, question, budget=budget) for budget in BUDGETS]
            for hits, question in zip(ranked, asked, strict=True)
        ],
        dtype=np.float64,
    )
    found = curves[:, BUDGETS.index(BUDGET)]
    kinds = np.array([question.kind for question in asked])
    by_kind = {kind: found[kinds == kind] for kind in sorted(set(kinds.tolist()))}
    return Row(
        name=name,
        lesson=lesson,
        chunks=len(index.chunks),
        unread=round(unread_share(getattr(index, "encoded", index.chunks)), 4),  # parents need not be encoded
        found={kind: rounded(interval(values)) for kind, values in {"all": found, **by_kind}.items()},
        curve=tuple(round(float(value), 4) for value in curves.mean(0)),
        answers={kind: "".join(str(int(value)) for value in values) for kind, values in by_kind.items()},
    )


def rounded(value: Interval) -> Interval:
    """To four decimals: beyond them, machines differ.

    >>> rounded(Interval(1 / 3, 0.25, 0.5))
    Interval(mean=0.3333, low=0.25, high=0.5)
    """
    return Interval(*(round(part, 4) for part in value))


def scoreboard() -> Scoreboard:
    """The rows as they are stored in ``data/scoreboard.json``; ``make notebooks`` writes them."""
    stored: list[dict[str, Any]] = json.loads(STORED.read_text(encoding="utf-8"))
    return Scoreboard(
        tuple(
            Row(
                **{
                    **row,
                    "found": {kind: Interval(*value) for kind, value in row["found"].items()},
                    "curve": tuple(row["curve"]),
                }
            )
            for row in stored
        )
    )


def store(rows: Iterable[Row]) -> None:
    """Write the rows, one line each."""
    lines = (json.dumps(asdict(row), ensure_ascii=False) for row in rows)
    STORED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8", newline="\n")
