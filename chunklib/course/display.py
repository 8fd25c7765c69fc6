# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library for its own part.
"""How does it look? Chunks painted on their text, in HTML and as plain lines.

JupyterLab shows a notebook that it did not run itself only after taking out styles and tags that it does not know. So
all here is inline styles from its list, and colour never tells anything alone: ``[3`` stands where chunk 3 starts and
``3)`` where it ends. The colour of the text is never set, so both themes stay readable.

But: only 3,000 characters are painted at a time, and the ruler and the lists name a limited number of chunks.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from chunklib.core.checks import as_span
from chunklib.core.document import Chunk, Document
from chunklib.core.marks import STEERING, UNWRITABLE
from chunklib.core.span import Span

#: Okabe-Ito blue, vermilion, sky blue, orange: neighbours differ for colour-blind eyes too (tested).
COLOURS = ((0, 114, 178), (213, 94, 0), (86, 180, 233), (230, 159, 0))
ALPHA = 0.4
#: Most characters painted, most bars in the ruler, most chunks listed.
PAINTED, BARS, LISTED = 3000, 40, 100

_GREY = f"rgba(128, 128, 128, {ALPHA})"
# A tile, because JupyterLab takes repeating-linear-gradient out.
_STRIPES = f"{_GREY} 0%, {_GREY} 25%, transparent 25%, transparent 50%, {_GREY} 50%, {_GREY} 75%, transparent 75%"
_HATCHED = f"background-image: linear-gradient(135deg, {_STRIPES}, transparent 100%); background-size: 8px 8px"
_MARK = "vertical-align: baseline; font-weight: bold; padding: 0 2px"  # a subscript would hide the dashed border


class _Row(NamedTuple):
    """A chunk (``number`` from 1) or text in no chunk (``number`` 0); ``shared`` characters stand in ``other`` too."""

    start: int
    end: int
    number: int
    shared: int = 0
    other: int = 0

    @property
    def label(self) -> str:
        name = self.number or "in no chunk"
        return f"{name}: [{self.start}, {self.end}) {self.end - self.start} ch"


@dataclass(frozen=True, eq=False, repr=False)
class Painted:
    """What `show` returns: shown as HTML in a notebook, as plain lines anywhere else."""

    document: Document
    spans: tuple[Span, ...]
    around: Span | None = None

    @cached_property
    def _rows(self) -> list[_Row]:
        """Chunks and pieces in no chunk, by place. Cost: a sort of the spans and one pass over the text."""
        text, rows, reach, last = self.document.text, [], 0, 0
        for start, end, number in [*sorted((*span, i) for i, span in enumerate(self.spans, 1)), (len(text), 0, 0)]:
            bare = text[reach:start]
            if bare.strip():
                rows.append(_Row(start - len(bare.lstrip()), reach + len(bare.rstrip()), 0))
            if number:
                shared = max(0, min(reach, end) - start)
                rows.append(_Row(start, end, number, shared, last if shared else 0))
            if end > reach:
                reach, last = end, number
        return rows

    @cached_property
    def _range(self) -> tuple[int, int]:
        """The characters that are painted: from the start, or ``around`` and the chunks that touch it."""
        if self.around is None:
            return 0, min(len(self.document.text), PAINTED)
        low, high = self.around
        touching = [span for span in self.spans if span.start < max(high, low + 1) and span.end > low]
        start, end = min([low, *(s.start for s in touching)]), max([high, *(s.end for s in touching)])
        if end - start > PAINTED:
            start = max(start, min(low - max(0, PAINTED - (high - low)) // 2, end - PAINTED))
            end = start + PAINTED
        return start, end

    def _window(self, limit: int) -> tuple[list[_Row], list[_Row], list[_Row]]:
        """The rows before, those to show (from two before the painted text on), and those after."""
        rows = self._rows
        here = next((i for i, row in enumerate(rows) if row.end > self._range[0]), 0)
        first = max(0, min(here - 2, len(rows) - limit))
        return rows[:first], rows[first : first + limit], rows[first + limit :]

    @property
    def _headline(self) -> str:
        bare = sum(row.end - row.start for row in self._rows if not row.number)
        covered = sum(row.end - row.start - row.shared for row in self._rows if row.number)
        repeated = sum(end - start for start, end in self.spans) - covered
        return f"{self._counted} over {len(self.document.text)} ch; {repeated} ch repeated; {bare} ch in no chunk"

    @property
    def _counted(self) -> str:
        return "1 chunk" if len(self.spans) == 1 else f"{len(self.spans)} chunks"

    @cached_property
    def _listing(self) -> list[tuple[_Row, str, str, str, int | None]]:
        """What is listed of each row: first and last words, tokens, section, page. Cost: counting the tokens."""
        listing = []
        for row in self._window(LISTED)[1]:
            text = self.document.text[row.start : row.end]
            section = _one_line(" > ".join(self.document.section_path(row.start, row.end)))
            listing.append((row, _ends(text), _tokens(text), section, self.document.page_number(row.start)))
        return listing

    def __repr__(self) -> str:
        """One line a chunk, one for each piece of text in no chunk, in the order of their places."""
        before, _, after = self._window(LISTED)
        lines = [self._headline, f"... {len(before)} lines before" if before else ""]
        for row, words, tokens, section, page in self._listing:
            known = ", ".join(filter(None, [f"{tokens} tokens", section, f"page {page}" if page else ""]))
            shared = f"; shares {row.shared} ch with {row.other}" if row.shared else ""
            lines.append(f'{row.label} "{words}" {known}{shared}')
        return "\n".join(filter(None, [*lines, f"... and {len(after)} more lines" if after else ""]))

    def _repr_html_(self) -> str:
        """Painted text, ruler, folded table. Without the classes, MathJax would typeset what stands between two $."""
        size, (low, high) = len(self.document.text), self._range
        left_out = '<div style="margin: 0.5em 0"><em>... {} characters {} this are not painted</em></div>'
        parts = [
            left_out.format(low, "before") if low else "",
            '<div dir="auto" style="white-space: pre-wrap; overflow-wrap: break-word; line-height: 1.6">',
            *self._painted(),
            "</div>" + (left_out.format(size - high, "after") if high < size else ""),
            *self._ruler(),
            *self._table(),
        ]
        return f'<div class="mathjax_ignore tex2jax_ignore" style="max-width: 60em">{"".join(parts)}</div>'

    def _painted(self) -> Iterable[str]:
        """The text in segments between which nothing starts or ends, each in its colours, with its marks."""
        low, high = self._range
        starts, ends = defaultdict(list), defaultdict(list)
        for start, end, number, *_ in self._rows:
            if start < high and end > low:  # a piece in no chunk, number 0, is never active with others
                starts[max(start, low)].append(number)
                ends[min(end, high)].append(number)
        active: list[int] = []
        for a, b in pairwise(sorted({low, high, *starts, *ends})):
            active = [number for number in active if number not in ends[a]] + starts[a]
            text = html.escape(UNWRITABLE.sub("\ufffd", self.document.text[a:b]))
            if not active:
                yield text
            elif active == [0]:
                yield f'<span style="{_HATCHED}">{_mark("in no chunk:")}{text}</span>'
            else:
                opened = [f"[{n}" if self.spans[n - 1].start == a else f"...{n}" for n in starts[a]]
                closed = [f"{n})" if self.spans[n - 1].end == b else f"{n}..." for n in ends[b]]
                yield f'<span style="{_paint(active[0], active[-1])}">{_mark(*opened)}{text}{_mark(*closed)}</span>'

    def _ruler(self) -> Iterable[str]:
        """One bar a line; what is not shown one by one has a common bar, so that the whole text is always covered."""
        size = len(self.document.text)
        before, here, after = self._window(BARS)
        bars = [("painted above", *self._range, "border: 1px solid")] if self._range != (0, size) else []
        if before:
            bars.append((f"... {len(before)} lines before", 0, max(row.end for row in before), "border: 1px dotted"))
        for row in here:
            paint, edge = (_paint(row.number), _rgba(row.number, 1)) if row.number else (_HATCHED, "gray")
            bars.append((row.label, row.start, row.end, f"{paint}; border: 1px solid {edge}"))  # seen in the dark, too
        if after:
            bars.append((f"... and {len(after)} more lines", after[0].start, size, "border: 1px dotted"))
        indent = f"margin-left: {0.62 * max((len(label) for label, *_ in bars), default=0) + 1:.1f}em"
        yield f'<div style="margin-top: 1em">{self._headline}</div>'
        yield '<div style="font-family: monospace; font-size: 85%; line-height: 1.4; margin: 0.5em 0">'
        yield f'<div style="{indent}">0<span style="float: right">{size}</span></div>'
        for label, start, end, style in bars:
            place = f"margin-left: {100 * start / size:.3f}%; width: {100 * (end - start) / size:.3f}%"
            yield f'<div style="clear: both"><span style="float: left">{label}</span>'
            yield f'<div style="{indent}; border-left: 1px solid {_GREY}; border-right: 1px solid {_GREY}">'
            yield f'<div style="{place}; min-width: 3px; height: 1.4em; box-sizing: border-box; {style}">'
            yield "</div></div></div>"
        yield "</div>"

    def _table(self) -> Iterable[str]:
        left = ' style="text-align: left"'
        yield "<details><summary>Table of the chunks</summary><table><thead><tr>"
        yield "<th>index</th><th>start</th><th>end</th><th>characters</th><th>tokens</th>"
        yield f"<th{left}>first and last words</th><th{left}>section</th><th>page</th></tr></thead><tbody>"
        for row, words, tokens, section, page in self._listing:
            if row.number:
                numbers = (row.number, row.start, row.end, row.end - row.start, tokens)
                yield "<tr>" + "".join(f"<td>{number}</td>" for number in numbers)
                yield "".join(f"<td{left}>{html.escape(part)}</td>" for part in (words, section))
                yield f"<td>{page or ''}</td></tr>"
        more = f" (of {len(self._rows)} places, {LISTED} are listed)" if len(self._rows) > LISTED else ""
        yield f"</tbody></table>{more}</details>"


def show(
    text_or_document: str | Document,
    spans_or_chunks: Iterable[tuple[int, int] | Chunk],
    *,
    around: tuple[int, int] | None = None,
) -> Painted:
    """Paint chunks on their text.

    Parameters: chunks in any order, as pairs, `Span` or `Chunk`; they are numbered from 1 as given, so search hits keep
    their rank. A `Document` adds section and page. ``around`` is a range of characters: only it and the chunks that
    touch it are painted. At most 3,000 characters are painted, the ruler covers the whole text. Where three or more
    chunks lie over one another, the background shows the one that began first and the one that began last.

    Raises ``ValueError`` for a span that is out of range or empty, and for a chunk of another text. Cost: linear in
    the text; a second when the tokenizer is loaded.

    >>> show("One two. Three four. Five.", [(0, 8), (4, 20)])
    2 chunks over 26 ch; 4 ch repeated; 5 ch in no chunk
    1: [0, 8) 8 ch "One two." 3 tokens
    2: [4, 20) 16 ch "two. Three four." 5 tokens; shares 4 ch with 1
    in no chunk: [21, 26) 5 ch "Five." 2 tokens
    """
    document = text_or_document if isinstance(text_or_document, Document) else Document(text_or_document)
    spans = tuple(_span(item, document.text) for item in spans_or_chunks)
    return Painted(document, spans, None if around is None else _span(around, document.text, "around", least=0))


@dataclass(frozen=True, eq=False, repr=False)
class Beside:
    """What `beside` returns: one column for each way to cut."""

    columns: dict[str, Painted]

    def __repr__(self) -> str:
        """The chunks that touch the painted range, one line each, under the name of their column."""
        lines = []
        for name, painted in self.columns.items():
            low, high = painted._range
            lines.append(f"{name}: {painted._counted}, of which here")
            here = [row for row in painted._rows if row.start < high and row.end > low]
            lines += [f'  {row.label} "{_ends(painted.document.text[row.start : row.end])}"' for row in here]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cell = '<td style="text-align: left; vertical-align: top; width: {}%; white-space: normal">{}</td>'
        text = '<div dir="auto" style="white-space: pre-wrap; overflow-wrap: break-word; line-height: 1.6">{}</div>'
        heads = "".join(f'<th style="text-align: left">{html.escape(name)}</th>' for name in self.columns)
        width = 100 // len(self.columns)
        cells = "".join(cell.format(width, text.format("".join(p._painted()))) for p in self.columns.values())
        table = f'<table style="width: 100%"><thead><tr>{heads}</tr></thead><tbody><tr>{cells}</tr></tbody></table>'
        return f'<div class="mathjax_ignore tex2jax_ignore">{table}</div>'


class _Strip(Painted):
    """Painted exactly ``around``, whatever chunks touch it."""

    @cached_property
    def _range(self) -> tuple[int, int]:
        assert self.around is not None
        return self.around.start, min(self.around.end, self.around.start + PAINTED)


def beside(
    text_or_document: str | Document,
    named: Mapping[str, Iterable[tuple[int, int] | Chunk]],
    *,
    around: tuple[int, int],
) -> Beside:
    """Paint the same characters several times, one column for each way to cut them, under its name.

    Raises what `show` raises. At most 3,000 characters of ``around`` are painted.

    >>> beside("One two. Three.", {"whole": [(0, 15)], "halves": [(0, 8), (9, 15)]}, around=(4, 15))
    whole: 1 chunk, of which here
      1: [0, 15) 15 ch "One two. Three."
    halves: 2 chunks, of which here
      1: [0, 8) 8 ch "One two."
      2: [9, 15) 6 ch "Three."
    """
    document = text_or_document if isinstance(text_or_document, Document) else Document(text_or_document)
    exactly = _span(around, document.text, "around", least=1)
    if not named:
        raise ValueError("named is empty: want at least one column, such as {'mine': spans}")
    columns = {name: tuple(_span(item, document.text) for item in spans) for name, spans in named.items()}
    return Beside({name: _Strip(document, spans, exactly) for name, spans in columns.items()})


def _span(item: object, text: str, name: str = "span", least: int = 1) -> Span:
    pair = item.span if isinstance(item, Chunk) else item
    start, end = as_span(pair, name, "a pair of whole numbers (start, end) or a Chunk")
    if not 0 <= start <= end - least <= len(text) - least:
        bounds = "0 <= start < end" if least else "0 <= start <= end"
        raise ValueError(f"{name} ({start}, {end}) does not fit the text: want {bounds} <= {len(text)}")
    if isinstance(item, Chunk) and item.text != text[start:end]:
        raise ValueError(f"chunk {item.id} at [{start}, {end}) is of another text; show its own document")
    return Span(start, end)


def _rgba(number: int, alpha: float = ALPHA) -> str:
    return f"rgba{(*COLOURS[(number - 1) % len(COLOURS)], alpha)}"


def _paint(first: int, last: int = 0) -> str:
    """The style of one chunk, or of a place that chunks share: both colours, one above the other, never darkened."""
    if last in (0, first):
        return f"background-color: {_rgba(first)}"
    both = f"linear-gradient(to bottom, {_rgba(first)} 50%, {_rgba(last)} 50%)"
    return f"background-image: {both}; border-bottom: 2px dashed"


def _mark(*words: str) -> str:
    # dir isolates the mark: in right-to-left text its bracket would turn round
    return f'<sub dir="ltr" style="{_MARK}">{" ".join(words)}</sub>' if words else ""


def _tokens(text: str) -> str:
    from chunklib.core.measure import count  # not before it is needed: the tokenizer takes a second to load

    try:
        return str(count(text))
    except OSError:  # its file is not to be had here; all else can be shown
        return "?"


def _one_line(text: str) -> str:
    return STEERING.sub("\ufffd", " ".join(text.split()))


def _ends(text: str) -> str:
    """The first and last words of a text, in one line."""
    words = _one_line(text)
    return words if len(words) <= 65 else f"{words[:30].rsplit(' ', 1)[0]} ... {words[-30:].split(' ', 1)[-1]}"
