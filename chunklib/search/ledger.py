# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: what the stores need.
"""Two stores that change as one: which records of a document count, and what a crash left behind.

Two stores cannot change at once, so nothing that a search may read is ever changed in place. A record is named after
all that it holds, and one *manifest* for each document lists the records that count. A change writes new texts, then
new points, then the manifest: that one write is the moment of change. Then old points go, then old texts.

Around a change, two more keys of the mapping: ``note`` says what is under way, so that whoever comes next after a crash
knows what to clear up. ``version`` is another at each change: a reader who finds the same before and after has read one
version; it also says how long the manifests read before may be kept.

When to use it: below `chunklib.search.parents`, or any index whose records lie in two stores.

But: one writer at a time, as far as the mapping's `chunklib.search.mappings.turn` reaches. On a mapping other than a
dict, SQLite or Redis, a search in another thread or process may meet the moment of change and see one document's new
texts without its new points.

Cost: a change four small writes beside its records; a search two small reads, and each manifest once a version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import uuid4

from chunklib.search.mappings import Busy as Busy
from chunklib.search.mappings import StillMine, delete_many, get_many, turn
from chunklib.search.stores import Point, VectorStore, batches

PARENT = "parent:"
_MANIFEST, _NOTE, _VERSION, _SETTINGS = "manifest:", "note", "version", "settings"
_KNOWN = 1000  # manifests kept in memory
Make = Callable[[Sequence[str], Iterable[Point]], Iterable[tuple[list[Point], int]]]


class Stored(NamedTuple):
    """Of a parent: the key of its record, how many children it has, the id of its own point or None."""

    key: str
    of: int
    own: str | None


class Manifest(NamedTuple):
    """What counts of a document: its parents by their ids, and the ids of its points."""

    parents: dict[str, Stored]
    points: frozenset[str]

    @property
    def records(self) -> frozenset[str]:
        """Names of its records in both stores: ids of points, and keys of parents, which begin with `PARENT`."""
        return self.points.union(parent.key for parent in self.parents.values())


class Change(NamedTuple):
    """What a change did: texts that the encoder read, records that were stored, records that went, points kept."""

    encoded: int
    stored: int
    deleted: int
    kept: int


class Report(NamedTuple):
    """What `repair` found: how many records belonged to no document, and which documents lack some of theirs."""

    deleted: int
    incomplete: tuple[str, ...]


class Ledger:
    """The books of an index: ``vectors`` and ``texts`` are its two stores."""

    def __init__(self, vectors: VectorStore, texts: MutableMapping[str, str]) -> None:
        self.vectors, self.texts = vectors, texts
        self._known: tuple[str | None, dict[str, Manifest | None]] = (None, {})

    # --- Reading ---------------------------------------------------------------------------------------------------

    @property
    def version(self) -> str | None:
        """Another one after each change."""
        return self.texts.get(_VERSION)

    @property
    def settings(self) -> dict[str, Any] | None:
        """What was recorded with the first document."""
        text = self.texts.get(_SETTINGS)
        return None if text is None else json.loads(text)

    def documents(self) -> list[str]:
        """Ids of the documents that are stored, sorted."""
        return sorted(key.removeprefix(_MANIFEST) for key in self.texts if key.startswith(_MANIFEST))

    def manifests(self, names: Sequence[str], version: str | None) -> dict[str, Manifest]:
        """Those of the documents that are stored. ``version`` is the one that was read before."""
        if self._known[0] != version or len(self._known[1]) > _KNOWN:
            self._known = (version, {})
        known = self._known[1]
        new = [name for name in names if name not in known]
        found = get_many(self.texts, [_MANIFEST + name for name in new])
        known.update({name: _manifest(found.get(_MANIFEST + name)) for name in new})
        return {name: manifest for name in names if (manifest := known[name]) is not None}

    def manifest(self, name: str) -> Manifest | None:
        """The manifest as it is now."""
        return _manifest(self.texts.get(_MANIFEST + name))

    # --- Writing ---------------------------------------------------------------------------------------------------

    def clear_up(self) -> None:
        """Finish, or take back, what was under way when a process died. Raises `Busy` where a writer is at work."""
        with self._turn():
            pass

    def record(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that count: these, or those that somebody else has recorded in the meantime."""
        with self._turn():
            if _SETTINGS not in self.texts:
                self.texts[_SETTINGS] = json.dumps(settings)
        return self.settings or dict(settings)

    def replace(
        self,
        name: str,
        manifest: Manifest | None,
        *,
        parents: Mapping[str, str] | None = None,
        points: Sequence[str] = (),
        make: Make = lambda ids, old: (),
        progress: Callable[[int, int], None] | None = None,
    ) -> Change:
        """Bring a document into the state of the manifest; ``None`` takes it out.

        ``parents`` and ``points`` are all records that it names; what is there stays. ``make`` is given the ids of
        those points that are not there, and the points of the old version; it gives the new ones in batches, and with
        each how many texts it had to encode. Raises `Busy` where another writer is at work.
        """
        with self._turn() as (still_mine, _):
            before = self.manifest(name)
            gone = (before or _NOTHING).records - (manifest or _NOTHING).records
            there = {id for some in batches(points) for id in self.vectors.get(some)}
            known = {key for some in batches(parents or {}) for key in get_many(self.texts, some)}
            new_points = [id for id in points if id not in there]
            new_parents = {key: text for key, text in (parents or {}).items() if key not in known}
            change = Change(0, len(new_points) + len(new_parents), len(gone), len(there))
            if before == manifest and not change.stored:
                return change
            still_mine()
            self.texts[_NOTE] = json.dumps({"document_id": name, "records": [*new_points, *new_parents, *gone]})
            for some in batches(new_parents.items()):
                still_mine()
                self.texts.update(dict(some))
            done = encoded = 0
            old = self.vectors.get(sorted(before.points)) if before and new_points else {}
            for made, read in make(new_points, old.values()):
                still_mine()
                self.vectors.upsert(made)
                encoded, done = encoded + read, done + len(made)
                if progress:
                    progress(done, len(new_points))
            still_mine()
            if manifest is None:
                self.texts.pop(_MANIFEST + name, None)
                self.texts[_VERSION] = uuid4().hex
            else:
                record = {"parents": manifest.parents, "points": sorted(manifest.points)}
                self.texts.update({_MANIFEST + name: json.dumps(record), _VERSION: uuid4().hex})
            self._delete(gone, still_mine)
            del self.texts[_NOTE]
        return change._replace(encoded=encoded)

    def repair(self, namespace: str) -> Report:
        """Delete what no manifest names; see `chunklib.search.parents.ParentChildIndex.repair`."""
        with self._turn() as (still_mine, cleared):
            points = set(self.vectors.ids({"namespace": namespace}))
            there = points.union(key for key in self.texts if key.startswith(PARENT))
            known = {name: (self.manifest(name) or _NOTHING).records for name in self.documents()}
            if points and not known:
                raise LookupError(
                    f"{len(points)} vectors are stored and no document is recorded: were the texts lost? Add the "
                    "documents again, then repair; or delete the collection"
                )
            stray = there.difference(*known.values())
            self._delete(stray, still_mine)
        return Report(cleared + len(stray), tuple(name for name, its in known.items() if not its <= there))

    def _delete(self, records: Iterable[str], still_mine: StillMine) -> None:
        points, keys = _parted(records)
        for some in batches(points):
            still_mine()
            self.vectors.delete(some)
        for some in batches(keys):
            still_mine()
            delete_many(self.texts, some)
        still_mine()

    @contextmanager
    def _turn(self) -> Iterator[tuple[StillMine, int]]:
        """Be the only writer, and say how many records had to go first, left by one who died."""
        with turn(self.texts) as still_mine:
            text, cleared = self.texts.get(_NOTE), 0
            if text is not None:
                note = json.loads(text)
                stray = {*note["records"]} - (self.manifest(note["document_id"]) or _NOTHING).records
                self.texts[_VERSION] = uuid4().hex  # death may have come before the change was told to the readers
                points, keys = _parted(stray)
                cleared = len(self.vectors.get(points)) + len(get_many(self.texts, keys))
                self._delete(stray, still_mine)
                del self.texts[_NOTE]
            yield still_mine, cleared


_NOTHING = Manifest({}, frozenset())


def _parted(records: Iterable[str]) -> tuple[list[str], list[str]]:
    """Points, and keys of parents."""
    names = sorted(records)
    return [name for name in names if not name.startswith(PARENT)], [name for name in names if name.startswith(PARENT)]


def _manifest(text: str | None) -> Manifest | None:
    if text is None:
        return None
    known = json.loads(text)
    return Manifest({id: Stored(*parent) for id, parent in known["parents"].items()}, frozenset(known["points"]))
