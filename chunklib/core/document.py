# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""Documents and chunks: what is known of a text, and what each of its spans knows by its place.

`chunk_document` turns a splitter's spans into chunks. It looks up section, page and title in the document, so every
technique gets them alike, a function of ten lines too.

But: an id says that the words are the same, not that they still hold; see `chunklib.search.identity`.
"""

from __future__ import annotations

import json
import reprlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from chunklib.core.checks import checked
from chunklib.core.marks import SURROGATE
from chunklib.core.outline import Heading, markdown_outline
from chunklib.core.span import Span, Splitter

#: The id of a document that was given none.
UNNAMED = "document"
#: Fixed for ever: every chunk id is derived from it.
NAMESPACE = UUID("5f0c1c1e-6e0b-4c58-9d0f-0f6d9e3a7c21")


@dataclass(frozen=True)
class Document:
    """A text and what is known about it.

    Parameters: ``headings`` in order of their place; ``pages`` the offset at which each page starts; ``tables`` pairs
    of spans (header row, empty where there is none; whole table); ``source`` a path or address; ``media_type`` such as
    ``"text/markdown"``.

    >>> Document("Hello.", id="greeting").title
    'greeting'
    """

    text: str
    id: str = UNNAMED
    title: str = ""
    source: str = ""
    media_type: str = "text/plain"
    # Of the rest a list or a dict may be given, which has no hash; equal documents have equal hashes without it.
    headings: Sequence[Heading] = field(default=(), hash=False)
    pages: Sequence[int] = field(default=(), hash=False)
    tables: Sequence[tuple[Span, Span]] = field(default=(), hash=False)
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"text={type(self.text).__name__} must be str; decode bytes first")
        if not self.title:
            top = next((h.title for h in self.headings if h.level == 1), "")
            object.__setattr__(self, "title", top or self.id)

    @classmethod
    def from_markdown(cls, text: str, **known: Any) -> Document:
        """A document whose headings, tables, title and metadata are read from its Markdown; what is given wins.

        Given metadata is added to that of the front matter, value by value.

        >>> Document.from_markdown("# Returns\\n\\nThirty days.").title
        'Returns'
        >>> Document.from_markdown("---\\nby: Ada\\nyear: 2025\\n---\\n", metadata={"year": 2026}).metadata
        {'by': 'Ada', 'year': 2026}
        """
        found = markdown_outline(text)
        if "metadata" in known:
            known["metadata"] = {**found.metadata, **known["metadata"]}
        return cls(text, **{"media_type": "text/markdown", "title": found.title, **found._asdict(), **known})

    @cached_property
    def _paths(self) -> list[tuple[Heading, ...]]:
        """For each heading, itself and those it stands under, outermost first."""
        paths: list[tuple[Heading, ...]] = []
        for heading in self.headings:
            above = paths[-1] if paths else ()
            paths.append((*(h for h in above if h.level < heading.level), heading))
        return paths

    @cached_property
    def _heading_starts(self) -> list[int]:
        return [heading.start for heading in self.headings]

    def section_path(self, start: int, end: int | None = None) -> tuple[str, ...]:
        """Titles of the headings above ``start``, outermost first; with ``end``, the path common to the whole span.

        Cost: a binary search, and a step for each heading inside the span.

        >>> d = Document.from_markdown("# A\\n\\n## B\\n\\nb\\n\\n## C\\n\\nc")
        >>> d.section_path(d.text.index("b")), d.section_path(0, len(d.text))
        (('A', 'B'), ('A',))
        """
        first = bisect_right(self._heading_starts, start)
        last = first if end is None else max(first, bisect_left(self._heading_starts, end))
        path = list(self._paths[first - 1]) if first else []
        for below in self._paths[first:last]:
            path = [h for h, other in zip(path, below, strict=False) if h == other]
        return tuple(heading.title for heading in path)

    def page_number(self, offset: int) -> int | None:
        """Number, from 1, of the page that holds ``offset``; ``None`` for a text without pages."""
        return bisect_right(self.pages, offset) or None


@dataclass(frozen=True)
class Chunk:
    """A span of a document with all that is needed to search, read and cite it.

    ``text`` is the document's own text at ``[start, end)``. ``context`` is what is added for the encoder only (title,
    section, table header); it is never part of ``text``. ``index`` counts chunks from 0 within the document.
    """

    text: str
    start: int
    end: int
    index: int
    id: str
    document_id: str
    title: str = ""
    section_path: tuple[str, ...] = ()
    page_number: int | None = None
    source: str = ""
    context: str = ""
    metadata: dict[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash

    @property
    def span(self) -> Span:
        """Where the chunk stands in its document."""
        return Span(self.start, self.end)

    @property
    def embedding_text(self) -> str:
        """What the encoder reads: the context, a blank line, the text."""
        return f"{self.context}\n\n{self.text}" if self.context else self.text


def chunk_from(record: Mapping[str, Any]) -> Chunk:
    """The chunk that was stored as a record, such as ``json.loads(json.dumps(asdict(chunk)))``.

    JSON has no tuples: the section path comes back as a list, and becomes a tuple again. What else the record holds is
    left alone. Raises ``KeyError`` naming the field that is missing.

    >>> from dataclasses import asdict
    >>> (chunk,) = chunk_document(Document("Thirty days."), lambda text: [(0, len(text))])
    >>> chunk_from(json.loads(json.dumps(asdict(chunk)))) == chunk
    True
    """
    known = {name: record[name] for name in Chunk.__dataclass_fields__}
    return Chunk(**{**known, "section_path": tuple(known["section_path"])})


class Hit(NamedTuple):
    """A chunk that was found, and how well it fits, to five decimals.

    Dense: the cosine, at most 1. Keywords: BM25, 0 or more. Fused: compares the chunks of one question only.
    """

    chunk: Chunk
    score: float


ChunkId = Callable[[Document, str, str, int], str]


def content_id(document: Document, level: str, text: str, ordinal: int) -> str:
    """An id made from what the chunk says: it survives re-ingestion and edits elsewhere in the document.

    ``ordinal`` tells equal texts of one document apart, so the ids of equal texts may swap when one more is inserted
    before them. Lone surrogates hash as U+FFFD would.

    >>> content_id(Document("", id="policy"), "chunk", "Thirty days.", 0)
    '1dc4af55-641a-51d7-b5b5-9436fb5986c5'
    """
    parts = [document.id, level, text, ordinal]
    return str(uuid5(NAMESPACE, json.dumps([SURROGATE.sub("\ufffd", str(part)) for part in parts])))


def chunk_document(
    document: Document, splitter: Splitter, *, level: str = "chunk", chunk_id: ChunkId | None = None
) -> list[Chunk]:
    """Split a document and look up, for each span, all that a chunk knows.

    Parameters
    ----------
    splitter: any function from text to spans, also one of ten lines.
    level: tells a parent from a child of the same text.
    chunk_id: another way to make ids, ``(document, level, text, ordinal) -> str``; the default is `content_id`.

    Raises ``ValueError`` naming the splitter where it breaks a law (no pairs of whole numbers, empty span, out of
    range, order), ``TypeError`` for a text that is no `Document` yet. Cost: linear in the text, beyond the splitter's
    own.

    >>> document = Document.from_markdown("# Returns\\n\\nThirty days.\\n\\n## Faults\\n\\nSixty days.", id="policy")
    >>> [c.section_path for c in chunk_document(document, lambda text: [(11, 23), (36, 47)])]
    [('Returns',), ('Returns', 'Faults')]
    """
    check_document(document)
    if not callable(splitter):
        said = reprlib.repr(splitter)
        raise TypeError(f"splitter={said} must be a function from text to spans, such as split_recursive itself")
    make_id = chunk_id or content_id
    seen: dict[str, int] = {}
    chunks = []
    for index, (start, end) in enumerate(checked(splitter(document.text), document.text, splitter)):
        text = document.text[start:end]
        ordinal = seen.get(text, 0)
        seen[text] = ordinal + 1
        chunks.append(
            Chunk(
                text=text,
                start=start,
                end=end,
                index=index,
                id=make_id(document, level, text, ordinal),
                document_id=document.id,
                title=document.title,
                section_path=document.section_path(start, end),
                page_number=document.page_number(start),
                source=document.source,
                metadata=dict(document.metadata),
            )
        )
    return chunks


def chunk_documents(
    documents: Iterable[Document], splitter: Splitter, *, per_type: Mapping[str, Splitter] | None = None
) -> Iterator[Chunk]:
    """The chunks of many documents, one document at a time; ``per_type`` names a splitter for a media type.

    Raises ``ValueError`` for a key of ``per_type`` that is no media type, and as `chunk_document`.

    >>> [c.text for c in chunk_documents([Document("ab"), Document("cd", id="2")], lambda text: [(0, len(text))])]
    ['ab', 'cd']
    """
    for name in per_type or ():
        if "/" not in name:
            raise ValueError(f"per_type has {name!r}; its keys must be media types, such as 'text/markdown'")
    for document in documents:
        check_document(document)
        yield from chunk_document(document, (per_type or {}).get(document.media_type, splitter))


def check_document(document: object) -> None:
    """Refuse what is no `Document`, such as its bare text, with a ``TypeError``."""
    if not isinstance(document, Document):
        raise TypeError(f"document={reprlib.repr(document)} must be a Document, such as Document(text)")
