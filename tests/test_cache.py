# SPDX-License-Identifier: MIT
"""The store on disk: shared by processes and threads, bounded, and never a reason to fail."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from chunklib.search import cache
from tools.notebooks import ROOT

#: Writes results in a loop, as many as told, and says so after each.
WRITER = """
import sys
from chunklib.search import cache
cache._PATIENCE = 600
first, n = int(sys.argv[1]), int(sys.argv[2])
for number in range(first, first + n):
    cache.save({cache.key("model", f"{number} {i}"): b"%d %d" % (number, i) * 300 for i in range(10)})
    print(number, flush=True)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKLIB_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(cache, "_PATIENCE", 600)  # on busy cores
    return tmp_path / "kept"


def write(first: int, n: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(first), str(n)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, encoding="utf-8")


def written(numbers: range) -> dict[bytes, bytes]:
    pairs = ((number, i) for number in numbers for i in range(10))
    return {cache.key("model", f"{number} {i}"): b"%d %d" % (number, i) * 300 for number, i in pairs}


def file() -> Path:
    found = cache.location()
    assert found
    return found


def test_what_is_saved_is_found_in_any_number() -> None:
    results = {cache.key("model", str(number)): str(number).encode() for number in range(1200)}
    cache.save(results)
    assert cache.load([*results, cache.key("model", "another")]) == results
    assert cache.load([]) == {}


def test_keys_tell_models_texts_and_surrogates_apart() -> None:
    assert len({cache.key(*parts) for parts in [("a", "bc"), ("ab", "c"), ("a", "b"), ("abc",)]}) == 4
    assert cache.key("a", "\ud800") == cache.key("a", "?"), "as the encoder is given it"


def test_two_processes_write_at_once_and_nothing_is_lost() -> None:
    writers = [write(0, 60), write(30, 60)]
    assert [writer.communicate()[0].count("\n") for writer in writers] == [60, 60]
    expected = written(range(90))
    assert cache.load(expected) == expected


def test_threads_that_begin_at_once_lose_nothing() -> None:
    """The very first ones find no file, and each wants to make it."""
    start = threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        cache.save(written(range(number, number + 2)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.load(written(range(9))) == written(range(9))


def test_a_killed_process_leaves_it_whole() -> None:
    for first in (0, 1000, 2000):
        writer = write(first, 1000)
        assert writer.stdout
        last = [writer.stdout.readline() for _ in range(8)][-1]
        writer.kill()
        writer.communicate()
        expected = written(range(first, int(last) + 1))
        assert cache.load(expected) == expected, "all that it said was kept is kept"
    with closing(sqlite3.connect(file())) as store:
        assert store.execute("pragma integrity_check").fetchall() == [("ok",)]
    assert len(cache.load(written(range(8)))) == 80


@pytest.mark.parametrize("content", [b"not a database" * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_broken_file_is_no_fault_and_left_alone(content: bytes) -> None:
    file().parent.mkdir(parents=True)
    file().write_bytes(content)
    cache.save(written(range(1)))
    assert cache.load(written(range(1))) == {}
    assert file().read_bytes() == content


def test_a_file_broken_in_the_middle_gives_back_nothing_wrong() -> None:
    expected = written(range(100))
    cache.save(expected)
    content = bytearray(file().read_bytes())
    for at in range(5000, len(content), 10_000):
        content[at : at + 10] = b"\xff" * 10
    file().write_bytes(content)
    found = cache.load(expected)
    assert all(expected[name] == value for name, value in found.items())
    assert len(found) < len(expected)
    cache.save(expected)


@pytest.mark.parametrize("damage", ["'text'", "7", "x''", "x'00000000'", "(select max(value) from results)"])
def test_a_damaged_result_counts_as_missing_and_is_mended(damage: str) -> None:
    expected = written(range(2))
    cache.save(expected)
    name = next(iter(expected))
    with closing(sqlite3.connect(file())) as store, store:
        store.execute(f"update results set value = {damage} where key = ?", (name,))
    assert cache.load(expected) == {key: value for key, value in expected.items() if key != name}
    cache.save({name: expected[name]})
    assert cache.load(expected) == expected


@pytest.mark.parametrize("word", ["off", "OFF"])
def test_switched_off_it_leaves_no_trace(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHUNKLIB_CACHE", word)
    cache.save(written(range(1)))
    assert cache.location() is None
    assert cache.load(written(range(1))) == {}
    assert list(tmp_path.iterdir()) == []


def test_without_a_wish_it_lies_in_the_users_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHUNKLIB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "chunklib" in file().parts
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    assert cache.location() is None


def test_a_folder_that_cannot_be_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_file").write_bytes(b"")
    monkeypatch.setenv("CHUNKLIB_CACHE", str(tmp_path / "a_file"))
    cache.save(written(range(1)))
    assert cache.load(written(range(1))) == {}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only to root")
def test_a_read_only_folder_is_no_fault(folder: Path) -> None:
    cache.save(written(range(1)))
    folder.chmod(0o500)
    try:
        cache.save(written(range(2)))
        assert cache.load(written(range(1))).keys() <= written(range(1)).keys()
    finally:
        folder.chmod(0o700)


def test_a_full_disk_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite says of a file that may have no more pages what it says of a disk that has none."""
    cache.save(written(range(1)))
    begin = cache._begin

    def full(store: sqlite3.Connection) -> None:
        begin(store)
        store.execute("pragma max_page_count = 1")  # as many as there are

    monkeypatch.setattr(cache, "_begin", full)
    cache.save(written(range(100)))
    assert cache.load(written(range(100))) == written(range(1))


def test_a_locked_file_is_read_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_PATIENCE", 0.05)
    cache.save(written(range(1)))
    with closing(sqlite3.connect(file())) as store:
        store.execute("begin immediate")
        cache.save(written(range(2)))
        assert cache.load(written(range(2))) == written(range(1))


@pytest.mark.parametrize("size", [100, 1500, 20_000])
def test_it_stays_within_its_bound_whatever_the_size_and_forgets_the_oldest(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "LIMIT", 400_000)
    kept = {cache.key(str(n)): b"%6d" % n * (size // 6) for n in range(1_000_000 // size)}
    names = list(kept)
    step = max(1, 15_000 // size)
    for at in range(0, len(names), step):
        cache.save({name: kept[name] for name in names[at : at + step]})
        assert file().stat().st_size < 800_000
    found = cache.load(names)
    assert list(found) == names[-len(found) :], "the newest"
    assert 100_000 < sum(map(len, found.values())) < 400_000
    cache.save({names[0]: b"x" * 1_000_000})
    cache.save({names[1]: kept[names[1]]})
    assert cache.load(names[:2]).get(names[1]) == kept[names[1]], "one that is larger than all does not stay"


def test_reading_writes_nothing() -> None:
    cache.save(written(range(1)))
    before = file().read_bytes()
    assert cache.load(written(range(1))) == written(range(1))
    assert file().read_bytes() == before
