# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, regex, nltk, tiktoken, tokenizers, markdown-it-py.
"""What looks wrong with these chunks? Seven kinds of faults, each with its chunk, its evidence, and what to do.

When to use it: on the chunks of every new collection, before an index is built; in a test, to keep a fault away that
was mended once. It looks at the chunks in their documents and never at the technique that made them, so the chunks of
any library can be audited, once they are spans.

But: it sees the form of a chunk, not its use. A clean chunk may still say nothing that anybody asks for, and what is
rare in your documents may be no fault there. Of HTML and PDF it knows no code; of PDF no tables.

Cost: for each document a pass of the sentence splitter, the tokenizer and the Markdown parser; for each chunk a pass of
the encoder's tokenizer and a few set operations: 5 to 15 s for 10,000 chunks of 150 tokens.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import accumulate, islice, zip_longest

import regex

from chunklib.core.document import Chunk, Document
from chunklib.core.measure import Length, count, measure
from chunklib.core.outline import VERBATIM, markdown_blocks
from chunklib.core.plain import Ruler
from chunklib.core.span import Span, next_ink
from chunklib.search.embedding import PIECES_READ
from chunklib.sentence import split_sentences

MID_SENTENCE, NO_HEADER, FENCE, DANGLING, TINY, DUPLICATE, UNREAD = KINDS = (
    "cut mid-sentence",
    "row without header",
    "unbalanced fence",
    "dangling heading",
    "tiny chunk",
    "near-duplicate",
    "longer than the encoder reads",
)
# A character of Chinese or Japanese counts as a word.
_WORD = regex.compile(r"(?V1)[\p{Han}\p{Hiragana}\p{Katakana}]|[\w--[\p{Han}\p{Hiragana}\p{Katakana}]]+")
_LINE_END = frozenset("\r\n\f")
_FENCE_MARK = regex.compile(r"`{3,}|~{3,}")
_SHOWN = 48  # characters of evidence on either side
_SHINGLE = 3  # words
_SKETCH = 8  # of a chunk's shingles: enough to meet, with a chance of 0.2 to the power of 8 not to, at 80 % alike
_MET = 4  # chunks remembered for a shingle: more would be quadratic where all chunks share one


@dataclass(frozen=True)
class Finding:
    """One fault: its kind (one of `KINDS`), the chunk, what was seen there, and what to do about it."""

    kind: str
    chunk: Chunk
    evidence: str
    advice: str

    @property
    def place(self) -> str:
        """Document, characters, section and page of the chunk."""
        chunk = self.chunk
        page = f"page {chunk.page_number}" if chunk.page_number else ""
        known = (f"{chunk.document_id} [{chunk.start}, {chunk.end})", " > ".join(chunk.section_path), page)
        return ", ".join(filter(None, known))

    def __str__(self) -> str:
        return f"{self.kind}: {self.place}: {self.evidence}"


def audit(
    chunks: Iterable[Chunk],
    documents: Iterable[Document],
    *,
    tiny: int = 8,
    alike: float = 0.7,
    reads: int = PIECES_READ,
    length: Length = "wordpieces",
) -> list[Finding]:
    """All that looks wrong, in the order of the chunks; within a chunk, in the order of `KINDS`.

    - *cut mid-sentence*: a sentence or row that no chunk holds whole, told once, at the chunk in which it begins. In
      code no sentence is looked for; a cut at a line end counts only if the next line goes on in lower case, and the
      whole would have fitted a chunk: lists of words without a full stop are none.
    - *row without header*: a chunk starts inside a table, and neither its text nor its context holds the header row.
    - *unbalanced fence*: a fence is cut that would fit the longest chunk; or the author never closed it.
    - *dangling heading*: a chunk ends with a heading whose text stands below, in another chunk, and the first sentence
      of that text would have fitted beside it.
    - *tiny chunk*: fewer than ``tiny`` words, and not a whole section or document.
    - *near-duplicate*: the same words as an earlier chunk, or at least the share ``alike`` of the runs of three words
      in both. Chunks that share their place (overlap, parents) are none.
    - *longer than the encoder reads*: context and text measure more than ``reads`` units of ``length``.

    Parameters: ``documents`` are those that the chunks were cut from; more do no harm.

    Raises ``ValueError`` for a chunk whose document is missing or has another text. Cost: see above.

    >>> from chunklib import chunk_document
    >>> document = Document.from_markdown("# Returns\\n\\nThe window is 60 days for what came faulty.", id="policy")
    >>> for finding in audit(chunk_document(document, lambda text: [(0, 24), (25, 54)]), [document], tiny=0):
    ...     print(finding)
    cut mid-sentence: policy [0, 24), Returns: The window is ‖ 60 days for what came faulty.
    """
    chunks, known = list(chunks), {document.id: document for document in documents}
    by_document: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        if chunk.document_id not in known:
            raise ValueError(f"document {chunk.document_id!r} of a chunk is not among the documents; add it")
        if chunk.text != known[chunk.document_id].text[chunk.start : chunk.end]:
            raise ValueError(f"the chunk at [{chunk.start}, {chunk.end}) is of another text of {chunk.document_id!r}")
        by_document.setdefault(chunk.document_id, []).append(chunk)
    found = list(_duplicates(chunks, alike))
    for name, its in by_document.items():
        text = _Text(known[name], sorted(its, key=lambda chunk: chunk.span))
        found += [*text.cut_sentences(), *text.rows(), *text.fences(), *text.headings(), *text.tiny(tiny)]
    for chunk in chunks:
        if (size := count(chunk.embedding_text, length)) > reads:
            advice = f"choose a chunk size at which text and context stay within {reads}; what comes after is not found"
            found.append(Finding(UNREAD, chunk, f"{size} of at most {reads}", advice))
    order = {id(chunk): place for place, chunk in enumerate(chunks)}
    return sorted(found, key=lambda finding: (order[id(finding.chunk)], KINDS.index(finding.kind)))


@dataclass(frozen=True, eq=False)
class _Text:
    """A document with its chunks, sorted by place; each method yields the findings of one kind."""

    document: Document
    chunks: Sequence[Chunk]

    @cached_property
    def ruler(self) -> Ruler:
        return measure(self.document.text)

    @cached_property
    def longest(self) -> int:
        return max(self.ruler.size(*chunk.span) for chunk in self.chunks)

    @cached_property
    def verbatim(self) -> list[tuple[str, Span]]:
        """Code, raw HTML and front matter of a Markdown document: kind and place."""
        if self.document.media_type != "text/markdown":
            return []
        blocks = markdown_blocks(self.document.text)
        return [(block.kind, Span(block.start, block.end)) for block in blocks if block.kind in VERBATIM]

    @cached_property
    def sentences(self) -> list[Span]:
        return split_sentences(self.document.text)

    @cached_property
    def starts(self) -> list[int]:
        return [chunk.start for chunk in self.chunks]

    @cached_property
    def ends(self) -> list[int]:
        return sorted(chunk.end for chunk in self.chunks)

    @cached_property
    def reached(self) -> list[int]:
        """For each chunk the farthest end of it and those before."""
        return list(accumulate((chunk.end for chunk in self.chunks), max))

    def whole(self, start: int, end: int) -> bool:
        """Whether one chunk holds all of a range."""
        at = bisect_right(self.starts, start)
        return at > 0 and self.reached[at - 1] >= end

    def holder(self, start: int) -> Chunk:
        """The chunk that holds a character; of several the last to begin; if there is none, the next one."""
        at = bisect_right(self.starts, start) - 1
        while at >= 0 and self.reached[at] > start:
            if self.chunks[at].end > start:
                return self.chunks[at]
            at -= 1
        return self.chunks[min(bisect_right(self.starts, start), len(self.chunks) - 1)]

    def cut_sentences(self) -> Iterator[Finding]:
        text = self.document.text
        borders = {offset for heading in self.document.headings for offset in (heading.start, heading.end)}
        verbatim = [place for _, place in self.verbatim]
        for start, end in self.sentences:
            cuts = self.ends[bisect_right(self.ends, start) : bisect_left(self.ends, end)]
            if not cuts or self.whole(start, end) or _touches(verbatim, start, end):
                continue
            size = self.ruler.size(start, end)
            for cut in cuts:
                after = next_ink(text, cut)
                # Lines that make no sentence of a chunk's size are a list, with or without small letters.
                goes_on = _LINE_END.isdisjoint(text[cut:after]) or (text[after].islower() and size <= self.longest)
                if after < end and goes_on and borders.isdisjoint((cut, after)):
                    evidence = f"{_last(text[start:cut])} ‖ {_first(text[after:end])}"
                    advice = "cut at sentences (split_sentences, split_recursive), or let chunks overlap"
                    if size > self.longest:
                        advice = f"it has {size} tokens, more than any chunk: a larger size, or leave it"
                    yield Finding(MID_SENTENCE, self.holder(start), evidence, advice)
                    break

    def rows(self) -> Iterator[Finding]:
        text = self.document.text
        for header, table in self.document.tables:
            said = " ".join(header.of(text).lstrip("> \t").split())
            for chunk in self.chunks[bisect_right(self.starts, header.start) : bisect_left(self.starts, table.end)]:
                if said and chunk.end > header.end and said not in " ".join(chunk.context.split()):
                    row = _first(text[max(chunk.start, header.end) : min(chunk.end, table.end)])
                    advice = "add_context puts the header row in front of what the encoder reads"
                    yield Finding(NO_HEADER, chunk, f"{row} lacks {_first(said)}", advice)

    def fences(self) -> Iterator[Finding]:
        text = self.document.text
        for kind, (start, end) in self.verbatim:
            if kind != "fence":
                continue
            lines = [line.strip(" \t>") for line in regex.split(r"\r\n|\r|\n", text[start:end])]
            opening, mark = lines[0], _FENCE_MARK.search(lines[0])
            if not mark or len(lines) < 2 or not lines[-1].startswith(mark[0]):
                advice = "close the fence in the document: as it stands, all that follows is code"
                yield Finding(FENCE, self.holder(start), f"{_first(opening)} is never closed", advice)
            elif not self.whole(start, end) and (size := self.ruler.size(start, end)) <= self.longest:
                advice = "keep fences whole where they fit (split_markdown), or choose a larger size"
                evidence = f"{_first(opening)} of {size} tokens is cut, and the longest chunk has {self.longest}"
                yield Finding(FENCE, self.holder(start), evidence, advice)

    def headings(self) -> Iterator[Finding]:
        text, found = self.document.text, self.document.headings
        for heading, below in zip_longest(found, found[1:]):
            after = next_ink(text, heading.end)
            empty = after >= len(text) or (below and below.start <= after and below.level <= heading.level)
            if heading.start == heading.end or empty or self.whole(heading.start, after + 1):
                continue
            chunk = self.holder(heading.start)
            if chunk.end < heading.end or next_ink(text, chunk.end) < after:
                continue  # the heading itself is cut
            at = bisect_right(self.sentences, after, key=lambda sentence: sentence.end)
            ends = [self.sentences[at].end] if at < len(self.sentences) else []
            ends += [place.end for _, place in self.verbatim if place.start <= after < place.end]
            if self.ruler.size(heading.start, max(ends, default=len(text))) <= self.longest:
                advice = "keep a heading with the text below it (split_markdown)"
                evidence = f"{_first(heading.title)} ‖ {_first(text[after : ends[0]] if ends else text[after:])}"
                yield Finding(DANGLING, chunk, evidence, advice)

    def tiny(self, least: int) -> Iterator[Finding]:
        text = self.document.text
        borders = [0, *(heading.start for heading in self.document.headings), len(text)]
        for chunk in self.chunks:
            words = list(islice(_WORD.finditer(chunk.text), least))
            above = borders[bisect_right(borders, chunk.start) - 1]
            below = borders[bisect_left(borders, chunk.end)]
            a_section = not text[above : chunk.start].strip() and not text[chunk.end : below].strip()
            if len(words) < least and not a_section:
                advice = "join it with a neighbour: a larger size, or a minimum"
                yield Finding(TINY, chunk, f"{len(words)} words: {_first(chunk.text)}", advice)


def _first(text: str) -> str:
    """The first words of a text, in one line."""
    said = " ".join(text[: 2 * _SHOWN].split())
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN].rsplit(' ', 1)[0]} …"


def _last(text: str) -> str:
    """The last words of a text, in one line."""
    said = " ".join(text[-2 * _SHOWN :].split())
    return said if len(said) <= _SHOWN else f"… {said[-_SHOWN:].split(' ', 1)[-1]}"


def _touches(places: Sequence[Span], start: int, end: int) -> bool:
    at = bisect_right(places, start, key=lambda place: place.end)
    return at < len(places) and places[at].start < end


def _duplicates(chunks: Sequence[Chunk], alike: float) -> Iterator[Finding]:
    """Compare each chunk with the few earlier ones that share one of the smallest hashes of its shingles."""
    same: dict[str, Chunk] = {}
    met: dict[int, list[tuple[Chunk, set[int]]]] = {}
    advice = "index one of them (Index(…, once=True)), or tell them apart by a filter"
    for chunk in chunks:
        words = _WORD.findall(chunk.text.casefold())
        if len(words) < _SHINGLE + 2:
            continue
        twin = same.setdefault(" ".join(words), chunk)
        if twin is not chunk:
            if not _share_a_place(twin, chunk):
                yield Finding(DUPLICATE, chunk, f"the same words as {_named(twin)}", advice)
            continue
        runs = zip(*(words[at:] for at in range(_SHINGLE)), strict=False)
        shingles = {zlib.crc32(" ".join(run).encode("utf-8", "replace")) for run in runs}
        best, nearest = 0.0, None
        for least in nsmallest(_SKETCH, shingles):
            seen = met.setdefault(least, [])
            for other, its in seen:
                share = len(shingles & its) / len(shingles | its)
                if share > best and not _share_a_place(other, chunk):
                    best, nearest = share, other
            if len(seen) < _MET:
                seen.append((chunk, shingles))
        if nearest and best >= alike:
            yield Finding(DUPLICATE, chunk, f"{best:.0%} of its runs of words as in {_named(nearest)}", advice)


def _share_a_place(a: Chunk, b: Chunk) -> bool:
    return a.document_id == b.document_id and a.start < b.end and b.start < a.end


def _named(chunk: Chunk) -> str:
    return f"{chunk.document_id} [{chunk.start}, {chunk.end})"
