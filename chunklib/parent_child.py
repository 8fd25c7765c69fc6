# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, an encoder; qdrant-client, or another vector store.
"""Parent-child: small chunks are searched, the larger ones around them are read.

When to use it: where the sentence that is near to the question cannot be understood alone, and its paragraph can.

Vectors of the children lie in one store, parents in another, and both change as one: see `chunklib.search.ledger` for
the order of writes. A search answers from one version of each document, whatever is killed or changed meanwhile.

But: parents cost room in the prompt; where short answers explain themselves, they only cost. One writer at a time, the
next is refused; searches may run beside it. After an error that comes late in an `add`, searches answer from the new
version already; calling again finishes it either way.

Cost: children are encoded, parents only with ``own_weight``. `add` of a changed document encodes what has a new
`embedding_text`, and reads the document's old vectors to keep them. A search reads ``k_parents`` parents, and after
each change the manifests of the documents it meets.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4, uuid5

import numpy as np

from chunklib.core.document import (
    NAMESPACE,
    Chunk,
    ChunkId,
    Document,
    check_document,
    chunk_document,
    chunk_from,
    content_id,
)
from chunklib.core.span import Span, Splitter, check_count, checked
from chunklib.core.vectors import Encoder, unit_vectors
from chunklib.recursive import split_recursive
from chunklib.search.embedding import embed
from chunklib.search.ledger import PARENT, Ledger, Manifest, Report
from chunklib.search.mappings import get_many
from chunklib.search.retrieval import Hit
from chunklib.search.stores import Point, QdrantVectors, Vector, VectorStore, batches

Enrich = Callable[[Chunk, Document], Chunk]
PARENTS: Splitter = partial(split_recursive, chunk_size=400)
CHILDREN: Splitter = partial(split_recursive, chunk_size=100)
_MISSING = "a parent of document {!r} is missing from the store; add the document again"
_RECORDED = frozenset({*Chunk.__dataclass_fields__, "level", "parent_id"}) - {"text"}  # of a child, to filter by
_PROBE = "Is this the encoder that made these vectors?"


class Family(NamedTuple):
    """A parent, and the children that it was cut into."""

    parent: Chunk
    children: tuple[Chunk, ...]


@dataclass(frozen=True)
class ParentHit:
    """A parent that was found, its score, and which of its children led there, best first; it has ``of`` children."""

    chunk: Chunk
    score: float
    children: tuple[Hit, ...]
    of: int

    def __iter__(self) -> Iterator[Any]:
        """Chunk and score, as those of a `Hit`: so a parent can be evaluated like any chunk."""
        return iter((self.chunk, self.score))


class Change(NamedTuple):
    """What an `add` did: texts that the encoder read, records that were stored, records that went, children kept."""

    encoded: int
    stored: int
    deleted: int
    kept: int


def families(
    document: Document, parent_splitter: Splitter, child_splitter: Splitter, *, chunk_id: ChunkId | None = None
) -> list[Family]:
    """Cut a document into parents, and each parent into children. All offsets are those of the document.

    A parent of which nothing would be left is its own child. Parents may overlap; then so do their children.

    >>> halves = lambda text: [(0, len(text) // 2), (len(text) // 2, len(text))]
    >>> [(f.parent.text, [c.text for c in f.children]) for f in families(Document("abcdefgh"), halves, halves)]
    [('abcd', ['ab', 'cd']), ('efgh', ['ef', 'gh'])]
    """
    found: list[Family] = []
    seen: Counter[str] = Counter()  # equal texts of one document, over all parents
    make_id = chunk_id or content_id

    def child_id(document: Document, level: str, text: str, _: int) -> str:
        seen[text] += 1
        return make_id(document, level, text, seen[text] - 1)

    count = 0
    for parent in chunk_document(document, parent_splitter, level="parent", chunk_id=chunk_id):
        inside = checked(child_splitter(parent.text), parent.text, child_splitter) or [Span(0, len(parent.text))]
        spans = [(parent.start + start, parent.start + end) for start, end in inside]
        children = chunk_document(document, lambda _, spans=spans: spans, level="child", chunk_id=child_id)  # type: ignore[misc]
        found.append(Family(parent, tuple(replace(child, index=count + i) for i, child in enumerate(children))))
        count += len(children)
    return found


class ParentChildIndex:
    """Parents and children of documents, in two stores that agree.

    Parameters
    ----------
    vectors: a `chunklib.search.stores.VectorStore`; Qdrant in memory by default.
    parents: any mapping from str to str for parents and manifests; a dict by default, `chunklib.search.mappings` has
        others. Two indexes in one mapping want a prefix each.
    embed: any function from texts to vectors, one a text; they are made as long as 1. Another encoder
        wants another index: a text that it read is recorded with its vector, and compared when the index is opened.
    enrich: ``(chunk, document) -> chunk``, such as `add_context`; what it puts into ``context`` is encoded, not quoted.
    own_weight: from 0 to 1, how much of a parent's score comes from its own vector; the rest is its best child's. Above
        0 the parents are encoded and stored as well, so an index is made either with 0 or without.
    chunk_id: another way to make ids, ``(document, level, text, ordinal) -> str``; the default is `content_id`. It must
        tell the parents of a document apart.
    namespace: tells this index's vectors from those of others in the same collection. Made up when the first document
        is added, and recorded in ``parents``. Name the old one to begin again after ``parents`` was lost. A search
        meets the others' vectors all the same: a collection of its own is faster.

    >>> letters = lambda texts: np.array([[c in t for c in "abcd"] for t in texts], dtype=np.float32) / 1
    >>> pairs = lambda text: [(at, at + 2) for at in range(0, len(text), 2)]
    >>> single = lambda text: [(at, at + 1) for at in range(len(text))]
    >>> index = ParentChildIndex(parent_splitter=pairs, child_splitter=single, embed=letters)
    >>> index.add(Document("abcd"))
    Change(encoded=4, stored=6, deleted=0, kept=0)
    >>> [(hit.chunk.text, hit.children[0].chunk.text) for hit in index.search("c", k_parents=1, k_children=1)]
    [('cd', 'c')]
    """

    def __init__(
        self,
        vectors: VectorStore | None = None,
        parents: MutableMapping[str, str] | None = None,
        *,
        parent_splitter: Splitter = PARENTS,
        child_splitter: Splitter = CHILDREN,
        embed: Encoder = embed,
        enrich: Enrich | None = None,
        own_weight: float = 0.0,
        chunk_id: ChunkId | None = None,
        namespace: str | None = None,
    ) -> None:
        if not 0 <= own_weight <= 1:
            raise ValueError(f"own_weight={own_weight} must lie between 0 and 1")
        self.vectors = QdrantVectors() if vectors is None else vectors
        self.parents = {} if parents is None else parents
        self.ledger = Ledger(self.vectors, self.parents)
        self.parent_splitter, self.child_splitter = parent_splitter, child_splitter
        self.embed, self.enrich, self.own_weight, self.chunk_id = embed, enrich, own_weight, chunk_id
        self.namespace = namespace
        self._checked: dict[str, Any] | None = None  # settings that were found to fit

    # --- Writing ---------------------------------------------------------------------------------------------------

    def add(self, document: Document, *, progress: Callable[[int, int], None] | None = None) -> Change:
        """Store a document, or its new version under the same id. The same again changes nothing.

        ``progress`` is called with how many children are stored, and of how many. Raises ``ConnectionError`` where a
        store cannot be reached, `chunklib.search.ledger.Busy` where another writer is at work: call again. Raises
        ``ValueError`` where the index was made with other settings, ``TypeError`` for a text that is no `Document` yet.
        """
        check_document(document)
        self.ledger.clear_up()
        namespace = self._open(writing=True)["namespace"]
        texts, payloads, records, manifest = self._records(document, namespace)
        while True:
            version, before = self.ledger.version, self.ledger.manifest(document.id)
            there = {id for some in batches(payloads) for id in self.vectors.get(some)}
            new_points = [id for id in payloads if id not in there]
            known = {key for some in batches(records) for key in get_many(self.parents, some)}
            new_parents = {key: text for key, text in records.items() if key not in known}
            gone = len(before.points - manifest.points) + len({*before.keys} - {*manifest.keys}) if before else 0
            change = Change(0, len(new_points) + len(new_parents), gone, len(there))
            if before == manifest and not change.stored:
                return change
            make = self._encoder(texts, payloads, sorted(before.points) if before and new_points else [])
            encoded = self.ledger.replace(
                document.id, version, manifest, parents=new_parents, points=new_points, make=make, progress=progress
            )
            if encoded is not None:
                return change._replace(encoded=encoded)

    def remove(self, document_id: str) -> None:
        """Take a document out of both stores; one that is not there is no error."""
        self.ledger.clear_up()
        while True:
            version = self.ledger.version
            if not self.ledger.manifest(document_id) or self.ledger.replace(document_id, version, None) is not None:
                return

    def repair(self) -> Report:
        """Clear up what a crash left, then compare both stores with all manifests.

        Records of this index that no manifest names are deleted; what other indexes keep in the same collection stays.
        A document that lacks some of its own is reported: `add` it again. Raises ``LookupError`` where vectors are
        stored and no document is recorded: then it is the mapping that was lost. Cost: a look at every key and every
        id, so not after each change; `add` and `remove` clear up by themselves.
        """
        settings = self._open(writing=False)
        if not settings:
            if next(self.vectors.ids(), None) is None:
                return Report(0, ())
            raise LookupError(
                "nothing is recorded in this mapping, so nothing tells which of the stored vectors are this index's. "
                "Open the right mapping; or add the documents again, with the old namespace if you know it"
            )
        return self.ledger.repair(settings["namespace"])

    def documents(self) -> list[str]:
        """Ids of the documents that are stored, sorted."""
        return self.ledger.documents()

    # --- Reading ---------------------------------------------------------------------------------------------------

    def search(
        self, query: str, *, k_children: int = 20, k_parents: int = 5, filter: Mapping[str, Any] | None = None
    ) -> list[ParentHit]:
        """The best parents, each once, in the order of their scores (without ``own_weight``: of their best child).

        The nearest ``k_children`` children are read; where they have fewer than ``k_parents`` parents, more, until
        there are as many or no child is left. ``filter``: what a child's record must say, such as
        ``{"document_id": ["a", "b"], "metadata.language": "en"}``. Raises ``ValueError`` for a name that no record
        has, ``LookupError`` naming the document where a parent is missing: better no answer than a silent half.
        """
        check_count("k_children", k_children, 1)
        check_count("k_parents", k_parents, 1)
        for name in filter or {}:
            if name.partition(".")[0] not in _RECORDED:
                raise ValueError(f"filter names {name!r}, which no record has; metadata is named 'metadata.{name}'")
        (vector,) = unit_vectors(self.embed, [query])
        return self._search(vector, k_children, k_parents, {**(filter or {})})

    def search_many(self, queries: Sequence[str], k: int = 5) -> list[list[Hit]]:
        """The ``k`` best parents for each query, as `chunklib.search.evaluation.evaluate` asks for them."""
        check_count("k", k, 1)
        vectors = unit_vectors(self.embed, queries)
        return [[Hit(*hit) for hit in self._search(vector, 4 * k, k, {})] for vector in vectors]

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """All parents, read from the store, in order of document and place."""
        names = self.documents()
        stored = self.ledger.manifests(names, self.ledger.version)
        found = self._parents([(key, name) for name, manifest in stored.items() for key in manifest.keys])
        return tuple(sorted(found, key=lambda chunk: (chunk.document_id, chunk.index)))

    @property
    def encoded(self) -> tuple[Chunk, ...]:
        """All that the encoder has read and a search compares: children, and with ``own_weight`` parents."""
        parents = {(chunk.document_id, chunk.id): chunk for chunk in self.chunks}
        stored = self.ledger.manifests(self.documents(), self.ledger.version)
        points = self.vectors.get([id for manifest in stored.values() for id in sorted(manifest.points)])
        payloads = [point.payload for point in points.values()]
        children = [_child(p, parents[p["document_id"], p["parent_id"]]) for p in payloads if p["level"] == "child"]
        return (*children, *(parents.values() if self.own_weight else ()))

    def _search(self, vector: Vector, k_children: int, k_parents: int, filter: dict[str, Any]) -> list[ParentHit]:
        """Ask until no change came in between: what was found is then one version's."""
        while True:
            version = self.ledger.version
            if (version is None or self._checked is None) and not self._open(writing=False):
                return []
            try:
                hits = self._one_search(vector, k_children, k_parents, filter, version)
            except LookupError:
                if self.ledger.version == version:
                    raise
            else:
                if self.ledger.version == version:
                    return hits

    def _one_search(
        self, vector: Vector, k_children: int, k_parents: int, filter: dict[str, Any], version: str | None
    ) -> list[ParentHit]:
        if self.own_weight:
            filter = {**filter, "level": "child"}
        limit = k_children + 1
        while True:
            found = self.vectors.search(vector, limit, filter)
            live = self.ledger.manifests(sorted({payload["document_id"] for payload, _, _ in found}), version)
            current = [
                (payload, score)
                for payload, id, score in found
                if payload["document_id"] in live and id in live[payload["document_id"]].points
            ]
            current.sort(key=lambda hit: (-hit[1], hit[0]["document_id"], hit[0]["index"]))  # the same from every store
            groups: dict[tuple[str, str], list[tuple[dict[str, Any], float]]] = {}
            last = float("-inf")
            for rank, (payload, score) in enumerate(current):
                if rank >= k_children and len(groups) >= k_parents:
                    break
                groups.setdefault((payload["document_id"], payload["parent_id"]), []).append((payload, score))
                last = score
            else:
                last = float("-inf")  # all were read
            # Equals of the last one may lie beyond the limit; which of them come is not for the store to choose.
            if len(found) < limit or found[-1][2] < last:
                break
            limit *= 2  # many children of one parent, many equal ones, or records that do not count (here)
        ranked = [(name, *live[name].parents[id], children) for (name, id), children in groups.items()]
        scores = {key: children[0][1] for _, key, _, _, children in ranked}
        if self.own_weight:
            owns = self.vectors.get([own for _, _, _, own, _ in ranked if own])
            for name, key, _, own, _ in ranked:
                if own not in owns:
                    raise LookupError(_MISSING.format(name))
                near = float(owns[own].vector @ vector)
                scores[key] = round((1 - self.own_weight) * scores[key] + self.own_weight * near, 5)
        ranked.sort(key=lambda one: -scores[one[1]])  # stable: ties keep the order of the children
        ranked = ranked[:k_parents]
        parents = self._parents([(key, name) for name, key, *_ in ranked])
        return [
            ParentHit(parent, scores[key], tuple(Hit(_child(p, parent), near) for p, near in children), of)
            for parent, (_, key, of, _, children) in zip(parents, ranked, strict=True)
        ]

    # --- Records ---------------------------------------------------------------------------------------------------

    def with_embed(self, embed: Encoder) -> ParentChildIndex:
        """The same index, with another way to the same vectors, such as a function that looks them up.

        The settings are compared before, once, by this index's own encoder. Errors as for `add`.
        """
        self._open(writing=True)
        other = copy(self)
        other.embed = embed
        return other

    def _open(self, *, writing: bool) -> dict[str, Any]:
        """The settings that the index was made with, compared with those of this object; {} before the first document.

        Compared once, and recorded where ``writing``. A recorded index of other settings is refused.
        """
        settings = self.ledger.settings
        if settings == self._checked and settings is not None:
            return settings
        if settings is None and not writing:
            return {}
        (vector,) = unit_vectors(self.embed, [_PROBE])
        mine = {
            "namespace": self.namespace or str(uuid4()),
            "fields": sorted(Chunk.__dataclass_fields__),
            "own_vectors": self.own_weight > 0,
            "probe": [round(float(x), 4) for x in vector],
        }
        settings = settings or self.ledger.record(mine)
        for name, mend in (
            ("fields", "it was stored by another version of chunklib"),
            ("own_vectors", "own_weight must be 0 for an index made with 0, and above 0 for any other"),
            ("namespace", "namespace must be the recorded one, or left out"),
        ):
            if settings[name] != mine[name] and (name != "namespace" or self.namespace):
                raise ValueError(f"the index was made with {name}={settings[name]!r}: {mend}; else make a new index")
        if len(settings["probe"]) != len(vector) or np.dot(settings["probe"], vector) < 0.99:
            raise ValueError(
                f"the index was made with another encoder, of {len(settings['probe'])} dimensions; this one has "
                f"{len(vector)}. Pass the same embed, or make a new index"
            )
        self._checked = settings
        return settings

    def _records(
        self, document: Document, namespace: str
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]], dict[str, str], Manifest]:
        """All that a document is to leave in the stores: by id of the point its text and payload; parents; manifest."""
        texts: dict[str, str] = {}
        payloads: dict[str, dict[str, Any]] = {}
        records: dict[str, str] = {}
        parents: dict[str, tuple[str, int, str | None]] = {}
        ours = {"document_id": document.id, "namespace": namespace}

        def point(chunk: Chunk, payload: dict[str, Any]) -> str:
            read = hashlib.sha256(chunk.embedding_text.encode("utf-8", "replace")).hexdigest()
            payload = {**payload, **ours, "parent_id": parent.id, "read": read}
            name = _name(payload)
            texts[name], payloads[name] = chunk.embedding_text, payload
            return name

        for family in families(document, self.parent_splitter, self.child_splitter, chunk_id=self.chunk_id):
            parent, *children = (
                self.enrich(chunk, document) if self.enrich else chunk for chunk in (family.parent, *family.children)
            )
            record = _json(parent)
            if parent.id in parents:
                raise ValueError(f"two parents of document {document.id!r} have the id {parent.id!r}; see chunk_id")
            key = PARENT + _name(record)
            records[key] = record
            for child in children:
                known = json.loads(_json(child))
                del known["text"]  # it stands in the parent; two copies could differ
                point(child, {"level": "child", **known})
            own = point(parent, {"level": "parent"}) if self.own_weight else None
            parents[parent.id] = (key, len(children), own)
        return texts, payloads, records, Manifest(parents, frozenset(payloads))

    def _encoder(
        self, texts: Mapping[str, str], payloads: Mapping[str, dict[str, Any]], old: Sequence[str]
    ) -> Callable[[Sequence[str]], tuple[list[Point], int]]:
        """Makes points of their ids; also says how many texts had to be encoded. ``old`` points lend their vectors."""
        kept = {p.payload["read"]: p.vector for p in self.vectors.get(old).values()}

        def make(ids: Sequence[str]) -> tuple[list[Point], int]:
            fresh = {payloads[id]["read"]: texts[id] for id in ids if payloads[id]["read"] not in kept}
            if fresh:
                kept.update(zip(fresh, unit_vectors(self.embed, list(fresh.values())), strict=True))
            return [Point(id, np.asarray(kept[payloads[id]["read"]]), payloads[id]) for id in ids], len(fresh)

        return make

    def _parents(self, wanted: Sequence[tuple[str, str]]) -> list[Chunk]:
        """The parents with these keys, of these documents."""
        records = get_many(self.parents, [key for key, _ in wanted])
        for key, name in wanted:
            if key not in records:
                raise LookupError(_MISSING.format(name))
        return [chunk_from(json.loads(records[key])) for key, _ in wanted]


def merge(hits: Iterable[ParentHit], *, share: float = 0.5) -> list[Hit]:
    """Read the parent where more than ``share`` of its children were found, else those children alone.

    Between search and prompt: a topic that fills a section is read whole, a lonely sentence stays short. A parent with
    one child is the child. The order is that of the hits; a parent's children follow each other, best first.
    """
    found: list[Hit] = []
    for hit in hits:
        found += [Hit(*hit)] if len(hit.children) > share * hit.of else hit.children
    return found


def _child(payload: dict[str, Any], parent: Chunk) -> Chunk:
    text = parent.text[payload["start"] - parent.start : payload["end"] - parent.start]
    return chunk_from({"text": text, **payload})


def _json(chunk: Chunk) -> str:
    try:
        return json.dumps(asdict(chunk), sort_keys=True)
    except TypeError as error:
        raise TypeError(
            f"document {chunk.document_id!r} cannot be stored ({error}): use plain JSON values in its metadata, dates "
            "as text"
        ) from error


def _name(record: Any) -> str:
    """A record's id: the same for the same content, on every machine."""
    return str(uuid5(NAMESPACE, json.dumps(record, sort_keys=True)))
