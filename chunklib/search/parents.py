# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, an encoder; qdrant-client, or another vector store.
"""Parents and children in stores: `chunklib.parent_child` for more than fits in memory, and for documents that change.

Vectors of the children lie in one store, parents in another, and both change as one: see `chunklib.search.ledger` for
the order of writes. A search answers from one version of each document, whatever is killed or changed meanwhile.

But: one writer at a time, the next is refused; searches may run beside it. After an error that comes late in an `add`,
searches answer from the new version already; calling again finishes it either way.

Cost: children are encoded, parents only with ``own_weight``. `add` of a changed document encodes what has a new
`embedding_text`, and reads the document's old vectors to keep them. A search reads ``k_parents`` parents, and after
each change the manifests of the documents it meets.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self
from uuid import uuid4, uuid5

import numpy as np

from chunklib.core.document import NAMESPACE, UNNAMED, Chunk, ChunkId, Document, Hit, check_document, chunk_from
from chunklib.core.span import Splitter, check_count
from chunklib.core.vectors import Encoder, unit_vectors
from chunklib.parent_child import CHILDREN, PARENTS, ParentHit, best_groups, families
from chunklib.search.embedding import embed
from chunklib.search.ledger import PARENT, Ledger, Manifest, Report, Stored
from chunklib.search.ledger import Change as Change
from chunklib.search.mappings import get_many
from chunklib.search.stores import Point, QdrantVectors, Vector, VectorStore, batches

Enrich = Callable[[Chunk, Document], Chunk]
_MISSING = "a parent of document {!r} is missing from the store; add the document again"
_RECORDED = frozenset({*Chunk.__dataclass_fields__, "level", "parent_id"}) - {"text"}  # of a child, to filter by
_PROBE = "Is this the encoder that made these vectors?"


class _Found(NamedTuple):
    """A child that a vector store found."""

    payload: dict[str, Any]
    id: str
    score: float

    @property
    def document(self) -> str:
        return str(self.payload["document_id"])

    def inside(self, parent: Chunk) -> Hit:
        return Hit(_child(self.payload, parent), self.score)


class _Plan(NamedTuple):
    """What a document is to leave in the stores: payloads of points, texts to encode, parents' records, manifest."""

    payloads: dict[str, dict[str, Any]]
    texts: dict[str, str]
    records: dict[str, str]
    manifest: Manifest


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
    >>> index.add(Document("abcd", id="letters"))
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
        for name, store, such in (
            ("vectors", vectors, "vector store, such as QdrantVectors"),
            ("parents", parents, "mapping, such as SQLiteMapping"),
        ):
            if isinstance(store, str | Path):
                raise TypeError(f"{name}={str(store)!r} must be a {such}({str(store)!r})")
        self.vectors = QdrantVectors() if vectors is None else vectors
        self.parents = {} if parents is None else parents
        self.ledger = Ledger(self.vectors, self.parents)
        self.parent_splitter, self.child_splitter = parent_splitter, child_splitter
        self.embed, self.enrich, self.own_weight, self.chunk_id = embed, enrich, own_weight, chunk_id
        self.namespace = namespace
        self._checked: dict[str, Any] | None = None  # settings that were found to fit

    def close(self) -> None:
        """Close both stores, where they can be closed; they are opened again when they are next needed."""
        for store in (self.vectors, self.parents):
            if hasattr(store, "close"):
                store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- Writing ---------------------------------------------------------------------------------------------------

    def add(
        self,
        document: Document,
        *,
        vectors: Mapping[str, Vector] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Change:
        """Store a document, or its new version under the same id. The same again changes nothing.

        Parameters
        ----------
        vectors: those of texts (`Chunk.embedding_text`) that were encoded elsewhere, as long as 1. What is not among
            them, the index's own encoder reads.
        progress: is called with how many children are stored, and of how many.

        Raises ``ConnectionError`` where a store cannot be reached, `chunklib.search.ledger.Busy` where another writer
        is at work: call again. ``ValueError`` where the index was made with other settings, and for a document without
        an id of its own, since the next such document would replace it; ``TypeError`` for a text that is no `Document`.
        """
        check_document(document)
        if document.id == UNNAMED:
            raise ValueError(
                f"id={document.id!r} is that of every document without a name; give it one: Document(id=…)"
            )
        self.ledger.clear_up()  # tells at once where another writer is at work
        plan = self._plan(document, self._open(writing=True)["namespace"])
        return self.ledger.replace(
            document.id,
            plan.manifest,
            parents=plan.records,
            points=list(plan.payloads),
            make=partial(self._points, plan, vectors or {}),
            progress=progress,
        )

    def remove(self, document_id: str) -> None:
        """Take a document out of both stores; one that is not there is no error."""
        self.ledger.replace(document_id, None)

    def repair(self) -> Report:
        """Clear up what a crash left, then compare both stores with all manifests.

        Records of this index that no manifest names are deleted; what other indexes keep in the same collection stays.
        A document that lacks some of its own is reported: `add` it again. Raises ``LookupError`` where vectors are
        stored and no document is recorded: then it is the mapping that was lost. Cost: a look at every key and every
        id, so not after each change; `add` and `remove` clear up by themselves.
        """
        settings = self._open(writing=False)
        return self.ledger.repair(settings["namespace"]) if settings else Report(0, ())

    def documents(self) -> list[str]:
        """Ids of the documents that are stored, sorted. Raises ``LookupError`` where the mapping was lost."""
        return self.ledger.documents() if self._open(writing=False) else []

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
        found = self._parents(
            [(key, name) for name, manifest in stored.items() for key, _, _ in manifest.parents.values()]
        )
        return tuple(sorted(found, key=lambda chunk: (chunk.document_id, chunk.index)))

    @property
    def encoded(self) -> tuple[Chunk, ...]:
        """All that the encoder has read and a search compares: children, and with ``own_weight`` parents."""
        parents = {(chunk.document_id, chunk.id): chunk for chunk in self.chunks}
        stored = self.ledger.manifests(self.documents(), self.ledger.version)
        points = self.vectors.get([id for manifest in stored.values() for id in sorted(manifest.points)])
        payloads = [point.payload for point in points.values()]
        children = [
            _child(payload, parents[payload["document_id"], payload["parent_id"]])
            for payload in payloads
            if payload["level"] == "child"
        ]
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
        groups, live = self._groups(vector, k_children, k_parents, filter, version)
        stored = {(name, id): live[name].parents[id] for name, id in groups}
        scores = {key: children[0].score for key, children in groups.items()}
        if self.own_weight:
            owns = self.vectors.get([parent.own for parent in stored.values() if parent.own])
            for key, parent in stored.items():
                if parent.own not in owns:
                    raise LookupError(_MISSING.format(key[0]))
                near = float(owns[parent.own].vector @ vector)
                scores[key] = round((1 - self.own_weight) * scores[key] + self.own_weight * near, 5)
        best = sorted(groups, key=lambda key: -scores[key])[:k_parents]  # stable: ties keep the order of the children
        parents = self._parents([(stored[key].key, key[0]) for key in best])
        return [
            ParentHit(parent, scores[key], tuple(child.inside(parent) for child in groups[key]), stored[key].of)
            for key, parent in zip(best, parents, strict=True)
        ]

    def _groups(
        self, vector: Vector, k_children: int, k_parents: int, filter: dict[str, Any], version: str | None
    ) -> tuple[dict[tuple[str, str], list[_Found]], dict[str, Manifest]]:
        """The nearest children that count, by document and parent; and the manifests of their documents.

        The store is asked for ever more of them, until there are enough: many may be of one parent, or equal, or not
        count (here).
        """
        if self.own_weight:
            filter = {**filter, "level": "child"}
        limit = k_children + 1
        while True:
            found = [_Found(*hit) for hit in self.vectors.search(vector, limit, filter)]
            live = self.ledger.manifests(sorted({child.document for child in found}), version)
            current = [child for child in found if child.document in live and child.id in live[child.document].points]
            current.sort(key=lambda child: (-child.score, child.document, child.payload["index"]))  # as in every store
            named = (((child.document, child.payload["parent_id"]), child) for child in current)
            groups = best_groups(named, k_children, k_parents)
            read = sum(map(len, groups.values()))
            # Equals of the last one that was read may lie beyond the limit: which of them come is not for the store.
            last = current[read - 1].score if read < len(current) else float("-inf")
            if len(found) < limit or found[-1].score < last:
                return groups, live
            limit *= 2

    # --- Records ---------------------------------------------------------------------------------------------------

    def _open(self, *, writing: bool) -> dict[str, Any]:
        """The settings that the index was made with, compared with those of this object; {} before the first document.

        Compared once, and recorded where ``writing``. A recorded index of other settings is refused.
        """
        settings = self.ledger.settings
        if settings == self._checked and settings is not None:
            return settings
        if settings is None and not writing:
            self._refuse_a_lost_mapping()
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
        same_size = len(settings["probe"]) == len(vector)
        if not same_size or np.dot(settings["probe"], vector) < 0.99:
            sizes = f"it gives {len(settings['probe'])} dimensions, this one {len(vector)}"
            told = "it gives the same text another vector" if same_size else sizes
            raise ValueError(
                f"the index was made with another encoder: {told}. Pass the same embed, or make a new index"
            )
        self._checked = settings
        return settings

    def _refuse_a_lost_mapping(self) -> None:
        some = list(islice(self.vectors.ids({"namespace": self.namespace} if self.namespace else None), 100))
        if some:
            names = sorted({str(point.payload.get("namespace")) for point in self.vectors.get(some).values()})
            raise LookupError(
                "nothing is recorded in this mapping, so nothing tells which of the stored vectors are this index's. "
                f"Open the right mapping; or add the documents again with their namespace (found: {', '.join(names)})"
            )

    def _plan(self, document: Document, namespace: str) -> _Plan:
        """What a document is to leave in the stores. Nothing is read or written for it."""
        payloads: dict[str, dict[str, Any]] = {}
        texts: dict[str, str] = {}  # by what they are known again
        records: dict[str, str] = {}
        parents: dict[str, Stored] = {}

        def point(chunk: Chunk, parent: Chunk, known: dict[str, Any]) -> str:
            ours = {"document_id": document.id, "namespace": namespace, "parent_id": parent.id}
            payload = {**known, **ours, "read": _read(chunk.embedding_text)}
            texts[payload["read"]], name = chunk.embedding_text, _name(payload)
            payloads[name] = payload
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
                point(child, parent, {"level": "child", **known})
            own = point(parent, parent, {"level": "parent"}) if self.own_weight else None
            parents[parent.id] = Stored(key, len(children), own)
        return _Plan(payloads, texts, records, Manifest(parents, frozenset(payloads)))

    def _points(
        self, plan: _Plan, vectors: Mapping[str, Vector], ids: Sequence[str], old: Iterable[Point]
    ) -> Iterator[tuple[list[Point], int]]:
        """The points with these ids, in batches with how many texts were encoded. ``old`` ones lend their vectors."""
        kept = {_read(text): vector for text, vector in vectors.items()}
        kept |= {point.payload["read"]: point.vector for point in old}
        for some in batches(ids):
            wanted = dict.fromkeys(plan.payloads[id]["read"] for id in some)
            fresh = {read: plan.texts[read] for read in wanted if read not in kept}
            kept.update(zip(fresh, unit_vectors(self.embed, list(fresh.values())), strict=True))
            yield [Point(id, np.asarray(kept[plan.payloads[id]["read"]]), plan.payloads[id]) for id in some], len(fresh)

    def _parents(self, wanted: Sequence[tuple[str, str]]) -> list[Chunk]:
        """The parents with these keys, of these documents."""
        records = get_many(self.parents, [key for key, _ in wanted])
        for key, name in wanted:
            if key not in records:
                raise LookupError(_MISSING.format(name))
        return [chunk_from(json.loads(records[key])) for key, _ in wanted]


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


def _read(text: str) -> str:
    """By what a text that was encoded is known again."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _name(record: Any) -> str:
    """A record's id: the same for the same content, on every machine."""
    return str(uuid5(NAMESPACE, json.dumps(record, sort_keys=True)))
