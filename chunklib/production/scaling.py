# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, an encoder; ray[data] for `encode_with_ray` alone.
"""More than one process: documents go out to workers, results come back in order, and a dead worker costs no document.

When to use it: where the encoder takes hours. `spread` runs any function of a document on the cores of one machine,
`encode_with_ray` runs splitter and encoder on those of a cluster. Either way one process writes: `add_encoded` stores a
document whose vectors others made, and storing it twice is the same as once.

But: splitting alone gains little, since sending documents to and fro takes about as long. What a worker runs has to be
importable there: a function of a module, or a ``functools.partial`` of one; neither a lambda nor one of a notebook.
Nothing is timed: a document at which the work hangs holds up the run, so put a limit into the work. Results come in
order, so a slow document holds back those after it, ``2 * workers * batch`` of them at most.

Cost: starting a worker takes about a second, and 5 to 8 s more where it loads the encoder. In memory at a time: a
document for each worker, and the results of ``2 * workers * batch`` of them at most.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from chunklib.core.document import Chunk, Document, chunk_documents
from chunklib.core.span import Splitter, check_count
from chunklib.core.vectors import Encoder, Vectors, unit_vectors
from chunklib.parent_child import CHILDREN, PARENTS, families
from chunklib.search.embedding import embed
from chunklib.search.parents import Change, Enrich, ParentChildIndex

R = TypeVar("R")
_DIED = (
    "two worker processes died, one after the other, while document {!r} was in work. It may need more memory than "
    "there is, or crash a library; or the script lacks its `if __name__ == '__main__':`"
)
_NOT_SENT = "the work cannot be handed to another process ({}); take a function of a module, or a partial of one"


def chunk_in_processes(
    documents: Iterable[Document],
    splitter: Splitter,
    *,
    per_type: Mapping[str, Splitter] | None = None,
    workers: int | None = None,
    batch: int = 8,
) -> Iterator[Chunk]:
    """What `chunk_documents` gives, in the same order, cut by several processes. Options and errors as for `spread`.

    >>> list(chunk_in_processes([], len))
    []
    """
    cut = partial(_chunks, splitter=splitter, per_type=per_type)
    return chain.from_iterable(spread(cut, documents, workers=workers, batch=batch))


def spread(
    work: Callable[[Document], R], documents: Iterable[Document], *, workers: int | None = None, batch: int = 8
) -> Iterator[R]:
    """``work`` of each document, in their order, done by ``workers`` processes.

    Parameters
    ----------
    workers: as many as there are cores, unless named; name them in a container, which may have fewer.
    documents: read lazily, at most ``2 * workers * batch`` ahead of what has come back.
    work: returns what can be pickled. It may run twice for a document if a worker dies, and its result comes back once.

    Where a worker dies (killed, out of memory), another takes its place and begins again with its document.
    Raises ``RuntimeError`` naming the document for which ``work`` failed, or at which a second worker died; all results
    before it have come back by then. ``TypeError`` where ``work`` cannot be handed to another process.
    """
    for name, value in (("workers", workers), ("batch", batch)):
        if value is not None:
            check_count(name, value, 1)
    try:
        sent = pickle.dumps(work)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise TypeError(_NOT_SENT.format(error)) from error
    workers = workers or os.cpu_count() or 1
    return _spread(sent, documents, workers, ahead=2 * workers * batch)


_Task = tuple[int, str, bytes | Exception]  # number and id of a document; the document pickled, or why it cannot be


def _spread(work: bytes, documents: Iterable[Document], workers: int, ahead: int) -> Iterator[Any]:
    rest = ((number, document.id, _pickled(document)) for number, document in enumerate(documents))
    crew: dict[Connection, BaseProcess] = {}  # each process by its pipe
    busy: dict[Connection, _Task] = {}
    results: dict[int, bytes | Exception] = {}  # that came back before their turn
    died_at: set[int] = set()
    begun = following = 0
    try:
        while True:
            while len(busy) < workers and begun - following < ahead and (task := next(rest, None)):
                idle = next((pipe for pipe in crew if pipe not in busy), None)
                _begin(task, idle or _hire(work, crew), busy)
                begun += 1
            if not busy:
                return
            for pipe in cast(list[Connection], wait(list(busy))):
                number, name, _ = task = busy.pop(pipe)
                try:
                    results[number] = pipe.recv()
                except (EOFError, OSError):  # the process died
                    _dismiss(pipe, crew)
                    if number in died_at:
                        results[number] = RuntimeError(_DIED.format(name))
                    else:
                        died_at.add(number)
                        _begin(task, _hire(work, crew), busy)
            while following in results:
                result = results.pop(following)
                following += 1
                if isinstance(result, Exception):
                    raise result
                yield pickle.loads(result)
    finally:
        for pipe in list(crew):
            _dismiss(pipe, crew)


def _pickled(document: Document) -> bytes | Exception:
    try:
        return pickle.dumps(document)
    except Exception as error:
        return _named(document.id, error)


def _hire(work: bytes, crew: dict[Connection, BaseProcess]) -> Connection:
    """Start a process with a pipe of its own.

    The standard library's pool has one pipe for all its workers. There, one that is killed while it sends holds a lock
    for ever, and everybody waits.
    """
    context = get_context("spawn")  # on every system: a forked process would inherit locks that other threads hold
    pipe, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, work), daemon=True)
    process.start()
    there.close()  # or its death would not end the pipe
    crew[pipe] = process
    return pipe


def _begin(task: _Task, pipe: Connection, busy: dict[Connection, _Task]) -> None:
    """Hand a task to a process that has none, so that never both sides wait to send."""
    busy[pipe] = task
    with suppress(OSError):  # it is dead, which reading will tell
        pipe.send(task[1:])


def _dismiss(pipe: Connection, crew: dict[Connection, BaseProcess]) -> None:
    process = crew.pop(pipe)
    process.kill()
    process.join()
    pipe.close()


def _serve(pipe: Connection, work: bytes) -> None:
    """In the worker: for each document its result, pickled, or what went wrong; until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the process that hands out the work
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # or each worker's encoder would start a thread for every core
    run: Callable[[Document], Any] | None = None
    with suppress(EOFError, OSError):
        while True:
            name, sent = pipe.recv()
            try:
                run = run or pickle.loads(work)
                answer = sent if isinstance(sent, Exception) else pickle.dumps(run(pickle.loads(sent)))
            except Exception as error:
                missing = run is None and isinstance(error, AttributeError | ImportError)
                answer = TypeError(_NOT_SENT.format(error)) if missing else _named(name, error)
            pipe.send(answer)


def _named(document_id: str, error: Exception) -> RuntimeError:
    return RuntimeError(f"document {document_id!r}: {type(error).__name__}: {error}")


def _chunks(document: Document, *, splitter: Splitter, per_type: Mapping[str, Splitter] | None) -> list[Chunk]:
    return list(chunk_documents([document], splitter, per_type=per_type))


# --- Vectors made by many, stored by one -----------------------------------------------------------------------------


class Encoded(NamedTuple):
    """A document and the vectors of the texts that its index is going to need: one row each."""

    document: Document
    texts: list[str]
    vectors: Vectors


def texts_to_encode(
    document: Document,
    *,
    parent_splitter: Splitter = PARENTS,
    child_splitter: Splitter = CHILDREN,
    enrich: Enrich | None = None,
) -> list[str]:
    """What a `ParentChildIndex` with the same settings has encoded for a document, each text once.

    >>> texts_to_encode(Document("One day.\\n\\nTwo days."), child_splitter=lambda text: [(0, 8), (10, 19)])
    ['One day.', 'Two days.']
    """
    children = chain.from_iterable(f.children for f in families(document, parent_splitter, child_splitter))
    read = ((enrich(child, document) if enrich else child).embedding_text for child in children)
    return list(dict.fromkeys(map(_readable, read)))


def encode_document(document: Document, *, embed: Encoder = embed, **settings: Any) -> Encoded:
    """Split and encode a document: work for `spread`. ``settings``: as for `texts_to_encode`."""
    texts = texts_to_encode(document, **settings)
    return Encoded(document, texts, unit_vectors(embed, texts))


class Refused(NamedTuple):
    """A document that could not be encoded, and why."""

    document: Document
    why: str


def try_encode(document: Document, *, embed: Encoder = embed, **settings: Any) -> Encoded | Refused:
    """As `encode_document`, but an error comes back as a `Refused`: for a run that is to go on all night.

    >>> try_encode(Document("One day."), embed=lambda texts: 1 / 0).why
    'ZeroDivisionError: division by zero'
    """
    try:
        return encode_document(document, embed=embed, **settings)
    except Exception as error:
        return Refused(document, f"{type(error).__name__}: {error}")


def add_encoded(index: ParentChildIndex, encoded: Encoded) -> Change:
    """``index.add(encoded.document)`` with vectors at hand; what is not among them, the index's own encoder reads.

    So other settings than the index has cost time, never a wrong vector. Once or twice is the same, and an error may
    be followed by the same call again.
    """
    return index.add(encoded.document, vectors=dict(zip(encoded.texts, encoded.vectors, strict=True)))


def _readable(text: str) -> str:
    """The text without halves of characters, which neither Arrow nor the encoder takes."""
    return text.encode("utf-8", "replace").decode()


# --- The same on Ray -------------------------------------------------------------------------------------------------


def encode_with_ray(
    documents: Sequence[Document],
    *,
    embed: Encoder = embed,
    workers: int = 2,
    batch: int = 64,
    address: str | None = None,
    **settings: Any,
) -> Iterator[Encoded]:
    """What `encode_document` gives for each document, by Ray Data: as each is ready, in no fixed order.

    ``address``: ``None`` for this machine, or that of a cluster (``"ray://head:10001"``, or ``"auto"`` on one of its
    machines). ``workers`` processes hold the encoder; each reads ``batch`` texts at a time. Splitting takes what cores
    are left, one at least. What a dead worker had in work, Ray gives to another. ``settings``: as for
    `texts_to_encode`.
    """
    import ray
    from ray.data import ActorPoolStrategy, from_items

    if not ray.is_initialized():
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # or it reports to its makers
        # On this machine, one core more than there are workers, or splitting would wait for ever.
        here: dict[str, Any] = {} if address else {"num_cpus": workers + 1, "include_dashboard": False}
        ray.init(address=address, log_to_driver=False, **here)
    rows = from_items([{"at": at, "document": pickle.dumps(document)} for at, document in enumerate(documents)])
    texts = rows.flat_map(_split_row, fn_kwargs=settings)
    encoded = texts.map_batches(
        EncodingWorker, fn_constructor_args=(embed,), batch_size=batch, compute=ActorPoolStrategy(size=workers)
    )
    parts: dict[int, dict[int, tuple[str, Any]]] = {}  # documents of which some texts are back
    for row in encoded.iter_rows():
        some = parts.setdefault(row["at"], {})
        some[row["part"]] = row["text"], row["vector"]
        if len(some) == row["of"]:
            del parts[row["at"]]
            ordered = [some[part] for part in sorted(some) if part >= 0]
            vectors = np.asarray([vector for _, vector in ordered], dtype=np.float32)
            yield Encoded(documents[row["at"]], [text for text, _ in ordered], vectors)


def _split_row(row: dict[str, Any], **settings: Any) -> list[dict[str, Any]]:
    """A row for each text of a document. One without any text has one row, part -1, to come back by."""
    texts = list(enumerate(texts_to_encode(pickle.loads(row["document"]), **settings))) or [(-1, "")]
    return [{"at": row["at"], "part": part, "of": len(texts), "text": text} for part, text in texts]


class EncodingWorker:
    """An encoder that stays: Ray makes one for each worker, so the model is loaded once and not for each batch."""

    def __init__(self, embed: Encoder) -> None:
        self.embed = embed
        embed(["ready"])

    def __call__(self, rows: dict[str, Any]) -> dict[str, Any]:
        """The rows with a vector each."""
        return {**rows, "vector": unit_vectors(self.embed, [str(text) for text in rows["text"]])}
