# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk (chunklib/parent_child.py). Needs: numpy, an encoder; qdrant-client, or another vector store.
"""Parent-child: small chunks are searched, the larger ones around them are read.

When to use it: where the sentence that is near to the question cannot be understood alone, and its paragraph can.

Two stores hold an index: vectors of the children in one, parents in the other. They cannot change at once, so nothing
that a search may read is ever changed in place. A record is named after all that it holds, and one *manifest* for each
document lists the records that count. A change writes new parents, then new children, then the manifest: that one write
is the moment of change. Then old children go, then old parents. A note of what is under way is written first and
taken away last, so whoever comes next after a crash knows what to clear up.

But: parents cost room in the prompt; where short answers explain themselves, they only cost. One process may write at a
time; a search in another process that meets the very moment of a change may miss that document's children once.

Cost: children are encoded, parents only with ``own_weight``. `add` of a changed document encodes what has a new
`embedding_text`, and reads the document's old vectors to keep them.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid5

import numpy as np

from chunklib.embedding import embed
from chunklib.recursive import split_recursive
from chunklib.retrieval import Embed, Hit
from chunklib.span import NAMESPACE, Chunk, ChunkId, Document, Span, Splitter, checked, chunk_document, content_id
from chunklib.stores import Point, QdrantVectors, Vector, VectorStore, batches

Enrich = Callable[[Chunk, Document], Chunk]
PARENTS: Splitter = partial(split_recursive, chunk_size=400)
CHILDREN: Splitter = partial(split_recursive, chunk_size=100)
_MISSING = "a parent of document {!r} is missing from the store; add the document again"
_NOTHING: dict[str, Any] = {"parents": {}, "points": []}
_MANIFEST, _PARENT, _NOTE = "manifest:", "parent:", "note"


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


class Report(NamedTuple):
    """What `repair` found: how many records belonged to no document, and which documents lack some of theirs."""

    deleted: int
    incomplete: tuple[str, ...]


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
    vectors: a `chunklib.stores.VectorStore`; Qdrant in memory by default.
    parents: any mapping from str to str for parents and manifests; a dict by default. Its keys start with ``parent:``
        and ``manifest:``, one is ``note``; two indexes in one mapping want a prefix each.
    embed: texts to unit rows, shape (n, d). Another encoder wants another collection: vectors at hand are kept.
    enrich: ``(chunk, document) -> chunk``, such as `add_context`; what it puts into ``context`` is encoded, not quoted.
    own_weight: from 0 to 1, how much of a parent's score comes from its own vector; the rest is its best child's. Above
        0 the parents are encoded and stored as well.

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
        embed: Embed = embed,
        enrich: Enrich | None = None,
        own_weight: float = 0.0,
        chunk_id: ChunkId | None = None,
    ) -> None:
        if not 0 <= own_weight <= 1:
            raise ValueError(f"own_weight={own_weight} must lie between 0 and 1")
        self.vectors = QdrantVectors() if vectors is None else vectors
        self.parents = {} if parents is None else parents
        self.parent_splitter, self.child_splitter = parent_splitter, child_splitter
        self.embed, self.enrich, self.own_weight, self.chunk_id = embed, enrich, own_weight, chunk_id

    # --- Writing ---------------------------------------------------------------------------------------------------

    def add(self, document: Document, *, progress: Callable[[int, int], None] | None = None) -> Change:
        """Store a document, or its new version under the same id. The same again changes nothing.

        ``progress`` is called with how many children are stored, and of how many. Raises ``ConnectionError`` where a
        store cannot be reached; then searches still answer from the version before, and the call may be repeated.
        """
        self._clear_up()
        texts, payloads, records, manifest = self._records(document)
        before = self._manifest(document.id)
        new_parents = {key: text for key, text in records.items() if key not in self.parents}
        there = self.vectors.get(list(payloads))
        new_points = [id for id in payloads if id not in there]
        old = self._named(before or _NOTHING)
        keep = self._named(manifest)
        gone = [id for id in old[0] if id not in set(keep[0])], [key for key in old[1] if key not in set(keep[1])]
        change = Change(0, len(new_points) + len(new_parents), len(gone[0]) + len(gone[1]), len(there))
        if not any((change.stored, change.deleted)) and before == manifest:
            return change
        self._note(document.id, [*new_points, *gone[0]], [*new_parents, *gone[1]])
        for some in batches(new_parents.items()):
            self.parents.update(dict(some))
        encoded = self._store(new_points, texts, payloads, old[0], progress)
        self.parents[_MANIFEST + document.id] = json.dumps(manifest)
        self._delete(*gone)
        del self.parents[_NOTE]
        return change._replace(encoded=encoded)

    def remove(self, document_id: str) -> None:
        """Take a document out of both stores; one that is not there is no error."""
        self._clear_up()
        manifest = self._manifest(document_id)
        if manifest is None:
            return
        points, keys = self._named(manifest)
        self._note(document_id, points, keys)
        del self.parents[_MANIFEST + document_id]
        self._delete(points, keys)
        del self.parents[_NOTE]

    def repair(self) -> Report:
        """Clear up what a crash left, then compare both stores with all manifests.

        Records that no manifest names are deleted. A document that lacks some of its own is reported: `add` it again.
        Cost: a look at every key and every id, so not after each change; `add` and `remove` clear up by themselves.
        """
        points, keys = set(self.vectors.ids()), {key for key in self.parents if key.startswith(_PARENT)}
        self._clear_up()
        known: dict[str, tuple[list[str], list[str]]] = {}
        for name in self.documents():
            known[name] = self._named(self._manifest(name) or _NOTHING)
        incomplete = [name for name, (a, b) in known.items() if not (points.issuperset(a) and keys.issuperset(b))]
        gone = (
            sorted(points - {id for ids, _ in known.values() for id in ids}),
            sorted(keys - {key for _, some in known.values() for key in some}),
        )
        self._delete(*gone)
        return Report(len(gone[0]) + len(gone[1]), tuple(sorted(incomplete)))

    def documents(self) -> list[str]:
        """Ids of the documents that are stored, sorted."""
        return sorted(key.removeprefix(_MANIFEST) for key in self.parents if key.startswith(_MANIFEST))

    # --- Reading ---------------------------------------------------------------------------------------------------

    def search(
        self, query: str, *, k_children: int = 20, k_parents: int = 5, filter: Mapping[str, Any] | None = None
    ) -> list[ParentHit]:
        """The best parents, each once, in the order of their scores (without ``own_weight``: of their best child).

        The nearest ``k_children`` children are read; where they have fewer than ``k_parents`` parents, more, until
        there are as many or no child is left. ``filter``: what a child's record must say, such as
        ``{"document_id": ["a", "b"], "metadata.language": "en"}``. Raises ``LookupError`` naming the document where a
        parent is missing: better no answer than a silent half.
        """
        for name, k in (("k_children", k_children), ("k_parents", k_parents)):
            if k < 1:
                raise ValueError(f"{name}={k} must be 1 or more")
        (vector,) = self.embed([query])
        return self._search(vector, k_children, k_parents, {**(filter or {})})

    def search_many(self, queries: Sequence[str], k: int = 5) -> list[list[Hit]]:
        """The ``k`` best parents for each query, as `chunklib.evaluation.evaluate` asks for them."""
        vectors = self.embed(queries)
        return [[Hit(*hit) for hit in self._search(vector, 4 * k, k, {})] for vector in vectors]

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """All parents, read from the store, in order of document and place."""
        found = []
        for name in self.documents():
            manifest = self._manifest(name) or _NOTHING
            found += [self._parent(key, name) for key, *_ in manifest["parents"].values()]
        return tuple(sorted(found, key=lambda chunk: (chunk.document_id, chunk.index)))

    def _search(self, vector: Vector, k_children: int, k_parents: int, filter: dict[str, Any]) -> list[ParentHit]:
        if self.own_weight:
            filter["level"] = "child"
        limit = k_children + 1
        while True:
            found = self.vectors.search(vector, limit, filter)
            manifests = {payload["document_id"]: None for payload, _, _ in found}
            live = {name: self._manifest(name) for name in manifests}
            points = {name: set(manifest["points"]) for name, manifest in live.items() if manifest}
            current = [(payload, score) for payload, id, score in found if id in points.get(payload["document_id"], ())]
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
            limit *= 2  # many children of one parent, many equal ones, or records that do not count yet or any more
        places = {key: (live[key[0]] or _NOTHING)["parents"][key[1]] for key in groups}
        owns = self.vectors.get([own for _, _, own in places.values()]) if self.own_weight else {}
        hits = []
        for (name, parent_id), children in groups.items():
            key, of, own = places[name, parent_id]
            parent = self._parent(key, name)
            score = children[0][1]
            if self.own_weight:
                if own not in owns:
                    raise LookupError(_MISSING.format(name))
                score = (1 - self.own_weight) * score + self.own_weight * float(owns[own].vector @ vector)
                score = round(score, 5)
            read = tuple(Hit(_child(payload, parent), near) for payload, near in children)
            hits.append(ParentHit(parent, score, read, of))
        hits.sort(key=lambda hit: -hit.score)  # stable: ties keep the order of the children
        return hits[:k_parents]

    # --- Records ---------------------------------------------------------------------------------------------------

    def _records(self, document: Document) -> tuple[dict[str, str], dict[str, dict[str, Any]], dict[str, str], Any]:
        """All that a document is to leave in the stores: by id of the point its text and payload; parents; manifest."""
        texts: dict[str, str] = {}
        payloads: dict[str, dict[str, Any]] = {}
        records: dict[str, str] = {}
        parents: dict[str, tuple[str, int, str | None]] = {}

        def point(chunk: Chunk, payload: dict[str, Any]) -> str:
            read = hashlib.sha256(chunk.embedding_text.encode("utf-8", "replace")).hexdigest()
            payload = {**payload, "document_id": document.id, "parent_id": parent.id, "read": read}
            name = _name(payload)
            texts[name], payloads[name] = chunk.embedding_text, payload
            return name

        for family in families(document, self.parent_splitter, self.child_splitter, chunk_id=self.chunk_id):
            parent, *children = (
                self.enrich(chunk, document) if self.enrich else chunk for chunk in (family.parent, *family.children)
            )
            record = json.dumps(asdict(parent), sort_keys=True)
            if parent.id in parents:
                raise ValueError(f"two parents of document {document.id!r} have the id {parent.id!r}; see chunk_id")
            key = _PARENT + _name(record)
            records[key] = record
            for child in children:
                known = json.loads(json.dumps(asdict(child)))
                del known["text"]  # it stands in the parent; two copies could differ
                point(child, {"level": "child", **known})
            own = point(parent, {"level": "parent"}) if self.own_weight else None
            parents[parent.id] = (key, len(children), own)
        manifest = {"parents": {id: list(place) for id, place in parents.items()}, "points": list(payloads)}
        return texts, payloads, records, manifest

    def _store(
        self,
        new: Sequence[str],
        texts: Mapping[str, str],
        payloads: Mapping[str, dict[str, Any]],
        old: Sequence[str],
        progress: Callable[[int, int], None] | None,
    ) -> int:
        """Write the new points; return how many texts had to be encoded."""
        kept = {p.payload["read"]: p.vector for p in self.vectors.get(old).values()} if new else {}
        encoded = done = 0
        for some in batches(new):
            fresh = {payloads[id]["read"]: texts[id] for id in some if payloads[id]["read"] not in kept}
            if fresh:
                kept.update(zip(fresh, self.embed(list(fresh.values())), strict=True))
                encoded += len(fresh)
            self.vectors.upsert([Point(id, np.asarray(kept[payloads[id]["read"]]), payloads[id]) for id in some])
            done += len(some)
            if progress:
                progress(done, len(new))
        return encoded

    def _note(self, document_id: str, points: Sequence[str], keys: Sequence[str]) -> None:
        self.parents[_NOTE] = json.dumps({"document_id": document_id, "points": points, "parents": keys})

    def _clear_up(self) -> None:
        """Finish, or take back, what was under way when a process died."""
        note = self.parents.get(_NOTE)
        if note is None:
            return
        under_way = json.loads(note)
        points, keys = self._named(self._manifest(under_way["document_id"]) or _NOTHING)
        self._delete(
            [id for id in under_way["points"] if id not in set(points)],
            [key for key in under_way["parents"] if key not in set(keys)],
        )
        del self.parents[_NOTE]

    def _delete(self, points: Sequence[str], keys: Iterable[str]) -> None:
        if points:
            self.vectors.delete(points)
        for key in keys:
            self.parents.pop(key, None)

    def _manifest(self, document_id: str) -> dict[str, Any] | None:
        text = self.parents.get(_MANIFEST + document_id)
        return None if text is None else json.loads(text)

    @staticmethod
    def _named(manifest: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """Ids of the points and keys of the parents that a manifest names."""
        return manifest["points"], [key for key, *_ in manifest["parents"].values()]

    def _parent(self, key: str, document_id: str) -> Chunk:
        record = self.parents.get(key)
        if record is None:
            raise LookupError(_MISSING.format(document_id))
        return _chunk(json.loads(record))


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
    return _chunk({"text": text, **payload})


def _chunk(known: dict[str, Any]) -> Chunk:
    fields = {name: known[name] for name in Chunk.__dataclass_fields__}
    return Chunk(**{**fields, "section_path": tuple(fields["section_path"])})


def _name(record: Any) -> str:
    """A record's id: the same for the same content, on every machine."""
    return str(uuid5(NAMESPACE, json.dumps(record, sort_keys=True)))
