# SPDX-License-Identifier: MIT
"""More than one process: the same result as in one, and nothing lost or doubled whatever dies."""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunklib.core.document import Document, chunk_documents
from chunklib.core.span import Splitter
from chunklib.production.scaling import (
    Encoded,
    EncodingWorker,
    Refused,
    _split_row,
    add_encoded,
    chunk_in_processes,
    encode_document,
    spread,
    texts_to_encode,
    try_encode,
)
from chunklib.search.mappings import SQLiteMapping
from chunklib.search.parents import ParentChildIndex
from tests.stores import Encoder
from tools.notebooks import ROOT
from tools.ray_run import contents as both

WORDS = "The return window is {} days. A faulty item may come back later.\n\nKeep the receipt number {}."


def documents(n: int) -> list[Document]:
    return [Document(WORDS.format(i, i), id=f"d{i}", metadata={"n": i}) for i in range(n)]


# What workers run has to be importable there, so it stands here.


def picky(texts: Sequence[str]) -> Any:
    if any("window is 1 days" in text for text in texts):
        raise ValueError("the window of d1 is odd")
    return Encoder()(texts)


def halves(text: str) -> list[tuple[int, int]]:
    middle = len(text) // 2
    return [(0, middle), (middle, len(text))] if text else []


def whole(text: str) -> list[tuple[int, int]]:
    return [(0, len(text))]


def number(document: Document) -> int:
    return int(document.metadata["n"])


def fails_at(document: Document, *, n: int) -> int:
    if number(document) == n:
        raise KeyError("no such page")
    return number(document)


def dies_at(document: Document, *, n: int, once: str = "") -> int:
    """End the whole process as a kill from outside would; ``once``: a file that says it has happened."""
    if number(document) == n and not (once and Path(once).exists()):
        if once:
            Path(once).touch()
        os._exit(9)
    return number(document)


def waits(document: Document, *, last: int, folder: str) -> int:
    """The first document waits until the last one is done."""
    Path(folder, str(number(document))).touch()
    while number(document) == 0 and not Path(folder, str(last)).exists():
        time.sleep(0.01)
    return number(document)


def large(document: Document) -> bytes:
    return b" " * (2_000_000 + number(document))


def ignores_interrupts(document: Document) -> bool:
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def works_with(document: Document, *, lock: Any) -> int:
    return number(document)


def not_to_pickle(document: Document) -> Any:
    return (letter for letter in document.text)


class Mortal:
    """An encoder whose process is killed once, in the middle of a batch."""

    def __init__(self, once: str) -> None:
        self.once, self.encode = once, Encoder()

    def __call__(self, texts: Sequence[str]) -> Any:
        if len(texts) > 1 and any("window is 30 " in text for text in texts) and not Path(self.once).exists():
            Path(self.once).touch()
            os.kill(os.getpid(), signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        return self.encode(texts)


# --- Over processes --------------------------------------------------------------------------------------------------


def test_chunks_are_those_of_one_process_in_order() -> None:
    some = [*documents(20), Document("", id="empty"), Document("<p>", id="page", media_type="text/html")]
    per_type: dict[str, Splitter] = {"text/html": whole}
    expected = list(chunk_documents(some, halves, per_type=per_type))
    assert list(chunk_in_processes(iter(some), halves, per_type=per_type, workers=2, batch=3)) == expected


def test_documents_are_read_as_they_are_needed(tmp_path: Path) -> None:
    """The first document waits for the eighth, and the ninth is not read before the first has come back."""
    waiting: list[bool] = []

    def lazily() -> Iterator[Document]:
        for document in documents(100):
            waiting.append(not Path(tmp_path, "7").exists())
            yield document

    results = spread(partial(waits, last=7, folder=str(tmp_path)), lazily(), workers=2, batch=2)
    assert waiting == []
    assert list(islice(results, 6)) == [0, 1, 2, 3, 4, 5]
    results.close()  # type: ignore[attr-defined]
    assert sum(waiting) <= 8
    assert len(waiting) <= 6 + 8
    assert multiprocessing.active_children() == []


def test_an_error_names_its_document_and_keeps_what_came_before() -> None:
    results = spread(partial(fails_at, n=6), documents(9), workers=1, batch=4)
    assert list(islice(results, 6)) == list(range(6))
    with pytest.raises(RuntimeError, match=r"^document 'd6': KeyError: 'no such page'$"):
        next(results)


def test_a_killed_worker_loses_and_doubles_nothing(tmp_path: Path) -> None:
    once = tmp_path / "died"
    assert list(spread(partial(dies_at, n=6, once=str(once)), documents(30), workers=2, batch=4)) == list(range(30))
    assert once.exists()


@pytest.fixture
def limited() -> Iterator[None]:
    """A hang would be worse than a failure."""
    faulthandler.dump_traceback_later(900, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.mark.usefixtures("limited")
def test_workers_killed_at_any_moment() -> None:
    moments, found = random.Random(13), list[int]()
    for result in spread(number, documents(60), workers=2, batch=1):
        found.append(result)
        # No document is on its way for 6 results, so none dies twice.
        if len(found) % 6 == 0 and (living := multiprocessing.active_children()):
            time.sleep(moments.random() / 50)
            moments.choice(living).kill()
    assert found == list(range(60))


@pytest.mark.usefixtures("limited")
def test_thirty_workers_killed_while_they_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result fills the pipe many times over, so until all is read a worker stands in the middle of sending it."""
    found, armed, killed = list[int](), True, 0

    def kill(pipes: list[Any]) -> list[Any]:
        nonlocal armed, killed
        ready = wait(pipes)
        if armed and killed < 30:
            for victim in multiprocessing.active_children():
                victim.kill()
                killed += 1
        armed = False
        return ready

    monkeypatch.setattr("chunklib.production.scaling.wait", kill)
    for result in spread(large, documents(180), workers=2, batch=1):
        found.append(len(result) - 2_000_000)
        armed = armed or len(found) % 6 == 0
    assert found == list(range(180))
    assert killed >= 30, "one at least for every 6 results"


@pytest.mark.usefixtures("limited")
def test_an_interrupt_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(pipes: list[Any]) -> list[Any]:
        raise KeyboardInterrupt

    results = spread(ignores_interrupts, documents(9), workers=2, batch=1)
    assert next(results), "the workers leave it to this process"
    monkeypatch.setattr("chunklib.production.scaling.wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        list(results)
    assert multiprocessing.active_children() == []


def test_a_document_that_kills_every_worker_is_named() -> None:
    results = spread(partial(dies_at, n=5), documents(9), workers=2, batch=2)
    assert list(islice(results, 5)) == list(range(5))
    with pytest.raises(RuntimeError, match="died, one after the other, while document 'd5' was in work"):
        next(results)


@pytest.mark.parametrize("work", [lambda document: 1, partial(works_with, lock=threading.Lock())])
def test_work_that_cannot_travel(work: Any) -> None:
    with pytest.raises(TypeError, match=r"cannot be handed to another process .*; take a function of a module"):
        list(spread(work, documents(2), workers=1))


def test_work_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a function of a notebook: this process has it, a spawned one does not."""

    def mine(document: Document) -> int:
        return 1

    mine.__module__, mine.__qualname__ = "chunklib.core.span", "mine"
    monkeypatch.setattr("chunklib.core.span.mine", mine, raising=False)
    with pytest.raises(TypeError, match=r"cannot be handed to another process .*'mine'"):
        list(spread(mine, documents(2), workers=1))


def test_a_result_that_cannot_travel_names_its_document() -> None:
    with pytest.raises(RuntimeError, match="document 'd0': TypeError: cannot pickle 'generator'"):
        list(spread(not_to_pickle, documents(2), workers=1))


def test_a_document_that_cannot_travel_is_named() -> None:
    some = [*documents(3), Document("a", id="locked", metadata={"lock": threading.Lock()})]
    results = spread(number, some, workers=1, batch=4)
    assert list(islice(results, 3)) == [0, 1, 2]
    with pytest.raises(RuntimeError, match="document 'locked': TypeError: cannot pickle"):
        next(results)


@pytest.mark.parametrize("settings", [{"workers": 0}, {"batch": 0}])
def test_bad_settings(settings: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="=0 must be 1 or more"):
        spread(number, [], **settings)


# --- Vectors made by many, stored by one -----------------------------------------------------------------------------


def opened(folder: Path, embed: Any = None) -> ParentChildIndex:
    from chunklib.search.stores import QdrantVectors

    vectors, texts = QdrantVectors(folder / "vectors"), SQLiteMapping(folder / "parents")
    return ParentChildIndex(vectors, texts, embed=embed or Encoder(), namespace="t")


def in_memory(embed: Any = None, **settings: Any) -> ParentChildIndex:
    return ParentChildIndex(embed=embed or Encoder(), namespace="t", **settings)


def contents(index: ParentChildIndex) -> tuple[Any, ...]:
    return both(index.vectors, index.parents)


def test_stored_as_by_one_process(tmp_path: Path) -> None:
    plain, index = in_memory(), in_memory()
    for document in documents(6):
        plain.add(document)
    for encoded in spread(partial(encode_document, embed=Encoder()), documents(6), workers=2, batch=2):
        assert add_encoded(index, encoded).stored
    assert contents(index) == contents(plain)
    assert isinstance(index.embed, Encoder)
    assert index.embed.read == 1, "the writer encodes nothing but what tells this encoder from another, once"


def test_other_settings_cost_time_but_no_wrong_vector() -> None:
    encoder = Encoder()
    index, plain = in_memory(encoder, child_splitter=halves), in_memory(child_splitter=halves)
    plain.add(documents(1)[0])
    add_encoded(index, encode_document(documents(1)[0], embed=Encoder(), child_splitter=whole))
    assert encoder.read == 3, "two texts, and the settings"
    assert contents(index) == contents(plain)


def test_half_a_character_is_found_again() -> None:
    broken = Document("half \ud83d here", id="b")
    index = in_memory()
    assert add_encoded(index, encode_document(broken, embed=Encoder()))[:2] == (0, 2)
    assert isinstance(index.embed, Encoder)
    assert index.embed.read == 1, "the settings"


def test_enriched_texts_are_those_that_are_encoded() -> None:
    from chunklib.enrichment import add_context

    document = Document.from_markdown("# Returns\n\nThirty days.\n\n## Faults\n\nSixty days.", id="policy")
    index = in_memory(enrich=add_context)
    add_encoded(index, encode_document(document, embed=Encoder(), enrich=add_context))
    assert isinstance(index.embed, Encoder)
    assert index.embed.read == 1, "the settings"


def test_a_job_that_was_broken_off_is_taken_up_again(tmp_path: Path) -> None:
    plain = in_memory()
    for document in documents(12):
        plain.add(document)
    index = opened(tmp_path)
    results = spread(partial(encode_document, embed=Mortal(str(tmp_path / "died"))), documents(12), workers=2, batch=2)
    for encoded in islice(results, 5):
        add_encoded(index, encoded)
    results.close()  # type: ignore[attr-defined]
    index.vectors.close()  # type: ignore[attr-defined]

    index = opened(tmp_path)
    done = index.documents()
    assert len(done) == 5
    rest = [document for document in documents(12) if document.id not in done]
    for encoded in spread(partial(encode_document, embed=Encoder()), [documents(12)[0], *rest], workers=2):
        change = add_encoded(index, encoded)
        assert (change.stored == 0) == (encoded.document.id == "d0"), "the one that was there already changes nothing"
    assert contents(index) == contents(plain)
    index.vectors.close()  # type: ignore[attr-defined]


def test_a_document_that_cannot_be_encoded_is_handed_back_and_the_rest_goes_on() -> None:
    some = documents(4)
    results = list(spread(partial(try_encode, embed=picky), some, workers=2, batch=1))
    assert [type(result) for result in results] == [Encoded, Refused, Encoded, Encoded]
    assert results[1] == Refused(some[1], "ValueError: the window of d1 is odd")


# --- Ray -------------------------------------------------------------------------------------------------------------


def test_the_rows_of_an_encoding_worker() -> None:
    """The body of the actor, without Ray."""
    worker = EncodingWorker(Encoder())
    rows = worker({"at": np.array([0, 0]), "text": np.array(["a b", "c"], dtype=object)})
    assert rows["at"].tolist() == [0, 0]
    assert rows["vector"].tolist() == Encoder()(["a b", "c"]).tolist()


@pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="the extra [scale] is not installed")
def test_a_worker_of_ray_is_killed(tmp_path: Path) -> None:
    """In a process of its own, since Ray leaves processes and files behind that pytest warns of."""
    command = [sys.executable, "-m", "tools.ray_run", str(tmp_path / "ray.json")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads((tmp_path / "ray.json").read_text(encoding="utf-8"))
    assert found["killed"] == 1
    assert found["processes that encoded"] > found["workers"]
    assert (found["lost"], found["doubled"]) == (0, 0)
    assert found["stores equal to those of one process"]


def test_the_rows_of_a_document() -> None:
    """The body of the map, without Ray."""
    row = {"at": 3, "document": pickle.dumps(Document("ab cd", id="d"))}
    assert _split_row(row, parent_splitter=whole, child_splitter=halves) == [
        {"at": 3, "part": 0, "of": 2, "text": "ab"},
        {"at": 3, "part": 1, "of": 2, "text": " cd"},
    ]
    row = {"at": 4, "document": pickle.dumps(Document(" ", id="blank"))}
    assert _split_row(row) == [{"at": 4, "part": -1, "of": 1, "text": ""}]


def test_texts_stand_once() -> None:
    assert texts_to_encode(Document("ab ab"), parent_splitter=whole, child_splitter=lambda text: [(0, 2), (3, 5)]) == [
        "ab"
    ]
