# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, regex, tiktoken, nltk, markdown-it-py.
"""Two splitters on the same text: where do their chunks stand, and what became of limit, places, sentences, headings?

When to use it: before you replace one splitter by another, and for chunks that came as strings without their places.

But: where a text stands twice and chunks overlap, no search can tell which of the two was meant.

Cost: linear, but for one pass of the sentence splitter and the Markdown parser.
"""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chunklib.core.measure import count
from chunklib.core.outline import markdown_headings
from chunklib.core.span import Span, Splitter
from chunklib.course.datasets import DATA
from chunklib.course.peer_store import Peer, Piece
from chunklib.sentence import split_sentences

_TORN = "\ufffd"  # what stands for a character of which a chunk holds only some bytes


def locate(text: str, pieces: Iterable[str], *, overlapping: bool = False) -> list[Span | None]:
    """Where each piece stands in the text, or ``None``. Blanks are not compared, so changed ones do no harm.

    Each is searched from the end of the one before, or, if they are ``overlapping``, from behind its start, and must
    end later. Spans hold no outer blanks. Cost: linear in the text, and in the gaps.

    >>> locate("Ask us.  Then ask us.", ["Ask us. Then", "ask us."])
    [Span(start=0, end=13), Span(start=14, end=21)]
    """
    ink = [at for at, character in enumerate(text) if not character.isspace()]
    squeezed = "".join(text[at] for at in ink)
    found: list[Span | None] = []
    last = Span(-1, 0)
    for piece in pieces:
        wanted = "".join(piece.split())
        at = bisect_left(ink, last.start + 1 if overlapping else last.end)
        at = squeezed.find(wanted, at) if wanted else -1
        while at >= 0 and ink[at + len(wanted) - 1] < last.end:  # it would end no later than the one before
            at = squeezed.find(wanted, at + 1)
        if at >= 0:
            last = Span(ink[at], ink[at + len(wanted) - 1] + 1)
        found.append(last if at >= 0 else None)
    return found


def places(text: str, pieces: Sequence[Piece], *, overlapping: bool = False) -> list[Span | None]:
    """Where a library's pieces stand: where it says so, if the text there is the piece's; else as `locate` finds it.

    Of a character that was torn in two, its bytes on both sides, nothing is searched.

    >>> places("Ask us. Then ask us.", [Piece("Ask us."), Piece("ask us.", 13, 20)])
    [Span(start=0, end=7), Span(start=13, end=20)]
    """
    found: list[Span | None] = []
    last = Span(-1, 0)
    for piece in pieces:
        said = piece.text.strip()
        if _holds(text, piece) and said and piece.start is not None:
            start = piece.start + piece.text.index(said)
            span: Span | None = Span(start, start + len(said))
        else:
            low = last.start + 1 if overlapping else last.end
            span = locate(text[low:], [piece.text.strip(_TORN)])[0]
            span = Span(low + span.start, low + span.end) if span else None
        last = span or last
        found.append(span)
    return found


def as_splitter(peer: Peer, **settings: int) -> Splitter:
    """A library's splitter as a function from text to spans, so that all of this package works on its chunks.

    Pieces that cannot be placed are left out; see `Counts.lost`. Settings: those of the peer; no overlap.
    """

    def split(text: str) -> list[Span]:
        return [span for span in places(text, peer(text, **settings)) if span]

    split.__name__ = peer.__name__
    return split


class Counts(NamedTuple):
    """What `compare` counts, each a number of chunks but for ``lost``, which counts characters.

    ``over``: longer than the limit. ``altered``: its text stands nowhere in the document as it is. ``misplaced``: the
    place it claims holds another text, or it says "not found"; ``None`` where no chunk claims a place. ``lost``:
    characters, not blanks, in no chunk. ``cut``: begins inside a sentence. ``bare``: ends with a heading, so the text
    below that is in the next chunk.
    """

    chunks: int
    over: int | None
    altered: int
    misplaced: int | None
    lost: int
    cut: int
    bare: int


def compare(text: str, pieces: Sequence[Piece], *, chunk_size: int | None, overlapping: bool = False) -> Counts:
    """Count what can be counted about a splitter's chunks; ``chunk_size`` in tokens, or ``None`` for no limit.

    >>> compare("One two. Three.", [Piece("One two.", 0, 8), Piece("Three.", 8, 14)], chunk_size=3)
    Counts(chunks=2, over=0, altered=0, misplaced=1, lost=0, cut=0, bare=0)
    """
    spans = [span for span in places(text, pieces, overlapping=overlapping) if span]
    covered = bytearray(len(text))
    for start, end in spans:
        covered[start:end] = b"\1" * (end - start)
    claims = [piece for piece in pieces if piece.start is not None]
    sentences = split_sentences(text)
    ends = {heading.end for heading in markdown_headings(text)} - {len(text.rstrip())}
    return Counts(
        chunks=len(pieces),
        over=None if chunk_size is None else sum(count(piece.text) > chunk_size for piece in pieces),
        altered=sum(piece.text not in text for piece in pieces),
        misplaced=sum(not _holds(text, piece) for piece in pieces) if claims else None,
        lost=sum(not seen and not character.isspace() for seen, character in zip(covered, text, strict=True)),
        cut=sum(_inside(span.start, sentences) for span in spans),
        bare=sum(span.end in ends for span in spans),
    )


def _holds(text: str, piece: Piece) -> bool:
    start = -1 if piece.start is None else piece.start
    end = start + len(piece.text) if piece.end is None else piece.end
    return start >= 0 and text[start:end] == piece.text


def _inside(at: int, sentences: Sequence[Span]) -> bool:
    i = bisect_left(sentences, (at,)) - 1  # the last that begins before
    return i >= 0 and at < sentences[i].end


def _breakable(cell: str) -> str:
    """As HTML; a name of 20 letters or more may break between its words, or a table of them runs out of the page."""
    marked = re.sub(r"\w{20,}", lambda name: re.sub("(?<=[a-z])(?=[A-Z])|(?<=_)", "\0", name[0]), cell)
    return html.escape(marked).replace("\0", "<wbr>")


@dataclass(frozen=True, repr=False)
class Table:
    """Rows under a head: HTML in a notebook, aligned lines anywhere else."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __repr__(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.head))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        left = ' style="text-align: left"'
        head = "".join(f"<th{left}>{_breakable(cell)}</th>" for cell in self.head)
        rows = ("".join(f"<td{left}>{_breakable(cell)}</td>" for cell in row) for row in self.rows)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def python_names() -> Table:
    """What the same thing is called here and in five libraries; a test asks those that are installed.

    But: a name that is alike need not mean the same. Look at the unit first. Defaults are those of the recursive
    splitter; of the others, where they differ.
    """
    return _names("python")


def java_names() -> Table:
    """The same for three libraries in Java, read in November 2026 where the last line says; none of them was run."""
    return _names("java")


def _names(language: str) -> Table:
    head, *rows = json.loads((DATA / "names.json").read_text(encoding="utf-8"))[language]
    return Table(tuple(head), tuple(map(tuple, rows)))


def table(counts: Mapping[str, Counts]) -> Table:
    """The counts of several splitters, one a line; a dash where there is nothing to count."""
    head = ("", "chunks", "over limit", "altered", "misplaced", "lost", "cut sentences", "bare headings")
    rows = ((name, *("-" if n is None else str(n) for n in row)) for name, row in counts.items())
    return Table(head, tuple(rows))


def ours(text: str, spans: Iterable[tuple[int, int]]) -> list[Piece]:
    """Spans as pieces, to be compared with those of a library."""
    return [Piece(text[start:end], start, end) for start, end in spans]
