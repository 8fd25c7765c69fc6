# SPDX-License-Identifier: MIT
"""Who may write, what an index owns, what it was made with, and searches beside a change."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import socket
import subprocess
import sys
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from threading import Event, RLock, Thread
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import redis

from chunklib.core.document import Document
from chunklib.search.ledger import Busy, Report
from chunklib.search.mappings import RedisMapping, SQLiteMapping, turn
from chunklib.search.parents import Change, ParentChildIndex
from chunklib.search.stores import BATCH, Point, QdrantVectors
from tests.stores import Encoder, Fuse, FusedMapping, FusedVectors, Killed, redis_server
from tests.test_parent_child import CHANGED, CHANGES, OTHER, PUMP, THIRD, fresh, index_of, paragraphs, state
from tools.notebooks import ROOT
from tools.ray_run import contents


@pytest.fixture(params=["dict", "sqlite", "redis"])
def texts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MutableMapping[str, str]]:
    if request.param == "dict":
        yield {}
    elif request.param == "sqlite":
        store = SQLiteMapping(tmp_path / "a.sqlite")
        yield store
        store.close()
    else:
        with redis_server(tmp_path) as url:
            other = RedisMapping(url)
            yield other
            other.close()


# --- Who may write -------------------------------------------------------------------------------------------------


class Slow(Encoder):
    """Waits in the midst of a change until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = Event(), Event()

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if any("Paragraph" in text for text in texts):
            self.begun.set()
            assert self.go_on.wait(20)
        return super().__call__(texts)


def another(texts: MutableMapping[str, str]) -> MutableMapping[str, str]:
    """The same store as another process would open it; of a dict there is no other."""
    return texts if isinstance(texts, dict) else pickle.loads(pickle.dumps(texts))


def test_a_second_writer_is_refused_and_the_first_is_not_disturbed(texts: MutableMapping[str, str]) -> None:
    vectors, slow, failed = QdrantVectors(), Slow(), []

    def write() -> None:
        try:
            index_of(vectors, texts, embed=slow).add(paragraphs(5))
        except BaseException as error:
            failed.append(error)

    first = Thread(target=write)
    index_of(vectors, texts).add(OTHER)
    first.start()
    assert slow.begun.wait(20)
    for second in (index_of(vectors, texts), index_of(vectors, another(texts))):
        for step in (lambda i=second: i.add(PUMP), lambda i=second: i.remove("other"), second.repair):
            with pytest.raises(Busy, match="another writer is at work; call again when it is done"):
                step()
        assert {hit.chunk.document_id for hit in second.search("pump")} == {"other"}
    slow.go_on.set()
    first.join()
    assert failed == []
    second.add(PUMP)
    assert state(second) == fresh(OTHER, paragraphs(5), PUMP)
    second.close()


def test_of_two_who_write_first_one_says_what_the_index_is() -> None:
    vectors, texts = QdrantVectors(), dict[str, str]()

    class Faster(Encoder):
        """Somebody else adds the first document while this one looks at its encoder."""

        def __call__(self, read: Sequence[str]) -> npt.NDArray[np.float32]:
            if "settings" not in texts:
                index_of(vectors, texts, namespace="theirs").add(OTHER)
            return super().__call__(read)

    index_of(vectors, texts, embed=Faster(), namespace=None).add(PUMP)
    assert len(list(vectors.ids())) == len(list(vectors.ids({"namespace": "theirs"})))
    assert index_of(vectors, texts, namespace="theirs").documents() == ["other", "pump"]


HOLDS = """
import pickle, sys
from chunklib.search.mappings import turn
with turn(pickle.loads(sys.stdin.buffer.read())):
    print("held", flush=True)
    import time
    time.sleep(60)
"""


@contextmanager
def process_that_holds(texts: MutableMapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", HOLDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(pickle.dumps(texts))
        process.stdin.close()
        assert process.stdout.readline().split() == [b"held"]
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("texts", ["sqlite", "redis"], indirect=True)
def test_the_turn_of_another_process_ends_with_it(texts: MutableMapping[str, str]) -> None:
    index = index_of(None, texts)
    index.add(OTHER)
    with process_that_holds(texts) as process:
        with pytest.raises(Busy, match="another writer is at work"):
            index.add(PUMP)
        assert index.search("pump"), "it can be read"
        process.kill()
        process.wait()
        index.add(PUMP)
    assert state(index) == fresh(OTHER, PUMP)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_one_file_has_one_writer_by_whatever_name_and_each_table_its_own(tmp_path: Path) -> None:
    (tmp_path / "b.sqlite").symlink_to(tmp_path / "a.sqlite")
    one, other = SQLiteMapping(tmp_path / "a.sqlite"), SQLiteMapping(tmp_path / "a.sqlite", table="others")
    with SQLiteMapping(tmp_path / "b.sqlite") as linked, one, other:
        with turn(one), turn(other), pytest.raises(Busy), turn(linked):
            pass
        with turn(linked), pytest.raises(Busy), turn(one):
            pass


def test_a_mapping_in_memory_has_one_writer() -> None:
    with SQLiteMapping(":memory:") as store:
        with turn(store), pytest.raises(Busy), turn(store):
            pass
        with turn(store):
            pass


def test_a_lock_that_cannot_be_is_named_and_can_be_retried(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite.records.lock").mkdir()
    with SQLiteMapping(tmp_path / "a.sqlite") as store:
        with pytest.raises(ConnectionError, match=r"a\.sqlite cannot be used .*call again"), turn(store):
            pass
        (tmp_path / "a.sqlite.records.lock").rmdir()
        with turn(store):
            pass


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as address:
        yield address


@pytest.mark.parametrize("known", [f"{socket.gethostname()} {os.getppid()} x", "elsewhere 1 x"])
def test_who_may_live_keeps_the_turn_for_its_time(url: str, known: str) -> None:
    with RedisMapping(url, prefix=f"{known}:") as store, redis.Redis.from_url(url) as client:
        client.set(f"{known}:turn", known, px=10**6)
        with pytest.raises(Busy, match=r"at work; call again when it is done, or in (1000|999) seconds if it died"):
            turn(store).__enter__()
        client.delete(f"{known}:turn")  # as when its time is over
        with turn(store) as still_mine:
            client.pexpire(f"{known}:turn", 10**4)
            still_mine()
            assert client.ttl(f"{known}:turn") > 100, "a sign of life renews its time"
        assert not client.exists(f"{known}:turn")


@pytest.mark.skipif(sys.platform == "win32", reason="no server there")
@pytest.mark.parametrize("process", [2**22 + 1, 2**31 - 1])  # more than Linux and macOS give
def test_the_dead_do_not_keep_their_turn(url: str, process: int) -> None:
    with RedisMapping(url, prefix="dead:") as store, redis.Redis.from_url(url) as client:
        client.set("dead:turn", f"{socket.gethostname()} {process} x")
        with turn(store):
            assert int(client.get("dead:turn").split()[1]) == os.getpid()


def test_who_was_taken_for_dead_stops_before_it_counts(url: str) -> None:
    """A machine that slept wakes in the midst of its change, and another writer has gone on meanwhile."""
    vectors, texts = QdrantVectors(), RedisMapping(url, prefix="slept:")
    index = index_of(vectors, another(texts))
    index.add(OTHER)

    class Sleeps(Encoder):
        def __call__(self, read: Sequence[str]) -> npt.NDArray[np.float32]:
            if any("Paragraph" in text for text in read):
                with redis.Redis.from_url(url) as client:
                    assert client.delete("slept:turn")  # its time runs out
                index.add(PUMP)
            return super().__call__(read)

    with pytest.raises(Busy, match="another writer has taken over"):
        index_of(vectors, texts, embed=Sleeps()).add(paragraphs(5))
    assert state(index) == fresh(OTHER, PUMP)
    assert index.repair() == Report(0, ())
    texts.close()
    index.close()


class Lost(dict[str, str]):
    """A mapping whose writer loses its turn after so many signs of life, and must not write then."""

    left, lost = 0.0, False

    @contextmanager
    def turn(self) -> Iterator[Callable[[], None]]:
        def still_mine() -> None:
            self.lost = self.left <= 0
            if self.lost:
                raise Busy("lost")
            self.left -= 1

        yield still_mine

    def __setitem__(self, key: str, value: str) -> None:
        assert not self.lost
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        assert not self.lost
        super().__delitem__(key)


@pytest.mark.parametrize("change", ["add", "change", "remove"])
def test_a_turn_may_be_lost_at_any_sign_of_life(change: str) -> None:
    step, before, after = CHANGES[change]
    for signs in itertools.count():
        texts = Lost()
        index = index_of(None, texts)
        for document in before:
            texts.left = float("inf")
            index.add(document)
        texts.left, version = signs, texts["version"]
        try:
            step(index)
        except Busy:
            assert texts.lost
        else:
            break
        counts = texts["version"] != version
        texts.left, texts.lost = float("inf"), False
        index.repair()
        assert state(index) == fresh(*(after if counts else before))
    assert signs >= 4, "before the note, the texts, the manifest, and the end"
    assert state(index) == fresh(*after)


def test_a_long_change_gives_signs_of_life() -> None:
    class Counts(Lost):
        signs = 0

        @contextmanager
        def turn(self) -> Iterator[Callable[[], None]]:
            def still_mine() -> None:
                self.signs += 1

            yield still_mine

    texts, one = Counts(), Counts()
    index_of(None, one).add(paragraphs(1))
    index_of(None, texts).add(paragraphs(600))
    assert texts.signs >= one.signs + 2 * (600 // BATCH)


def records(index: ParentChildIndex) -> set[str]:
    points, texts = state(index)
    return {*points, *(key for key in texts if key.startswith("parent:"))}


def test_repair_says_how_many_records_a_crash_had_left() -> None:
    seen = set()
    for writes in itertools.count():
        index = index_of()
        index.add(OTHER)
        before, fuse = records(index), Fuse(writes)
        try:
            index_of(FusedVectors(index.vectors, fuse), FusedMapping(index.parents, fuse)).add(PUMP)
        except Killed:
            counts = "manifest:pump" in index.parents
            left = 0 if counts else len(records(index) - before)
            assert index.repair() == Report(left, ())
            assert state(index) == (fresh(OTHER, PUMP) if counts else fresh(OTHER))
            seen.add(left)
        else:
            break
    assert seen == set(range(len(records(index) - before) + 1))


# --- What an index owns --------------------------------------------------------------------------------------------


def test_two_indexes_in_one_collection_leave_each_other_alone() -> None:
    vectors = QdrantVectors()
    one, two = (index_of(vectors, {}, namespace=None) for _ in range(2))
    one.add(PUMP)
    two.add(PUMP)
    two.add(OTHER)
    for index in (one, two):
        assert index.repair() == Report(0, ())
    two.remove("pump")
    assert two.repair() == Report(0, ())
    assert [hit.chunk.document_id for hit in one.search("never use soap", k_parents=1)] == ["pump"]
    assert {hit.chunk.document_id for hit in two.search("never use soap")} == {"other"}


@pytest.mark.parametrize("namespace", [None, "tested"])
def test_a_lost_mapping_costs_no_vector(namespace: str | None) -> None:
    index = index_of()
    index.add(PUMP)
    before = state(index)[0]
    lost = index_of(index.vectors, {}, namespace=namespace)
    with pytest.raises(LookupError, match="nothing is recorded in this mapping"):
        lost.repair()
    emptied = index_of(index.vectors, {"settings": index.parents["settings"]})
    with pytest.raises(LookupError, match=r"\d+ vectors are stored and no document is recorded"):
        emptied.repair()
    assert contents(index.vectors, {})[0] == before
    assert index_of().repair() == Report(0, ()), "nothing there, nothing lost"
    again = emptied.add(PUMP)
    assert (again.encoded, again.kept) == (0, len(before)), "the vectors are found again"
    assert state(emptied) == fresh(PUMP)


# --- What an index was made with -----------------------------------------------------------------------------------


def test_another_encoder_is_refused() -> None:
    def backwards(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.ascontiguousarray(Encoder()(texts)[:, ::-1])

    index = index_of()
    index.add(PUMP)
    for embed, told in (
        (backwards, "it gives the same text another vector"),
        (Encoder(32), "it gives 64 dimensions, this one 32"),
    ):
        other = index_of(index.vectors, index.parents, embed=embed)
        for step in (lambda other=other: other.add(PUMP), lambda other=other: other.search("soap"), other.repair):
            with pytest.raises(ValueError, match=rf"made with another encoder: {told}\. Pass"):
                step()
    assert state(index) == fresh(PUMP)
    assert index_of(index.vectors, index.parents).add(PUMP).stored == 0


@pytest.mark.parametrize(("made", "opened"), [(0, 0.5), (0.5, 0)])
def test_parents_with_and_without_vectors_do_not_mix(made: float, opened: float) -> None:
    index = index_of(own_weight=made)
    index.add(PUMP)
    other = index_of(index.vectors, index.parents, own_weight=opened)
    for step in (lambda: other.add(OTHER), lambda: other.search("soap")):
        with pytest.raises(ValueError, match=r"own_vectors=(True|False): own_weight must be 0 for an index"):
            step()
    if made:
        assert index_of(index.vectors, index.parents, own_weight=0.9).search("soap")


def test_records_of_another_version_are_refused_by_name() -> None:
    index = index_of()
    index.add(PUMP)
    settings = json.loads(index.parents["settings"])
    settings["fields"].remove("context")
    index.parents["settings"] = json.dumps(settings)
    with pytest.raises(ValueError, match="it was stored by another version of chunklib"):
        index_of(index.vectors, index.parents).search("soap")
    with pytest.raises(ValueError, match="namespace must be the recorded one, or left out"):
        index_of(namespace="mine", parents={"settings": index_of_settings()}).search("soap")


def index_of_settings() -> str:
    index = index_of(namespace="theirs")
    index.add(PUMP)
    return index.parents["settings"]


@pytest.mark.parametrize("value", [object(), Path("a"), np.int64(3), date(2026, 3, 1), {1}])
def test_metadata_that_is_no_json_names_its_document(value: object) -> None:
    index = index_of()
    mend = "use plain JSON values in its metadata, dates as text"
    with pytest.raises(TypeError, match=rf"document 'd' cannot be stored .*{mend}"):
        index.add(Document("One.", id="d", metadata={"seen": value}))
    assert state(index) == ({}, {})


# --- A search beside a change --------------------------------------------------------------------------------------


class Beside(QdrantVectors):
    """After each search of the vectors, something else happens."""

    then: Callable[[], Any] | None = None

    def search(
        self, vector: npt.NDArray[np.float32], k: int, filter: Mapping[str, Any] | None = None
    ) -> list[tuple[dict[str, Any], str, float]]:
        found = super().search(vector, k, filter)
        happens, self.then = self.then, None
        if happens:
            happens()
        return found


class BesideTexts(UserDict[str, str]):
    """After the manifest was read, something else happens."""

    then: Callable[[], Any] | None = None

    def __getitem__(self, key: str) -> str:
        value = super().__getitem__(key)
        if key == "manifest:pump" and self.then:
            happens, self.then = self.then, None
            happens()
        return value


@pytest.mark.parametrize("where", ["after the vectors", "after the manifest"])
@pytest.mark.parametrize("known", [False, True])
def test_a_search_that_meets_a_change_answers_from_one_version(where: str, known: bool) -> None:
    vectors, texts = Beside(), BesideTexts()
    writer, reader = (index_of(vectors, texts) for _ in range(2))
    for document in (OTHER, PUMP):
        writer.add(document)
    if known:
        reader.search("valve")
    after = index_of()
    for document in (OTHER, CHANGED):
        after.add(document)
    happens = lambda: writer.add(CHANGED)  # noqa: E731
    if where == "after the vectors":
        vectors.then = happens
    elif not known:
        texts.then = happens
    assert reader.search("valve", k_children=9, k_parents=9) == (
        index_of_pump() if where == "after the manifest" and known else after
    ).search("valve", k_children=9, k_parents=9)


def index_of_pump() -> ParentChildIndex:
    index = index_of()
    for document in (OTHER, PUMP):
        index.add(document)
    return index


class OneAtATime(QdrantVectors):
    """In memory, Qdrant is for one thread at a time; what is tested is what lies between the calls."""

    turn = RLock()

    def search(self, *known: Any, **more: Any) -> list[tuple[dict[str, Any], str, float]]:
        with self.turn:
            return super().search(*known, **more)

    def upsert(self, points: Sequence[Point]) -> None:
        with self.turn:
            super().upsert(points)

    def get(self, ids: Sequence[str]) -> dict[str, Point]:
        with self.turn:
            return super().get(ids)

    def delete(self, ids: Sequence[str]) -> None:
        with self.turn:
            super().delete(ids)


def test_searches_beside_many_changes_never_mix_or_fail(tmp_path: Path) -> None:
    """Another thread changes the document all the time; each answer is one of the two versions."""
    vectors, texts = OneAtATime(), SQLiteMapping(tmp_path / "a.sqlite")
    writer, reader = (index_of(vectors, texts) for _ in range(2))
    versions = []
    for version in (PUMP, CHANGED):
        writer.add(version)
        versions.append(writer.search("pump valve", k_children=9, k_parents=9))
    stop, failed = Event(), []

    def write() -> None:
        try:
            while not stop.is_set():
                writer.add(PUMP)
                writer.add(CHANGED)
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=write)
    thread.start()
    try:
        for _ in range(100):
            assert reader.search("pump valve", k_children=9, k_parents=9) in versions
    finally:
        stop.set()
        thread.join()
    assert failed == []
    texts.close()


def test_manifests_are_read_once_a_version() -> None:
    class Counts(UserDict[str, str]):
        read = 0

        def __getitem__(self, key: str) -> str:
            self.read += key.startswith("manifest:")
            return super().__getitem__(key)

    texts = Counts()
    index = index_of(None, texts)
    index.add(PUMP)
    index.search("soap")
    before = texts.read
    for _ in range(5):
        index.search("soap")
    assert texts.read == before
    index.add(OTHER)
    assert index.search("another maker", k_parents=1)[0].chunk.document_id == "other"


def test_only_parents_that_are_returned_are_read() -> None:
    class Counts(dict[str, str]):
        read = 0

        def get_many(self, keys: Sequence[str]) -> dict[str, str]:
            self.read += sum(key.startswith("parent:") for key in keys)
            return {key: self[key] for key in keys if key in self}

    texts = Counts()
    index = index_of(None, texts)
    index.add(paragraphs(40))
    texts.read = 0
    assert len(index.search("paragraph", k_children=30, k_parents=3)) == 3
    assert texts.read == 3


def test_a_dead_writers_change_is_told_to_readers_that_remember() -> None:
    """Killed between the manifest and the news of it: who remembers the old one must not keep it."""
    index = index_of()
    index.add(PUMP)
    reader = index_of(index.vectors, index.parents)
    reader.search("valve")
    for writes in range(60):
        fuse = Fuse(writes)
        try:
            index_of(FusedVectors(index.vectors, fuse), FusedMapping(index.parents, fuse)).add(CHANGED)
        except Killed:
            index_of(index.vectors, index.parents).add(THIRD)
            (found,) = (hit for hit in reader.search("valve", k_parents=9) if "valve" in hit.chunk.text.lower())
            assert found.chunk.text in PUMP.text or found.chunk.text in CHANGED.text
            index_of(index.vectors, index.parents).add(PUMP)
            reader.search("valve")
        else:
            break
    assert writes > 8
    assert Change(0, 0, 0, 0) != index.add(PUMP)
