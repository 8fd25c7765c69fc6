# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: tiktoken; matplotlib for the chart.
"""One HTML file to take away: the documents, the techniques side by side, the recommendation, faults, painted chunks.

It is safe to open and to send on, whatever the documents contain. Every word of theirs is escaped; there is no script,
no link, no form, and nothing is fetched: the one picture is inside the file, and the browser itself is told so
(Content-Security-Policy). What could turn the direction of a line or steer a terminal is replaced.

But: it quotes the documents. Whoever may not read them should not get the report.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from chunklib.core.document import Document
from chunklib.core.marks import STEERING, UNWRITABLE
from chunklib.core.measure import count
from chunklib.course.display import show
from chunklib.course.trial import Recommendation, Trial, chart, faults, table
from chunklib.search.audit import Finding
from chunklib.search.evaluation import Question

#: What a browser may do with the file: show it, its inline styles, and pictures that it holds.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
#: Most findings listed of a technique, documents painted, and questions listed.
LISTED, PAINTED, ASKED = 40, 12, 100

_STYLE = """
:root { color-scheme: light dark }
body { font-family: sans-serif; line-height: 1.5; margin: 2em auto; max-width: 64em; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 } img { background: white; max-width: 100% }
th, td { border-bottom: 1px solid gray; padding: 0.2em 0.7em; text-align: left; vertical-align: top }
td { overflow-wrap: anywhere } summary { cursor: pointer }
"""


def write_report(path: str | Path, page: str) -> Path:
    """Write a page as UTF-8 and return its path; a file that is there is written over."""
    Path(path).write_text(UNWRITABLE.sub("\ufffd", page), encoding="utf-8", newline="\n")
    return Path(path)


def report(
    documents: Sequence[Document],
    trials: Sequence[Trial],
    recommendation: Recommendation,
    *,
    refused: Mapping[str, str] | None = None,
    questions: Sequence[Question] = (),
    title: str = "Chunks of my documents",
) -> str:
    """The whole page. The same input gives the same page, since it holds no date.

    Raises ``ValueError`` where no trial has the recommended name. Cost: a second, and the painting of up to 12
    documents.
    """
    chosen = next((trial for trial in trials if trial.name == recommendation.name), None)
    if chosen is None:
        raise ValueError(f"{recommendation.name!r} is none of the trials")
    head = (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width">'
        f"<title>{_plain(title)}</title><style>{_STYLE}</style></head><body>"
    )
    parts = [
        head,
        f"<h1>{_line(title)}</h1>",
        f"<h2>Recommendation: {_line(recommendation.name)}</h2>",
        _items(recommendation.reasons),
        "<h3>How sure is that?</h3>",
        _items(recommendation.doubts),
        "<h2>The techniques side by side</h2>",
        _table(table(trials)),
        "<p>tokens: smallest / median / largest chunk. whole: sentences that one chunk holds whole. faulty: chunks "
        "with a finding other than a copy. stable: chunks that are there again after one new sentence. unread: text "
        "beyond what the encoder reads. found: answers found, with their 95 % interval.</p>",
        chart(trials)._repr_html_(),
        "<h2>What the audit found</h2>",
        _table([["kind", *(trial.name for trial in trials)], *_counts(trials)]),
        *(_findings(trial, recommendation.name) for trial in trials),
        *_questions(chosen, questions),
        "<h2>The documents</h2>",
        _table([["document", "kind", "characters", "tokens", "headings"], *map(_about, documents)]),
        *_refused(refused or {}),
        f"<h2>Painted by {_line(recommendation.name)}</h2>",
        *(_painted(document, chosen, document.id) for document in documents[:PAINTED]),
        f"<p>{len(documents) - PAINTED} more documents are not painted.</p>" if len(documents) > PAINTED else "",
        *_first_document(documents, trials),
        "</body></html>\n",
    ]
    return "\n".join(filter(None, parts))


def _plain(text: object) -> str:
    """Any text as one harmless line."""
    return html.escape(STEERING.sub("\ufffd", " ".join(str(text).split())))


def _line(text: object) -> str:
    """The same, isolated, so that what is written from right to left turns nothing around it."""
    return f"<bdi>{_plain(text)}</bdi>"


def _items(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{_line(line)}</li>' for line in lines)}</ul>"


def _table(rows: Sequence[Sequence[object]]) -> str:
    head, *body = rows
    heads = "".join(f"<th>{_line(cell)}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{_line(cell)}</td>' for cell in row)}</tr>" for row in body)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _folded(title: str, inside: str, *, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{_line(title)}</summary>{inside}</details>"


def _counts(trials: Sequence[Trial]) -> list[list[object]]:
    return [[kind, *(by_name[trial.name] for trial in trials)] for kind, by_name in faults(trials).items()]


def _findings(trial: Trial, chosen: str) -> str:
    def row(finding: Finding) -> list[str]:
        return [finding.kind, finding.place, finding.evidence, finding.advice]

    listed = trial.findings[:LISTED]
    more = f"<p>{len(trial.findings) - LISTED} more.</p>" if len(trial.findings) > LISTED else ""
    inside = _table([["kind", "where", "what", "what to do"], *map(row, listed)]) + more if listed else ""
    return _folded(f"{trial.name}: {len(trial.findings)} findings", inside, is_open=trial.name == chosen)


def _questions(trial: Trial, questions: Sequence[Question]) -> list[str]:
    if trial.scores is None:
        return []
    texts = {question.id: question.text for question in questions}
    pairs = zip(trial.scores.ids, trial.scores.found.tolist(), strict=True)
    rows = [[texts.get(name, name), "found" if found else "missed"] for name, found in pairs]
    more = f"<p>{len(rows) - ASKED} more.</p>" if len(rows) > ASKED else ""
    return ["<h2>The questions</h2>", _table([["question", trial.name], *rows[:ASKED]]) + more]


def _about(document: Document) -> list[object]:
    tokens = count(document.text)
    return [document.id, document.media_type, f"{len(document.text):,}", f"{tokens:,}", len(document.headings)]


def _refused(refused: Mapping[str, str]) -> list[str]:
    rows = [[name, why] for name, why in refused.items()]
    return ["<h3>Files that were left out</h3>", _table([["file", "why"], *rows])] if rows else []


def _first_document(documents: Sequence[Document], trials: Sequence[Trial]) -> list[str]:
    if not documents:
        return []
    title = f"<h2>Painted by every technique: {_line(documents[0].id)}</h2>"
    return [title, *(_painted(documents[0], trial, trial.name) for trial in trials)]


def _painted(document: Document, trial: Trial, title: str) -> str:
    chunks = [chunk for chunk in trial.chunks if chunk.document_id == document.id]
    return _folded(title, show(document, chunks)._repr_html_())
