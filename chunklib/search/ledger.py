# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""Two stores that change as one: which records of a document count, who may write, and what a crash left behind.

Two stores cannot change at once, so nothing that a search may read is ever changed in place. A record is named after
all that it holds, and one *manifest* for each document lists the records that count. A change writes new texts, then
new points, then the manifest: that one write is the moment of change. Then old points go, then old texts.

Around a change, two more keys of the mapping: ``writer`` says whose turn it is, and ``note`` what is under way, so that
whoever comes next after a crash knows what to clear up. ``version`` is another at each change: a reader who finds the
same before and after has read one version; it also says how long the manifests read before may be kept.

When to use it: below `chunklib.parent_child`, or any index whose records lie in two stores.

But: a writer on another machine, or on Windows, cannot be asked whether it is alive; after its crash the next waits
until its turn is over (`LEASE`). Containers that share a host name do not see each other's processes: there the later
writer takes over, and the earlier one stops with `Busy` at its next step. Between its last look and its manifest lie
milliseconds, and no lock. On a mapping other than a dict, SQLite or Redis, a search in another thread or process may
meet the moment of change and see one document's new texts without its new points.

Cost: a change five small writes beside its records; a search two small reads, and each manifest once a version.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import uuid4

from chunklib.search.mappings import delete_many, get_many, swap
from chunklib.search.stores import Point, VectorStore, batches

PARENT = "parent:"
_MANIFEST, _NOTE, _WRITER, _VERSION, _SETTINGS = "manifest:", "note", "writer", "version", "settings"
#: Seconds for which a turn is kept from other machines without a sign of life; one comes before each batch.
LEASE = 300
_KNOWN = 1000  # manifests kept in memory
_AT_WORK: set[str] = set()  # the turns of this process


class Busy(RuntimeError):
    """Another writer is at work, or has taken over; call again later."""


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
    def keys(self) -> list[str]:
        """The keys of the parents' records."""
        return [parent.key for parent in self.parents.values()]


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

    def record(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that count: these, or those that somebody else has recorded in the meantime."""
        swap(self.texts, _SETTINGS, None, json.dumps(settings))
        return self.settings or dict(settings)

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

    def replace(
        self,
        name: str,
        version: str | None,
        manifest: Manifest | None,
        *,
        parents: Mapping[str, str] | None = None,
        points: Sequence[str] = (),
        make: Callable[[Sequence[str]], tuple[list[Point], int]] = lambda ids: ([], 0),
        progress: Callable[[int, int], None] | None = None,
    ) -> int | None:
        """Bring a document into the state of the manifest; ``None`` takes it out.

        ``parents`` and ``points`` are the records that are not there yet; ``make`` turns a batch of ids into points
        and says how many texts it had to encode. Returns their sum; or None, with nothing changed, where another
        change came after ``version``. Raises `Busy` where another writer is at work.
        """
        encoded = done = 0
        with self._turn() as (still_mine, _):
            if self.version != version:
                return None
            old, new = self.manifest(name) or _NOTHING, manifest or _NOTHING
            kept = set(new.keys)
            gone = sorted(old.points - new.points), [key for key in old.keys if key not in kept]
            note = {"document_id": name, "points": [*points, *gone[0]], "parents": [*(parents or {}), *gone[1]]}
            self.texts[_NOTE] = json.dumps(note)
            for some in batches((parents or {}).items()):
                still_mine()
                self.texts.update(dict(some))
            for ids in batches(points):
                made, read = make(ids)
                still_mine()
                self.vectors.upsert(made)
                encoded, done = encoded + read, done + len(ids)
                if progress:
                    progress(done, len(points))
            still_mine()
            if manifest is None:
                self.texts.pop(_MANIFEST + name, None)
                self._change()
            else:
                record = {"parents": manifest.parents, "points": sorted(manifest.points)}
                self.texts.update({_MANIFEST + name: json.dumps(record), _VERSION: uuid4().hex})
            self._delete(*gone)
            del self.texts[_NOTE]
        return encoded

    def clear_up(self) -> None:
        """Finish, or take back, what was under way when a process died."""
        if _WRITER in self.texts or _NOTE in self.texts:
            with self._turn():
                pass

    def repair(self, namespace: str) -> Report:
        """Delete what no manifest names; see `chunklib.parent_child.ParentChildIndex.repair`."""
        with self._turn() as (_, undone):
            points = set(self.vectors.ids({"namespace": namespace}))
            keys = {key for key in self.texts if key.startswith(PARENT)}
            known = {name: self.manifest(name) or _NOTHING for name in self.documents()}
            if points and not known:
                raise LookupError(
                    f"{len(points)} vectors are stored and no document is recorded: were the texts lost? Add the "
                    "documents again, then repair; or delete the collection"
                )
            incomplete = [
                name for name, its in known.items() if not (points >= its.points and keys.issuperset(its.keys))
            ]
            stray = (
                sorted(points.difference(*(its.points for its in known.values()))),
                sorted(keys.difference(*(its.keys for its in known.values()))),
            )
            self._delete(*stray)
        return Report(undone + len(stray[0]) + len(stray[1]), tuple(sorted(incomplete)))

    def _change(self) -> None:
        self.texts[_VERSION] = uuid4().hex

    def _delete(self, points: Sequence[str], keys: Sequence[str]) -> None:
        if points:
            self.vectors.delete(points)
        for some in batches(keys):
            delete_many(self.texts, some)

    @contextmanager
    def _turn(self) -> Iterator[tuple[Callable[[], None], int]]:
        """One writer at a time. It is given a call that tells the others that it lives, or raises if they took over.

        Also says how many records it cleared up first, left by somebody who died.
        """
        turn = uuid4().hex
        held, told = _card(turn), time.monotonic()

        def still_mine() -> None:
            nonlocal held, told
            if time.monotonic() - told < LEASE / 10:
                mine = self.texts.get(_WRITER) == held
            else:
                new, told = _card(turn), time.monotonic()
                mine = swap(self.texts, _WRITER, held, new)
                held = new if mine else held
            if not mine:
                raise Busy("another writer has taken over after a long silence; call again")

        _AT_WORK.add(turn)
        try:
            before = self.texts.get(_WRITER)
            if before is not None:
                _refuse_the_living(json.loads(before))
            if not swap(self.texts, _WRITER, before, held):
                raise Busy("another writer was faster; call again")
            try:
                yield still_mine, self._undo(still_mine)
            finally:
                swap(self.texts, _WRITER, held, None)
        finally:
            _AT_WORK.discard(turn)

    def _undo(self, still_mine: Callable[[], None]) -> int:
        text = self.texts.get(_NOTE)
        if text is None:
            return 0
        note = json.loads(text)
        its = self.manifest(note["document_id"]) or _NOTHING
        self._change()  # the note may come from before the change was told to the readers
        still_mine()
        keys = set(its.keys)
        stray = (
            [id for id in note["points"] if id not in its.points],
            [key for key in note["parents"] if key not in keys],
        )
        there = len(self.vectors.get(stray[0])) + len(get_many(self.texts, stray[1]))
        self._delete(*stray)
        self.texts.pop(_NOTE, None)
        return there


_NOTHING = Manifest({}, frozenset())


def _manifest(text: str | None) -> Manifest | None:
    if text is None:
        return None
    known = json.loads(text)
    return Manifest({id: Stored(*parent) for id, parent in known["parents"].items()}, frozenset(known["points"]))


def _card(turn: str) -> str:
    card = {"turn": turn, "host": socket.gethostname(), "process": os.getpid(), "until": time.time() + LEASE}
    return json.dumps(card)


def _refuse_the_living(card: Mapping[str, Any]) -> None:
    """Raise `Busy` unless the writer with this card is known to be dead, or its time is over."""
    host, process = card["host"], card["process"]
    if time.time() > card["until"]:
        return
    if host == socket.gethostname():
        if process == os.getpid():
            alive = card["turn"] in _AT_WORK
        else:
            alive = _runs(process)
        if not alive:
            return
    left = card["until"] - time.time()
    raise Busy(
        f"another writer is at work, process {process} on {host}; call again when it is done, or in {left:.0f} seconds "
        "if it died"
    )


def _runs(process: int) -> bool:
    if os.name == "nt":  # there is no question that does not end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        return True
    return True
