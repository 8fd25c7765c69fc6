# SPDX-License-Identifier: MIT
"""Parent-child: the two stores agree whatever is written, changed, removed, or cut short."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunklib.core.document import Chunk, Document
from chunklib.fixed_size import split_fixed_size
from chunklib.parent_child import ParentHit, families
from chunklib.recursive import split_recursive
from chunklib.search.evaluation import evaluate
from chunklib.search.ledger import Report
from chunklib.search.mappings import RedisMapping, SQLiteMapping
from chunklib.search.parents import Change, ParentChildIndex
from chunklib.search.stores import QdrantVectors, VectorStore
from tests.laws import hard_text
from tests.stores import Encoder, Fuse, FusedMapping, FusedVectors, Killed, redis_server
from tools.ray_run import contents

PARENTS = partial(split_recursive, chunk_size=10, length="words")
CHILDREN = partial(split_recursive, chunk_size=5, length="words")


def index_of(
    vectors: VectorStore | None = None, parents: MutableMapping[str, str] | None = None, **known: Any
) -> ParentChildIndex:
    known = {
        "parent_splitter": PARENTS, "child_splitter": CHILDREN, "embed": Encoder(), "namespace": "tested", **known
    }  # fmt: skip
    return ParentChildIndex(vectors, parents, **known)


def state(index: ParentChildIndex) -> Any:
    return contents(index.vectors, index.parents)


def fresh(*documents: Document, **known: Any) -> Any:
    index = index_of(**known)
    for document in documents:
        index.add(document)
    return state(index)


PUMP = Document.from_markdown(
    "# Pump\n\nThe pump holds water. The valve is red.\n\n## Care\n\nOil the pump weekly. Never use soap.", id="pump"
)


# --- Families ------------------------------------------------------------------------------------------------------


@given(hard_text, st.integers(2, 20), st.integers(1, 6), st.integers(0, 1))
def test_every_child_lies_in_its_parent_and_nothing_is_lost(text: str, large: int, small: int, overlap: int) -> None:
    document = Document(text, id="d")
    parent_splitter = partial(split_fixed_size, chunk_size=large, chunk_overlap=overlap, length="words")
    found = families(document, parent_splitter, partial(split_fixed_size, chunk_size=small, length="words"))
    for parent, children in found:
        assert parent.text == text[parent.start : parent.end]
        covered = {at for child in children for at in range(child.start, child.end)}
        assert all(at in covered or text[at].isspace() for at in range(parent.start, parent.end))
        for child in children:
            assert parent.start <= child.start < child.end <= parent.end
            assert child.text == text[child.start : child.end]
    indexes = [child.index for family in found for child in family.children]
    assert indexes == list(range(len(indexes)))
    ids = [chunk.id for family in found for chunk in (family.parent, *family.children)]
    assert len(set(ids)) == len(ids)


def test_a_parent_of_which_nothing_is_left_is_its_own_child() -> None:
    ((parent, (child,)),) = families(Document("abc", id="d"), lambda text: [(0, 3)], lambda text: [])
    assert (child.span, child.text) == (parent.span, "abc")
    assert child.id != parent.id


def test_a_child_splitter_that_leaves_its_parent_is_named() -> None:
    def too_far(text: str) -> list[tuple[int, int]]:
        return [(0, len(text) + 1)]

    with pytest.raises(ValueError, match=r"too_far returned \(0, 2\)"):
        families(Document("ab"), lambda text: [(0, 1), (1, 2)], too_far)


# --- Search --------------------------------------------------------------------------------------------------------


def test_parents_come_once_in_the_order_of_their_best_child() -> None:
    index = index_of()
    index.add(PUMP)
    hits = index.search("never soap", k_children=3, k_parents=2)
    assert len({hit.chunk.id for hit in hits}) == len(hits) == 2
    best = hits[0]
    assert best.chunk.text.endswith("Oil the pump weekly. Never use soap.")
    assert best.children[0].chunk.text.startswith("Never")
    assert best.score == best.children[0].score
    assert best.chunk.section_path == ("Pump", "Care")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        for child, _ in hit.children:
            assert child.text == PUMP.text[child.start : child.end]
            assert hit.chunk.start <= child.start < child.end <= hit.chunk.end
            assert child.section_path == PUMP.section_path(child.start, child.end)


def test_children_that_fill_the_first_places_do_not_crowd_out_parents() -> None:
    texts = eval(FAULTS["PC-01"]["make"])
    index = index_of(parent_splitter=lambda text: [(0, len(text.rstrip()))], child_splitter=partial(
        split_fixed_size, chunk_size=4, length="words"))  # fmt: skip
    for number, text in enumerate(texts):
        index.add(Document(text, id=str(number)))
    for k_children in (1, 3, 10, 13):
        hits = index.search("pump", k_children=k_children, k_parents=3)
        assert [hit.chunk.document_id for hit in hits][:1] == ["0"]
        assert {hit.chunk.document_id for hit in hits} == {"0", "1", "2"}
    assert len(index.search("pump", k_parents=2)) == 2
    assert len(index.search("pump", k_parents=9)) == 4
    assert len(index.search("pump", k_children=1, k_parents=1)[0].children) == 1
    assert len(index.search("pump", k_children=10, k_parents=1)[0].children) == 10


def test_a_filter_reads_the_childs_record() -> None:
    index = index_of()
    for language, text in (("en", "The pump holds water."), ("de", "Die Pumpe holds water.")):
        index.add(Document(text, id=language, metadata={"language": language}))
    for language in ("en", "de"):
        (hit,) = index.search("pump water", filter={"metadata.language": language})
        assert hit.chunk.metadata == {"language": language}
    assert index.search("pump", filter={"document_id": "fr"}) == []
    assert len(index.search("pump", filter={"document_id": ["en", "de"]})) == 2


def test_pages_and_sections_come_with_the_result() -> None:
    text = "First page says one.\fSecond page says two."
    index = index_of(parent_splitter=partial(split_recursive, chunk_size=5, length="words"))
    index.add(Document(text, id="d", pages=[0, text.index("\f") + 1], source="a.pdf", title="A"))
    hit = index.search("second two", k_parents=1)[0]
    assert (hit.chunk.page_number, hit.chunk.source, hit.chunk.title) == (2, "a.pdf", "A")
    assert hit.children[0].chunk.page_number == 2
    assert [hit.chunk.page_number for hit in index.search("page", filter={"page_number": 1})] == [1]


@pytest.mark.parametrize(("name", "value"), [("k_children", 0), ("k_parents", -1)])
def test_bad_numbers_are_named(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name}={value} must be 1 or more"):
        index_of().search("a", **{name: value})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="own_weight=2 must lie between 0 and 1"):
        index_of(own_weight=2)


def test_a_path_is_no_store_yet() -> None:
    wrong: Any = "/a/path"
    with pytest.raises(
        TypeError, match=r"^vectors='/a/path' must be a vector store, such as QdrantVectors\('/a/path'\)$"
    ):
        ParentChildIndex(wrong)
    with pytest.raises(TypeError, match=r"^parents='/a/path' must be a mapping, such as SQLiteMapping\('/a/path'\)$"):
        ParentChildIndex(parents=wrong)


def test_an_empty_index_and_a_blank_document_find_nothing() -> None:
    index = index_of()
    assert index.search("anything") == []
    index.add(Document(" \n ", id="blank"))
    assert index.search("anything") == []
    assert index.documents() == ["blank"]
    index.remove("blank")
    index.remove("never there")
    assert state(index) == ({}, {})


def test_a_parents_own_vector_can_be_mixed_in() -> None:
    # One child of A is nearer; taken as a whole B is.
    documents = [Document("pump alpha beta gamma delta epsilon", id="A"), Document("pump pump pump pump oil", id="B")]
    whole, halves = lambda text: [(0, len(text))], lambda text: [(0, text.index(" ")), (text.index(" ") + 1, len(text))]
    order = {}
    for weight in (0, 0.9):
        index = index_of(parent_splitter=whole, child_splitter=halves, own_weight=weight)
        for document in documents:
            index.add(document)
        hits = index.search("pump", k_parents=2)
        order[weight] = [hit.chunk.document_id for hit in hits]
        (query,), encoder = Encoder()(["pump"]), Encoder()
        for hit in hits:
            own = float(encoder([hit.chunk.text])[0] @ query)
            assert hit.score == pytest.approx((1 - weight) * hit.children[0].score + weight * own, abs=2e-5)
        assert all(child.text in hit.chunk.text for hit in hits for child, _ in hit.children)
    assert order == {0: ["A", "B"], 0.9: ["B", "A"]}


@pytest.mark.parametrize("own_weight", [0, 0.5])
def test_it_tells_what_was_encoded(own_weight: float) -> None:
    index = index_of(own_weight=own_weight, enrich=lambda chunk, document: replace(chunk, context=document.title))
    index.add(PUMP)
    index.add(OTHER)
    texts = [chunk.embedding_text for chunk in index.encoded]
    found = [family for document in (PUMP, OTHER) for family in families(document, PARENTS, CHILDREN)]
    read = [chunk for family in found for chunk in (*family.children, *([family.parent] if own_weight else ()))]
    titles = {document.id: document.title for document in (PUMP, OTHER)}
    assert sorted(texts) == sorted(replace(c, context=titles[c.document_id]).embedding_text for c in read)


def test_it_can_be_evaluated_like_any_index() -> None:
    from chunklib.core.span import Span
    from chunklib.search.evaluation import Question

    index = index_of()
    index.add(PUMP)
    at = PUMP.text.index("Never use soap.")
    question = Question("q", "never soap", "fact", "tune", ((("pump", Span(at, at + 15)),),))
    scores = evaluate(index, [question], k=1, budget=50)
    assert scores.hit.tolist() == scores.found.tolist() == [1]
    assert [chunk.index for chunk in index.chunks] == list(range(len(index.chunks)))


# --- Add, change, remove -------------------------------------------------------------------------------------------


def paragraphs(n: int, changed: int | None = None) -> Document:
    texts = [f"Paragraph {i} says {'another' if i == changed else 'one'} thing." for i in range(n)]
    return Document("\n\n".join(texts), id="d", title="d")


def test_only_what_is_new_is_encoded() -> None:
    encoder = Encoder()
    index = index_of(embed=encoder, child_splitter=partial(split_recursive, chunk_size=8, length="words"))
    first = index.add(paragraphs(100))
    assert (first.encoded, encoder.read) == (100, 101), "and one that says which encoder this is"
    assert index.add(paragraphs(100)) == Change(0, 0, 0, 100)
    assert index.add(paragraphs(100, changed=50))[:3] == (1, 100 - 50 + 50, 50 + 50)
    assert encoder.read == 102
    assert index.add(replace(paragraphs(100), title="Another title")).encoded == 1, "50 says one thing again"
    assert state(index) == fresh(replace(paragraphs(100), title="Another title"), child_splitter=index.child_splitter)


def test_a_chunk_that_moved_is_stored_anew_and_not_encoded() -> None:
    index = index_of(embed=(encoder := Encoder()))
    index.add(PUMP)
    before = encoder.read
    moved = replace(PUMP, text="One more.\n\n" + PUMP.text, headings=[
        h._replace(start=h.start + 11, end=h.end + 11) for h in PUMP.headings])  # fmt: skip
    index.add(moved)
    new = {child.text for family in families(moved, PARENTS, CHILDREN) for child in family.children} - {
        child.text for family in families(PUMP, PARENTS, CHILDREN) for child in family.children
    }
    assert encoder.read - before == len(new)
    hit = index.search("never soap", k_parents=1)[0]
    assert hit.chunk.text == moved.text[hit.chunk.start : hit.chunk.end]
    assert state(index) == fresh(moved)


def test_equal_texts_are_encoded_once_and_kept_apart() -> None:
    encoder = Encoder()
    index = index_of(embed=encoder, parent_splitter=partial(split_recursive, chunk_size=3, length="words"))
    text = "Refrain line.\n\nVerse one.\n\nRefrain line."
    for name in ("a", "b"):
        index.add(Document(text, id=name))
    assert encoder.read == 4 + 1
    assert len(index.search("refrain line", k_parents=9)) == 6
    index.remove("a")
    assert state(index) == fresh(Document(text, id="b"), parent_splitter=index.parent_splitter)


def test_a_context_is_encoded_and_not_quoted() -> None:
    def with_title(chunk: Chunk, document: Document) -> Chunk:
        return replace(chunk, context=document.title)

    index = index_of(enrich=with_title)
    index.add(PUMP)
    hit = index.search("never soap", k_parents=1)[0]
    assert (hit.chunk.context, hit.children[0].chunk.context) == ("Pump", "Pump")
    assert "Pump" not in hit.children[0].chunk.text
    assert index.add(PUMP).stored == 0
    plain = index_of(index.vectors, index.parents)
    assert plain.add(PUMP).encoded > 0, "another context is another embedding_text"
    assert state(plain) == fresh(PUMP)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    index = index_of(child_splitter=partial(split_recursive, chunk_size=8, length="words"))
    index.add(paragraphs(600), progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (600, 600)
    assert [done for done, _ in told] == [256, 512, 600]


def test_two_parents_with_one_id_are_refused() -> None:
    index = index_of(chunk_id=lambda document, level, text, ordinal: f"{level}-{text[:3]}")
    with pytest.raises(ValueError, match="two parents of document 'd' have the id 'parent-Par'"):
        index.add(paragraphs(10))
    assert state(index) == ({}, {})


def test_a_text_is_no_document_yet_and_leaves_nothing_behind() -> None:
    index = index_of()
    with pytest.raises(TypeError, match=r"^document='text' must be a Document, such as Document\(text\)$"):
        index.add("text")  # type: ignore[arg-type]
    assert state(index) == ({}, {})
    assert not index.parents


def test_a_missing_parent_is_reported_and_mended() -> None:
    index = index_of()
    index.add(PUMP)
    whole = state(index)
    for key in [key for key in index.parents if key.startswith("parent:")]:
        record = index.parents.pop(key)
        with pytest.raises(LookupError, match=r"a parent of document 'pump' is missing .*add the document again"):
            index.search("pump water soap valve", k_children=99, k_parents=99)
        assert index.repair() == Report(0, ("pump",))
        assert index.add(PUMP).encoded == 0
        assert index.parents[key] == record
    point = next(iter(index.vectors.ids()))
    index.vectors.delete([point])
    assert index.repair() == Report(0, ("pump",))
    assert index.add(PUMP).encoded == 1
    assert index.repair() == Report(0, ())
    assert state(index) == whole


def test_what_belongs_to_no_document_is_deleted_and_what_is_not_ours_stays() -> None:
    index = index_of(None, {"theirs": "untouched", "parent:stray": "{}"})
    index.add(OTHER)
    index.add(PUMP)
    del index.parents["manifest:pump"]
    assert {hit.chunk.document_id for hit in index.search("pump")} == {"other"}
    lost = index.repair()
    assert lost.deleted == len(fresh(PUMP)[0]) + len(fresh(PUMP)[1]) - 1 + 1
    points, texts = fresh(OTHER)
    assert state(index) == (points, {**texts, "theirs": "untouched"})


def test_results_pickle() -> None:
    index = index_of()
    index.add(PUMP)
    hits = index.search("soap")
    assert pickle.loads(pickle.dumps(hits)) == hits


def test_an_index_on_servers_pickles(tmp_path: Path) -> None:
    index = index_of(QdrantVectors(tmp_path / "v"), SQLiteMapping(tmp_path / "p.sqlite"), child_splitter=PARENTS)
    index.add(PUMP)
    hits = index.search("soap")
    text = pickle.dumps(index)
    assert isinstance(index.vectors, QdrantVectors)
    assert isinstance(index.parents, SQLiteMapping)
    index.vectors.close()
    index.parents.close()
    again = pickle.loads(text)
    assert again.search("soap") == hits
    again.vectors.close()
    again.parents.close()


# --- Killed at every write -----------------------------------------------------------------------------------------

OTHER = Document("Another pump, of another maker. The pump is blue.", id="other")
CHANGED = Document.from_markdown(
    "# Pump\n\nNew here. The pump holds water. The valve is green.\n\n## Care\n\nOil the pump weekly. Never use acid.",
    id="pump",
)
QUERIES = ("pump holds water", "never use soap", "never use acid", "valve", "another maker")
Step = Callable[[ParentChildIndex], Any]
CHANGES: dict[str, tuple[Step, list[Document], list[Document]]] = {
    "add": (lambda index: index.add(PUMP), [OTHER], [OTHER, PUMP]),
    "change": (lambda index: index.add(CHANGED), [OTHER, PUMP], [OTHER, CHANGED]),
    "remove": (lambda index: index.remove("pump"), [OTHER, PUMP], [OTHER]),
    "empty": (lambda index: index.add(Document("", id="pump")), [OTHER, PUMP], [OTHER, Document("", id="pump")]),
}
THIRD = Document("A third thing.", id="third")
#: What comes next -> the documents that there are then, given those of one complete version.
NEXT: dict[str, tuple[Step, Callable[[list[Document]], list[Document]]]] = {
    "repair": (lambda index: index.repair(), lambda them: them),
    "add another": (lambda index: index.add(THIRD), lambda them: [*them, THIRD]),
    "remove another": (lambda index: index.remove("other"), lambda them: [d for d in them if d.id != "other"]),
    "add the same": (lambda index: index.add(CHANGED), lambda them: [*(d for d in them if d.id != "pump"), CHANGED]),
}
Stores = tuple[VectorStore, MutableMapping[str, str]]


def answers(index: ParentChildIndex) -> list[list[ParentHit]]:
    return [index.search(query, k_children=4, k_parents=3) for query in QUERIES]


KNOWN: dict[str, Any] = {}


def reference(documents: list[Document], **known: Any) -> Any:
    """Answers and state of stores into which the documents were put, and nothing else ever."""
    key = repr((documents, known))
    if key not in KNOWN:
        index = index_of(**known)
        for document in documents:
            index.add(document)
        KNOWN[key] = answers(index), state(index)
    return KNOWN[key]


def copy_of(index: ParentChildIndex, **known: Any) -> ParentChildIndex:
    vectors = QdrantVectors()
    vectors.upsert(list(index.vectors.get(list(index.vectors.ids())).values()))
    return index_of(vectors, dict(index.parents), **known)


@pytest.mark.parametrize(("change", "own_weight"), [*((change, 0) for change in CHANGES), ("change", 0.5)])
def test_killed_at_every_write(change: str, own_weight: float) -> None:
    step, before, after = CHANGES[change]
    known: dict[str, Any] = {"own_weight": own_weight}
    versions = [reference(before, **known), reference(after, **known)]
    seen = set()
    for writes in itertools.count():
        index = index_of(**known)
        for document in before:
            index.add(document)
        fuse = Fuse(writes)
        try:
            step(index_of(FusedVectors(index.vectors, fuse), FusedMapping(index.parents, fuse), **known))
        except Killed:
            pass
        else:
            break
        found = answers(index)
        which = [found == said for said, _ in versions]
        assert any(which), f"after {writes} writes a search mixes versions"
        version = which.index(True)
        seen.add(version)
        for name, (following, then) in NEXT.items():
            survivor = copy_of(index, **known)
            following(survivor)
            wanted = reference(then([before, after][version]), **known)
            assert state(survivor) == wanted[1], f"after {writes} writes and {name}"
            assert answers(survivor) == wanted[0]
    assert state(index) == versions[1][1]
    assert writes > 8
    assert seen == {0, 1}


def test_killed_again_while_clearing_up() -> None:
    """Whatever is interrupted, and however often, the end is the same."""
    for first in range(0, 40, 3):
        index = index_of()
        index.add(PUMP)
        fuse = Fuse(first)
        try:
            index_of(FusedVectors(index.vectors, fuse), FusedMapping(index.parents, fuse)).add(CHANGED)
        except Killed:
            for left in range(12):
                fuse = Fuse(left)
                try:
                    index_of(FusedVectors(index.vectors, fuse), FusedMapping(index.parents, fuse)).repair()
                except Killed:
                    assert answers(index) in (reference([PUMP])[0], reference([CHANGED])[0])
        index.add(CHANGED)
        assert state(index) == fresh(CHANGED)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as address:
        yield address


def on_disk(folder: Path, kind: str, url: str) -> Stores:
    vectors = QdrantVectors(folder / "vectors")
    if kind == "sqlite":
        return vectors, SQLiteMapping(folder / "parents.sqlite")
    return vectors, RedisMapping(url, prefix=f"{folder.name}:")


def close(index: ParentChildIndex) -> None:
    index.vectors.close()  # type: ignore[attr-defined]
    index.parents.close()  # type: ignore[attr-defined]


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.parametrize("kind", ["sqlite", "redis"])
@pytest.mark.parametrize("change", ["add", "change", "remove"])
def test_the_process_itself_is_killed(kind: str, change: str, tmp_path: Path, url: str) -> None:
    """A real Qdrant folder with SQLite or a real server; the process ends by `os._exit` before write number n."""
    step, before, after = CHANGES[change]
    versions = [reference(before), reference(after)]
    first = index_of(QdrantVectors(tmp_path / "first"), {})
    for document in before:
        first.add(document)
    first.vectors.close()  # type: ignore[attr-defined]
    for writes in itertools.count(0, 2 if kind == "redis" else 1):
        folder = tmp_path / f"{kind}{change}{writes}"
        shutil.copytree(tmp_path / "first", folder / "vectors")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # "multi-threaded, use of fork()"
            child = os.fork()
        if child == 0:
            code = 1
            try:
                vectors, parents = on_disk(folder, kind, url)
                parents.update(first.parents)
                fuse = Fuse(writes, really=True)
                step(index_of(FusedVectors(vectors, fuse), FusedMapping(parents, fuse)))
                code = 0
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9)
        index = index_of(*on_disk(folder, kind, url))
        which = [answers(index) == said for said, _ in versions]
        assert any(which), f"after {writes} writes a search mixes versions"
        index.repair()
        assert state(index) == versions[which.index(True)][1]
        step(index)
        assert state(index) == versions[1][1]
        close(index)
        if code == 0:
            break
    assert writes > 8


# --- Against a plain dictionary ------------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "c"])
TEXTS = st.lists(
    st.sampled_from(
        ["The pump holds water.", "Oil it weekly.", "Never use soap.", "\n\n", "The valve is red.", "ß \ud83d"]
    ),
    max_size=8,
).map(" ".join)
ACTIONS = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "repair"]), NAMES, TEXTS, st.none() | st.integers(0, 30)), max_size=12
)


@settings(deadline=None, max_examples=30)
@given(ACTIONS)
@example([("add", "a", "The pump holds water.", None), ("add", "a", "The pump holds water. " * 2, 6)])
@example([("add", "a", "The pump holds water.", None), ("add", "a", "The pump holds water. " * 2, 5)])
def test_like_a_dictionary_of_documents(actions: list[tuple[str, str, str, int | None]]) -> None:
    model: dict[str, str] = {}
    index = index_of()
    for action, name, text, writes in actions:
        fuse = Fuse(float("inf") if writes is None else writes)
        fused = index_of(FusedVectors(index.vectors, fuse), FusedMapping(index.parents, fuse))
        then = {**model, name: text} if action == "add" else {k: v for k, v in model.items() if k != name}
        then = model if action == "repair" else then
        try:
            if action == "add":
                fused.add(Document(text, id=name))
            elif action == "remove":
                fused.remove(name)
            else:
                fused.repair()
        except Killed:
            # Which version holds is told by what a reader sees, and the whole of it must be that version. It is a new
            # one: who remembers the old manifest may answer from it until the change is told, which a death may delay.
            index = index_of(index.vectors, index.parents)
            found = [answers(index) == reference(documents(them))[0] for them in (model, then)]
            assert any(found)
            manifest = index.parents.get(f"manifest:{name}")
            committed = reference(documents(then))[1][1].get(f"manifest:{name}")
            model = then if manifest == committed else model
        else:
            model = then
            assert state(index) == reference(documents(model))[1]
        assert answers(index) == reference(documents(model))[0]
    index.repair()
    assert state(index) == reference(documents(model))[1]


def documents(texts: dict[str, str]) -> list[Document]:
    return [Document(text, id=name) for name, text in texts.items()]


# --- Reported faults -----------------------------------------------------------------------------------------------

ROWS = [json.loads(row) for row in Path(__file__).with_name("reported_faults.jsonl").read_bytes().decode().splitlines()]
FAULTS: dict[str, Any] = {row["id"]: row for row in ROWS}


def test_adding_a_changed_document_again() -> None:
    first, second = eval(FAULTS["PC-03"]["make"])
    index = index_of()
    index.add(Document(first, id="m"))
    index.add(Document(second, id="m"))
    hits = index.search("limit", k_children=99)
    assert [hit.chunk.text for hit in hits] == [second]
    assert not any("5 bar" in child.text for hit in hits for child, _ in hit.children)
    assert state(index) == fresh(Document(second, id="m"))
    index.add(Document(second, id="m"))
    assert state(index) == fresh(Document(second, id="m"))


def test_a_document_shorter_than_every_level() -> None:
    index = index_of(parent_splitter=partial(split_recursive, chunk_size=200), child_splitter=partial(
        split_recursive, chunk_size=20))  # fmt: skip
    index.add(Document(FAULTS["PC-05"]["input"], id="d"))
    (hit,) = index.search("tiny")
    assert [child.chunk.span for child in hit.children] == [hit.chunk.span] == [(0, 9)]
    (manifest,) = (json.loads(text) for key, text in index.parents.items() if key.startswith("manifest:"))
    assert all(key in index.parents for key, *_ in manifest["parents"].values())
    assert {p.payload["parent_id"] for p in index.vectors.get(list(index.vectors.ids())).values()} == set(
        manifest["parents"]
    )


def test_offsets_are_those_of_the_document() -> None:
    text = eval(FAULTS["PC-07"]["make"])
    found = families(Document(text), partial(split_recursive, chunk_size=40), partial(split_recursive, chunk_size=20))
    assert len(found) > 3
    assert all(text[c.start : c.end] == c.text and p.start <= c.start < c.end <= p.end for p, cs in found for c in cs)
    assert all(a.parent.end <= b.parent.start for a, b in itertools.pairwise(found))


def test_parent_and_child_that_start_at_the_same_place_differ() -> None:
    text = FAULTS["IDS-03"]["input"]
    words = partial(partial, split_fixed_size, length="words")
    (family,) = families(Document(text), words(chunk_size=9), words(chunk_size=2))
    assert (family.parent.span, family.children[0].span) == ((0, 40), (0, 7))
    assert family.parent.id != family.children[0].id
    ((parent, (child,)),) = families(Document(text), words(chunk_size=9), words(chunk_size=9))
    assert parent.text == child.text
    assert parent.id != child.id


def test_a_name_in_a_filter_that_no_record_has_is_refused() -> None:
    index = index_of()
    index.add(PUMP)
    for wrong in ("language", "documentid", "text"):
        with pytest.raises(ValueError, match=f"filter names '{wrong}', which no record has"):
            index.search("pump", filter={wrong: "en"})


def test_an_encoder_may_return_lists_of_any_length() -> None:
    units = Encoder()
    index = index_of(embed=lambda texts: [[3 * float(x) for x in row] for row in units(texts)])
    other = index_of(embed=units)
    for some in (index, other):
        some.add(PUMP)
    found, wanted = index.search("oil the pump"), other.search("oil the pump")
    assert [hit.chunk for hit in found] == [hit.chunk for hit in wanted]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in wanted], abs=1e-6)
