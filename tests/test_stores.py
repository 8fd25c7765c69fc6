# SPDX-License-Identifier: MIT
"""The stores, each for real: Qdrant in memory and in a folder, SQLite in a file, a server with Redis' protocol."""

from __future__ import annotations

import gc
import pickle
import shutil
import socket
import sqlite3
import subprocess
import sys
import uuid
from collections import UserDict
from collections.abc import Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import redis

from chunklib.search.mappings import TIMEOUT, RedisMapping, SQLiteMapping, delete_many, get_many, turn
from chunklib.search.stores import BATCH, Point, QdrantVectors, Vector
from tests.stores import redis_server
from tools.notebooks import ROOT

Mapping = MutableMapping[str, str]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as address:
        yield address


@pytest.fixture(params=["sqlite", "redis"])
def mapping(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Mapping]:
    if request.param == "sqlite":
        store: SQLiteMapping | RedisMapping = SQLiteMapping(tmp_path / "a.sqlite")
    else:
        store = RedisMapping(request.getfixturevalue("url"), prefix=f"{uuid.uuid4()}[*]?:")
    yield store
    store.close()


HARD = ["", "a", "A", "ä", "a\0b", "\ud83d", "[x]*?", "x" * 5000, "a:b", "line\nbreak"]


def test_a_mapping_does_what_a_dict_does(mapping: Mapping) -> None:
    twin: dict[str, str] = {}
    for number, key in enumerate(HARD):
        mapping[key] = twin[key] = f"{key}{number}"
    mapping.update({"new": "1", "a": "2"})
    twin.update({"new": "1", "a": "2"})
    del mapping["A"], twin["A"]
    assert mapping == twin
    assert sorted(mapping) == sorted(twin)
    assert len(mapping) == len(twin)
    assert "A" not in mapping
    assert mapping.get("A") is None
    assert mapping.pop("A", None) is None
    with pytest.raises(KeyError, match="A"):
        mapping["A"]
    with pytest.raises(KeyError, match="A"):
        del mapping["A"]
    mapping.update({})
    assert mapping == twin


def test_a_mapping_survives_its_process(mapping: Mapping) -> None:
    mapping["a"] = "one"
    again = pickle.loads(pickle.dumps(mapping))
    assert dict(again) == {"a": "one"}
    again.close()


def test_prefixes_keep_two_mappings_apart(url: str) -> None:
    names = ("a?", "ab", "*", "a*", "[ab]", "a\\", "^", "\ud83d")
    stores = [RedisMapping(url, prefix=f"apart{name}:") for name in names]
    for name, store in zip(names, stores, strict=True):
        store["k"] = name
    assert [dict(store) for store in stores] == [{"k": name} for name in names]
    for store in stores:
        store.close()


# --- Servers that are not there, say nothing or say no ---------------------------------------------------------------


def test_a_server_that_is_not_there_is_named_and_can_be_retried(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = RedisMapping(f"redis://127.0.0.1:{port}/0")
    with pytest.raises(ConnectionError, match=r"Redis at 127\.0\.0\.1:\d+/0 cannot be used .*call again"):
        store["a"] = "b"
    vectors = QdrantVectors(f"http://127.0.0.1:{port}")
    with pytest.raises(ConnectionError, match=r"Qdrant at 127\.0\.0\.1:\d+ cannot be used .*call again"):
        vectors.get([name(1)])
    with redis_server(tmp_path) as url:
        store.url, store._opened = url, None  # the server has come up
        store["a"] = "b"
        assert dict(store) == {"a": "b"}
        store.close()


def test_a_server_that_says_nothing_is_given_up() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        store = RedisMapping(f"redis://127.0.0.1:{silent.getsockname()[1]}", socket_timeout=0.1)
        with store, pytest.raises(ConnectionError, match=r"cannot be used \(Timeout"):
            store["a"]
        assert store.settings == {"socket_timeout": 0.1, "socket_connect_timeout": TIMEOUT}
        assert RedisMapping().settings["socket_timeout"] == TIMEOUT


@pytest.mark.parametrize("store", [RedisMapping, QdrantVectors])
@pytest.mark.parametrize(
    "place",
    [
        "SECRET:SECRET@127.0.0.1:1",
        ":SECRET@127.0.0.1:1/path?password=SECRET",
        "127.0.0.1:1/path?password=SECRET@SECRET",
        "user:SECRET/SECRET@127.0.0.1:1",  # not written as it should be
        "user:SECRET@127.0.0.1:SECRET",
        "user:SECRET?SECRET@127.0.0.1:1",
    ],
)
def test_no_error_shows_a_password(store: Any, place: str) -> None:
    scheme = "redis" if store is RedisMapping else "http"
    with pytest.raises((ConnectionError, ValueError)) as caught:  # noqa: PT012
        opened = store(f"{scheme}://{place}")
        with opened:
            opened.get([name(1)] if store is QdrantVectors else "a")
    error: BaseException | None = caught.value
    assert ("127.0.0.1:1" in str(error)) == isinstance(error, ConnectionError), "the place is named where it is one"
    while error:
        assert "SECRET" not in str(error)
        error = error.__cause__


def test_an_address_without_its_scheme_shows_no_password() -> None:
    with pytest.raises(
        ValueError, match=r"^location='localhost:6333' has no scheme; a server is http://localhost:6333$"
    ):
        QdrantVectors("user:secret@localhost:6333")


def test_a_server_that_refuses_the_user_says_so(tmp_path: Path) -> None:
    with redis_server(tmp_path, "--requirepass", "good") as url:
        admin = redis.Redis.from_url(url, password="good")
        admin.acl_setuser("reader", enabled=True, passwords=["+good"], commands=["+hget", "+hmget"], keys=["*"])
        for user in ("", ":bad@", "nobody:good@", "reader:good@"):
            with RedisMapping(url.replace("//", f"//{user}")) as store:
                for step in (lambda store=store: store.update(a="b"), lambda store=store: turn(store).__enter__()):
                    with pytest.raises(PermissionError, match=r"Redis at 127.* refuses this user .*pass username"):
                        step()
        for known in (RedisMapping(url, password="good"), RedisMapping(url.replace("//", "//:good@"))):
            with known, turn(known):
                known["a"] = "b"
        admin.set("wrong:texts", "no hash")
        wrong = RedisMapping(url, prefix="wrong:", password="good")
        with wrong, pytest.raises(RuntimeError, match=r"refuses the call .*the same again will not help"):
            wrong["a"] = "b"
        admin.close()


def test_a_server_that_is_full_says_so_and_can_be_retried(tmp_path: Path) -> None:
    with redis_server(tmp_path, "--maxmemory", "1") as url, RedisMapping(url) as store:
        for step in (lambda: store.update(a="b"), lambda: turn(store).__enter__()):
            with pytest.raises(ConnectionError, match=r"is full .*raise its maxmemory and call again"):
                step()
        with redis.Redis.from_url(url) as admin:
            admin.config_set("maxmemory", 0)
        with turn(store):
            store["a"] = "b"


@pytest.mark.parametrize(
    ("package", "make", "told"),
    [
        ("redis", RedisMapping, "redis is not installed: pip install redis"),
        ("qdrant_client", QdrantVectors, "qdrant_client is not installed: pip install qdrant-client"),
        (
            "filelock",
            lambda: turn(SQLiteMapping("a.sqlite")).__enter__(),
            "filelock is not installed: pip install filelock",
        ),
    ],
)
def test_a_missing_package_is_named(
    package: str, make: Any, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=told):
        make()


# --- Files -----------------------------------------------------------------------------------------------------------


def test_a_file_in_a_place_that_cannot_be_is_named_and_can_be_retried(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("no folder")
    store = SQLiteMapping(tmp_path / "folder" / "a.sqlite")
    with pytest.raises(ConnectionError, match=r"a\.sqlite cannot be used .*call again"):
        store["a"] = "b"
    (tmp_path / "folder").unlink()
    store["a"] = "b"  # the folder is made where it is missing
    assert dict(store) == {"a": "b"}
    store.close()


def test_a_first_call_to_a_locked_file_heals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_at_once = partial(sqlite3.connect, isolation_level=None)
    holder = open_at_once(tmp_path / "a.sqlite")
    holder.execute("begin exclusive")
    holder.execute("create table theirs (a)")
    monkeypatch.setattr("sqlite3.connect", lambda path, timeout, **known: open_at_once(path, timeout=0.05, **known))
    store = SQLiteMapping(tmp_path / "a.sqlite")
    for _ in range(2):
        with pytest.raises(ConnectionError, match="database is locked"):
            store["a"] = "b"
    holder.execute("rollback")
    holder.close()
    store["a"] = "b"
    assert dict(store) == {"a": "b"}
    store.close()


def test_threads_share_a_mapping_and_lose_nothing(mapping: Mapping) -> None:
    def work(number: int) -> None:
        for i in range(40):
            mapping.update({f"{number}-{i}": "x", f"{number}-{i}b": "y"})
            mapping.pop("missing", None)
            with pytest.raises(KeyError):
                del mapping["missing"]  # what is refused to one thread takes nothing back from the others
            assert mapping[f"{number}-{i}"] == "x"

    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(work, number) for number in range(6)]:
            done.result()
    assert len(mapping) == 6 * 80


@pytest.fixture(params=["plain", "mapping"])
def any_mapping(request: pytest.FixtureRequest) -> Any:
    return {} if request.param == "plain" else UserDict()


def check_helpers(store: Mapping) -> None:
    store.update({f"k{i}": str(i) for i in range(9)})
    assert get_many(store, ["k1", "none", "k3"]) == {"k1": "1", "k3": "3"}
    assert get_many(store, []) == {}
    delete_many(store, ["k1", "none", *(f"k{i}" for i in range(3, 9))])
    delete_many(store, [])
    assert dict(store) == {"k0": "0", "k2": "2"}


def test_several_keys_in_one_call(mapping: Mapping) -> None:
    check_helpers(mapping)


def test_several_keys_of_any_mapping(any_mapping: Mapping) -> None:
    check_helpers(any_mapping)


def test_what_sqlite_stores_is_all_or_nothing(tmp_path: Path) -> None:
    store = SQLiteMapping(tmp_path / "a.sqlite")
    with pytest.raises(AttributeError):
        store.update({"a": "1", "b": 2})
    assert dict(store) == {}
    store.close()
    with pytest.raises(ValueError, match="table='a b' must be a plain name"):
        SQLiteMapping(tmp_path / "a.sqlite", table="a b")
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as plain:
        assert plain.execute("pragma journal_mode").fetchone() == ("wal",)


def test_what_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_text("A text, and a rather long one, which is no database. " * 99)
    store = SQLiteMapping(tmp_path / "a.sqlite")
    with pytest.raises(ConnectionError, match=r"a\.sqlite cannot be used \(file is not a database\)"):
        store["a"] = "b"
    (tmp_path / "a.sqlite").unlink()
    store["a"] = "b"
    store.close()


# --- The end ---------------------------------------------------------------------------------------------------------


def test_a_store_is_closed_after_its_block_and_opened_again(mapping: Any, tmp_path: Path) -> None:
    for store, use in (
        (mapping, lambda: mapping.update(a="b")),
        (vectors := QdrantVectors(tmp_path / "vectors"), lambda: vectors.upsert([Point(name(1), axis(1), {})])),
    ):
        for _ in range(2):
            with store as same:
                assert same is store
                use()
                assert store._opened is not None
            assert store._opened is None
        store.close()
    assert dict(mapping) == {"a": "b"}


FORGETS = """
import sys
from chunklib import Document, ParentChildIndex, QdrantVectors, SQLiteMapping
from tests.stores import Encoder
folder = sys.argv[1]
index = ParentChildIndex(QdrantVectors(folder + "/vectors"), SQLiteMapping(folder + "/texts"), embed=Encoder())
index.add(Document("One. Two.", id="a"))
print(len(index.search("one")))
temporary = ParentChildIndex(embed=Encoder())
temporary.add(Document("One. Two.", id="a"))
if len(sys.argv) > 2:
    del index, temporary
"""


@pytest.mark.parametrize("more", [[], ["deleted"]])
def test_a_script_that_closes_nothing_ends_without_a_word(tmp_path: Path, more: list[str]) -> None:
    for _ in range(2):
        command = [sys.executable, "-W", "always::ResourceWarning", "-c", FORGETS, str(tmp_path), *more]
        ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1\n", "")


# --- Vectors ---------------------------------------------------------------------------------------------------------


def name(number: int) -> str:
    return str(uuid.UUID(int=number))


@pytest.fixture(params=["memory", "folder"])
def vectors(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[QdrantVectors]:
    store = QdrantVectors() if request.param == "memory" else QdrantVectors(tmp_path / "vectors")
    yield store
    store.close()


def axis(number: int, size: int = 4) -> Vector:
    return np.asarray(np.eye(size, dtype=np.float32)[number])


def test_vectors_before_anything_is_stored(vectors: QdrantVectors) -> None:
    assert vectors.search(axis(0), k=3) == []
    assert vectors.get([name(1)]) == {}
    assert list(vectors.ids()) == []
    vectors.delete([name(1)])


def test_vectors_are_found_filtered_and_deleted(vectors: QdrantVectors) -> None:
    payloads = [
        {"page": 1, "path": ["A", "B"], "metadata": {"language": "en", "draft": True}},
        {"page": 2, "path": ["A"], "metadata": {"language": "de", "draft": False}},
        {"page": 3, "path": [], "metadata": {"language": "en", "draft": False}},
    ]
    vectors.upsert([Point(name(i), axis(i), payload) for i, payload in enumerate(payloads)])

    def found(**filter: object) -> list[int]:
        return sorted(payload["page"] for payload, _, _ in vectors.search(axis(0), 9, filter))

    assert vectors.search(axis(1), k=1) == [(payloads[1], name(1), 1.0)]
    assert found() == [1, 2, 3]
    assert found(page=2) == [2]
    assert found(page=[1, 3]) == [1, 3]
    assert found(path="A") == [1, 2]
    assert found(path="B") == [1]
    assert found(**{"metadata.language": "en", "page": (2, 3)}) == [3]
    assert found(**{"metadata.draft": True}) == [1]
    assert found(page=7) == []
    wrong: Any
    for wrong in (1.5, None, [], {"gt": 3}):
        with pytest.raises(TypeError, match=r"filter\['page'\]=.* must be"):
            found(page=wrong)
    vectors.upsert([Point(name(0), axis(3), {"page": 9})])
    got = vectors.get([name(0), name(2), name(8)])
    assert sorted(got) == [name(0), name(2)]
    assert got[name(0)].payload == {"page": 9}
    assert got[name(0)].vector.tolist() == [0, 0, 0, 1]
    vectors.delete([name(0), name(8)])
    assert sorted(vectors.ids()) == [name(1), name(2)]


def test_many_vectors_travel_in_batches() -> None:
    store, n = QdrantVectors(), 2 * BATCH + 3
    store.upsert([Point(name(i), axis(i % 4), {"i": i}) for i in range(n)])
    assert sorted(store.ids()) == [name(i) for i in range(n)]
    assert len(store.get([name(i) for i in range(n)])) == n
    store.delete([name(i) for i in range(n - 1)])
    assert list(store.ids()) == [name(n - 1)]


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # qdrant-client leaves the lock file open
def test_a_folder_keeps_its_vectors_and_has_one_owner(tmp_path: Path) -> None:
    first = QdrantVectors(tmp_path)
    first.upsert([Point(name(1), axis(1), {"text": "\ud83d"})])
    second = pickle.loads(pickle.dumps(first))
    with pytest.raises(ConnectionError, match=r"cannot be used .*make it available and call again"):
        second.get([name(1)])
    gc.collect()
    first.close()
    assert second.get([name(1)])[name(1)].payload == {"text": "\ud83d"}
    second.close()


def test_memory_does_not_travel() -> None:
    with pytest.raises(TypeError, match="use a folder or a server"):
        pickle.dumps(QdrantVectors())
    with pytest.raises(TypeError, match="use a file"):
        pickle.dumps(SQLiteMapping(":memory:"))


@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (401, PermissionError, r"does not accept the key \(HTTP 401\); see api_key"),
        (403, PermissionError, "does not accept the key"),
        (400, RuntimeError, "refuses the call .*the same again will not help"),
        (404, RuntimeError, "refuses the call"),
        (429, ConnectionError, "call again"),
        (500, ConnectionError, "call again"),
    ],
)
def test_answers_of_a_server_are_told_apart(status: int, error: type[Exception], says: str) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "2")
            self.send_header("Retry-After", "1")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    Thread(target=server.serve_forever, daemon=True).start()
    vectors = QdrantVectors(f"http://127.0.0.1:{server.server_port}", api_key=None)
    try:
        with pytest.raises(error, match=says):
            vectors.search(axis(0), 1)
        with pytest.raises(error, match=says):
            vectors.get([name(1)])
    finally:
        vectors.close()
        server.shutdown()
        server.server_close()


class Recorder:
    """Stands in for the client of a server; the first call of the payload index fails."""

    def __init__(self) -> None:
        self.there, self.indexed, self.broken = False, set[str](), True

    def collection_exists(self, name: str) -> bool:
        return self.there

    def create_collection(self, name: str, vectors_config: Any) -> None:
        self.there = True

    def create_payload_index(self, collection: str, key: str, kind: Any) -> None:
        if self.broken:
            self.broken = False
            raise OSError("gone")
        self.indexed.add(key)

    def upsert(self, *known: Any, **more: Any) -> None:
        pass


def test_a_server_gets_its_payload_indexes_even_after_a_crash_between() -> None:
    vectors, client = QdrantVectors("http://localhost:1"), Recorder()
    vectors._opened = client
    point = Point(name(1), axis(0), {})
    with pytest.raises(ConnectionError, match="gone"):
        vectors.upsert([point])
    vectors.upsert([point])
    assert client.indexed == {"document_id", "level", "namespace"}


def test_ids_can_be_filtered(vectors: QdrantVectors) -> None:
    vectors.upsert([Point(name(i), axis(i), {"namespace": "ab"[i % 2]}) for i in range(4)])
    assert sorted(vectors.ids({"namespace": "a"})) == [name(0), name(2)]


@pytest.mark.parametrize("location", ["localhost:6333", "qdrant.example.org:6333/x"])
def test_an_address_without_its_scheme_is_not_taken_for_a_folder(location: str) -> None:
    with pytest.raises(ValueError, match=f"location='{location}' has no scheme; a server is http://{location}"):
        QdrantVectors(location)


def test_vectors_in_another_process_look_for_themselves_whether_they_are_there(tmp_path: Path) -> None:
    one = "00000000-0000-0000-0000-000000000001"
    store = QdrantVectors(tmp_path / "vectors")
    store.upsert([Point(one, np.array([0, 1], dtype=np.float32), {"page": 3})])
    state = pickle.dumps(store)
    store.close()
    shutil.rmtree(tmp_path / "vectors")
    again = pickle.loads(state)
    assert again.get([one]) == {}
    again.upsert([Point(one, np.array([1, 0], dtype=np.float32), {"page": 4})])
    assert again.get([one])[one].payload == {"page": 4}
    again.close()
    with pytest.raises(TypeError, match="vectors in memory cannot be handed to another process"):
        pickle.dumps(QdrantVectors())
