# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""The same chunk as last time? And where does this sentence stand? Differences between versions, and citations.

When to use it: `diff` before an index is brought up to date, `cite` where an answer names its source, `resolve` where
somebody follows that name back to the file.

But: an id says that the words are the same, not that they still hold. `resolve` reads words, not sense: it refuses what
is no whole word any more, or stands beside other words than before; a change further away than that it does not see.
Of words that stand twice, with the same words around them, it takes the one at the old place: an equal neighbour may
have slid there.

Cost: `diff` a dictionary of each side; `resolve` one or two searches of the text for the quote, and a look at what
stands around each place: 0.1 ms a place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

from chunklib.core.document import Chunk, Document
from chunklib.core.span import Span

#: Characters before and after a quote that tell it from its doubles.
AROUND = 40
#: So many of them, on each side, must be the same for a quote to be where it was, if the citation knows as many.
LEAST = 10
# Between two characters of a word, or of a number.
_INSIDE = re.compile(r"(?<=\w)(?=\w)|(?<=\d[.,])(?=\d)|(?<=\d)(?=[.,]\d)")


class Diff(NamedTuple):
    """What became of the chunks of a document, by their ids.

    ``changed``: the same id, but another `embedding_text`: encode it again. With content ids only a new context does
    that; with ids by position, every edit. ``moved``: the same id and text, but another place, section, page or
    metadata: rewrite its record, keep its vector. Both are pairs of old and new.
    """

    added: list[Chunk]
    removed: list[Chunk]
    changed: list[tuple[Chunk, Chunk]]
    moved: list[tuple[Chunk, Chunk]]
    unchanged: list[Chunk]

    def __repr__(self) -> str:
        return f"Diff({', '.join(f'{name}={len(part)}' for name, part in self._asdict().items())})"


def diff(old: Iterable[Chunk], new: Iterable[Chunk]) -> Diff:
    """Compare two versions of some chunks. Each chunk is in one list only.

    Raises ``ValueError`` where two chunks of one side have the same id: then one would overwrite the other in a store.

    >>> from chunklib import chunk_document
    >>> lines = lambda text: [(at, at + 2) for at in range(0, len(text), 3)]
    >>> diff(chunk_document(Document("aa bb cc"), lines), chunk_document(Document("xx aa cc"), lines))
    Diff(added=1, removed=1, changed=0, moved=1, unchanged=1)
    """
    before, after = _by_id(old), _by_id(new)
    found = Diff([chunk for id, chunk in after.items() if id not in before], [], [], [], [])
    for id, chunk in before.items():
        if id not in after:
            found.removed.append(chunk)
        elif chunk.embedding_text != after[id].embedding_text:
            found.changed.append((chunk, after[id]))
        elif chunk != after[id]:
            found.moved.append((chunk, after[id]))
        else:
            found.unchanged.append(chunk)
    return found


def _by_id(chunks: Iterable[Chunk]) -> dict[str, Chunk]:
    found: dict[str, Chunk] = {}
    for chunk in chunks:
        if chunk.id in found:
            raise ValueError(
                f"id {chunk.id!r} belongs to two chunks, of {found[chunk.id].document_id!r} and "
                f"{chunk.document_id!r}: make ids from the document, the text and a number among equal texts"
            )
        found[chunk.id] = chunk
    return found


@dataclass(frozen=True)
class Citation:
    """Words of a document, and all that is needed to find them again.

    ``start`` and ``end`` are characters of the document's text; ``before`` and ``after`` what stands around the quote,
    where the citing chunk knew it. As text it is what a reader wants to see.
    """

    document_id: str
    title: str
    source: str
    section_path: tuple[str, ...]
    page_number: int | None
    start: int
    end: int
    quote: str
    before: str = ""
    after: str = ""

    @property
    def span(self) -> Span:
        """Where the quote stands in the document."""
        return Span(self.start, self.end)

    def __str__(self) -> str:
        headings = self.section_path if self.title in self.section_path[:1] else (self.title, *self.section_path)
        where = [" > ".join(headings), self.source or self.document_id]
        where += [f"page {self.page_number}"] if self.page_number else []
        return f'"{" ".join(self.quote.split())}" ({", ".join(where)}, characters {self.start} to {self.end})'


def cite(chunk: Chunk, span: tuple[int, int] | None = None) -> Citation:
    """Cite a chunk, or the part of it at ``span``, which is given in characters of the document.

    The section is the one common to the whole chunk, since a chunk does not know where inside it a section begins;
    `resolve` names the quote's own. The page counts the form feeds before the quote. Raises ``ValueError`` for a span
    that is not inside the chunk.

    >>> chunk = Chunk("Thirty days. Sixty.", 10, 29, 0, "x", "policy", title="Returns", source="policy.md")
    >>> print(cite(chunk, (23, 29)))
    "Sixty." (Returns, policy.md, characters 23 to 29)
    """
    start, end = chunk.span if span is None else span
    if not chunk.start <= start < end <= chunk.end:
        raise ValueError(f"span ({start}, {end}) is not inside the chunk, ({chunk.start}, {chunk.end})")
    a, b = start - chunk.start, end - chunk.start
    page = None if chunk.page_number is None else chunk.page_number + chunk.text[:a].count("\f")
    return Citation(
        document_id=chunk.document_id,
        title=chunk.title,
        source=chunk.source,
        section_path=chunk.section_path,
        page_number=page,
        start=start,
        end=end,
        quote=chunk.text[a:b],
        before=chunk.text[max(0, a - AROUND) : a],
        after=chunk.text[b : b + AROUND],
    )


def resolve(citation: Citation, document: Document) -> Citation:
    """Find the quote in the document as it is today: its place, and its own section and page.

    Where the text has changed, the quote may have moved, and its lines may break elsewhere. It must be whole words, and
    up to `LEAST` characters before and after it must be those of the citation. Of several such places, the one counts
    that has most of the same words around it. Raises ``LookupError`` where the words are gone, stand only beside other
    words, or no place is better than the others; ``ValueError`` for another document.

    >>> chunk = Chunk("Sixty.", 13, 19, 0, "x", "policy", title="policy")
    >>> resolve(cite(chunk), Document("News. Thirty days. Sixty.", id="policy")).span
    Span(start=19, end=25)
    """
    if document.id != citation.document_id:
        raise ValueError(f"the citation is of {citation.document_id!r}, the document is {document.id!r}")
    text = document.text
    same = [Span(at, at + len(citation.quote)) for at in _places(text, citation.quote)]
    words = r"\s+".join(map(re.escape, citation.quote.split()))
    found = [Span(*match.span()) for match in re.finditer(words, text)] if words else []
    alike = _alike(citation, text, same) or _alike(citation, text, found)
    said = repr(citation.quote[:60])
    if not alike:
        if same or found:
            raise LookupError(f"{document.id!r} says {said}, but not where it was cited: other words stand beside it")
        raise LookupError(f"{document.id!r} does not say {said} any more")
    most = max(alike.values())
    best = [span for span in alike if alike[span] == most]
    if citation.span in best and alike[citation.span] == _known(citation):
        best = [citation.span]
    if len(best) > 1:
        raise LookupError(f"{document.id!r} says {said} {len(best)} times, with the same words around it")
    start, end = best[0]
    return replace(
        citation,
        title=document.title,
        source=document.source,
        section_path=document.section_path(start, end),
        page_number=document.page_number(start),
        start=start,
        end=end,
        quote=text[start:end],
    )


def _places(text: str, quote: str) -> Iterator[int]:
    at = text.find(quote) if quote else -1
    while at >= 0:
        yield at
        at = text.find(quote, at + 1)


def _alike(citation: Citation, text: str, places: Iterable[Span]) -> dict[Span, int]:
    """Those of the places that may be the cited one: how many characters around each are those around the quote."""
    before, after, whole = citation.before, citation.after, citation.before + citation.quote + citation.after
    found = {}
    for start, end in places:
        left = _common(_line(before)[::-1], _line(text[max(0, start - 3 * AROUND) : start])[::-1])
        right = _common(_line(after), _line(text[end : end + 3 * AROUND]))
        fits = min(LEAST, len(_line(before))) <= left and min(LEAST, len(_line(after))) <= right
        for beside, at, was, now in (
            (before, start, len(before), start == citation.start),
            (after, end, len(whole) - len(after), end == citation.end),
        ):
            # What the citation does not know was a border of its chunk, and at its old place that may cut a word.
            cut = bool(beside and _INSIDE.match(whole, was))
            fits = fits and (now or cut == bool(_INSIDE.match(text, at)))
        if fits:
            found[Span(start, end)] = left + right
    return found


def _known(citation: Citation) -> int:
    return len(_line(citation.before)) + len(_line(citation.after))


def _line(text: str) -> str:
    """Line breaks and blanks of any number as one blank."""
    return re.sub(r"\s+", " ", text)


def _common(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
