# SPDX-License-Identifier: MIT
"""Splitters and the parent-child index inside LangChain and LlamaIndex, tried with the real libraries."""

from __future__ import annotations

import asyncio
import inspect
import pickle
import re
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.document import Document, chunk_document
from chunklib.core.span import Splitter
from chunklib.production import adapters
from chunklib.recursive import MARKDOWN, PROSE, split_recursive
from chunklib.search.parents import ParentChildIndex
from chunklib.sentence import split_sentences
from tests.laws import hard_text
from tests.stores import Encoder

# "Ask us." stands three times: whoever searches for it finds the first.
TEXT = "# Returns\n\nAsk us. Then send it.\n\n## Faults\n\nAsk us. Sixty days.\n\nAsk us."
WORDS = partial(split_recursive, chunk_size=3, length="words")
SPLITTERS: dict[str, Splitter] = {
    "words": WORDS,
    "overlap": partial(split_recursive, chunk_size=6, chunk_overlap=3, length="words"),
    "sentences": split_sentences,
    "own": lambda text: [(at, at + 2) for at in range(0, len(text) - 2, 2)],
}


def printable(text: str) -> bool:
    """Both libraries refuse half a surrogate pair."""
    return not re.search("[\ud800-\udfff]", text)


def index() -> ParentChildIndex:
    found = ParentChildIndex(
        parent_splitter=partial(split_recursive, chunk_size=12, length="words"), child_splitter=WORDS, embed=Encoder()
    )
    found.add(Document.from_markdown(TEXT, id="policy", source="data/policy.md", metadata={"year": 2025, "title": "x"}))
    return found


# --- LangChain -------------------------------------------------------------------------------------------------------


@pytest.fixture
def langchain() -> Any:
    pytest.importorskip("langchain_text_splitters", reason="the extra [peers] is not installed")
    return pytest.importorskip("langchain_core.documents")


@pytest.mark.parametrize("name", SPLITTERS)
def test_langchain_documents_say_where_they_stand(langchain: Any, name: str) -> None:
    splitter = adapters.langchain_splitter(SPLITTERS[name])
    made = splitter.create_documents([TEXT], [{"lang": "en"}])
    assert [(d.metadata["start_index"], d.metadata["end_index"]) for d in made] == list(SPLITTERS[name](TEXT))
    assert all(d.page_content == TEXT[d.metadata["start_index"] : d.metadata["end_index"]] for d in made)
    assert {d.metadata["lang"] for d in made} == {"en"}
    assert splitter.split_text(TEXT) == [d.page_content for d in made]
    assert splitter.split_documents([langchain.Document(page_content=TEXT, metadata={"lang": "en"})]) == made
    assert splitter.transform_documents([langchain.Document(page_content=TEXT, metadata={"lang": "en"})]) == made


@given(hard_text.filter(printable), st.sampled_from(sorted(SPLITTERS)))
def test_langchain_offsets_hold_for_any_text(text: str, name: str) -> None:
    pytest.importorskip("langchain_text_splitters", reason="the extra [peers] is not installed")
    made = adapters.langchain_splitter(SPLITTERS[name]).create_documents([text, text])
    spans = list(SPLITTERS[name](text))
    assert [(d.metadata["start_index"], d.metadata["end_index"]) for d in made] == spans + spans
    assert all(d.page_content == text[d.metadata["start_index"] : d.metadata["end_index"]] for d in made)


def test_langchain_documents_know_their_section(langchain: Any) -> None:
    splitter = adapters.langchain_splitter(split_sentences, reader=Document.from_markdown)
    sections = [d.metadata["section_path"] for d in splitter.create_documents([TEXT])]
    assert sections == ["Returns"] * 3 + ["Returns > Faults"] * 4
    plain = adapters.langchain_splitter(split_sentences).create_documents([TEXT])
    assert all("section_path" not in d.metadata for d in plain)


def test_langchain_documents_share_no_metadata(langchain: Any) -> None:
    first, second, *_ = adapters.langchain_splitter(WORDS).create_documents([TEXT], [{"tags": []}])
    first.metadata["tags"].append("mine")
    assert second.metadata["tags"] == []


def test_langchain_splitter_goes_to_another_process(langchain: Any) -> None:
    splitter = adapters.langchain_splitter(WORDS, reader=Document.from_markdown)
    again = pickle.loads(pickle.dumps(splitter))
    assert again.create_documents([TEXT]) == splitter.create_documents([TEXT])


def test_langchain_splitter_is_one(langchain: Any) -> None:
    from langchain_text_splitters import TextSplitter

    assert isinstance(adapters.langchain_splitter(WORDS), TextSplitter)


def test_langchain_names_the_splitter_that_breaks_a_law(langchain: Any) -> None:
    def backwards(text: str) -> list[tuple[int, int]]:
        return [(3, 5), (0, 2)]

    with pytest.raises(ValueError, match="backwards returned"):
        adapters.langchain_splitter(backwards).split_text(TEXT)


# --- LlamaIndex ------------------------------------------------------------------------------------------------------


@pytest.fixture
def schema() -> Any:
    return pytest.importorskip("llama_index.core.schema")


@pytest.mark.parametrize("name", SPLITTERS)
def test_llamaindex_nodes_say_where_they_stand(schema: Any, name: str) -> None:
    parser = adapters.llamaindex_parser(SPLITTERS[name])
    document = schema.Document(text=TEXT, id_="policy", metadata={"lang": "en"})
    nodes = parser.get_nodes_from_documents([document])
    assert [(n.start_char_idx, n.end_char_idx) for n in nodes] == list(SPLITTERS[name](TEXT))
    assert all(n.text == TEXT[n.start_char_idx : n.end_char_idx] for n in nodes)
    assert {n.metadata["lang"] for n in nodes} == {"en"}
    assert {n.ref_doc_id for n in nodes} == {"policy"}
    assert [n.next_node.node_id for n in nodes[:-1]] == [n.node_id for n in nodes[1:]]
    assert [n.id_ for n in nodes] == [c.id for c in chunk_document(Document(TEXT, id="policy"), SPLITTERS[name])]


@given(hard_text.filter(printable), st.sampled_from(sorted(SPLITTERS)))
def test_llamaindex_offsets_hold_for_any_text(text: str, name: str) -> None:
    schema = pytest.importorskip("llama_index.core.schema")
    nodes = adapters.llamaindex_parser(SPLITTERS[name]).get_nodes_from_documents([schema.Document(text=text)])
    assert [(n.start_char_idx, n.end_char_idx) for n in nodes] == list(SPLITTERS[name](text))
    assert all(n.text == text[n.start_char_idx : n.end_char_idx] for n in nodes)


def test_llamaindex_does_not_search_for_the_chunk(schema: Any) -> None:
    """The second chunk's words stand inside the first, too; LlamaIndex's own search finds them there."""
    text, spans = "Then ask us. ask us.", [(0, 12), (13, 20)]
    nodes = adapters.llamaindex_parser(lambda _: spans)([schema.Document(text=text)])
    assert [(n.start_char_idx, n.end_char_idx) for n in nodes] == spans
    assert text.find(text[13:20], 1) == 5


def test_llamaindex_nodes_know_their_section(schema: Any) -> None:
    parser = adapters.llamaindex_parser(split_sentences, reader=Document.from_markdown)
    nodes = parser.get_nodes_from_documents([schema.Document(text=TEXT)])
    assert [n.metadata["section_path"] for n in nodes] == ["Returns"] * 3 + ["Returns > Faults"] * 4


def test_llamaindex_parser_after_another_refers_to_the_document(schema: Any) -> None:
    document = schema.Document(text=TEXT, id_="policy")
    sentences = adapters.llamaindex_parser(split_sentences).get_nodes_from_documents([document])
    parts = adapters.llamaindex_parser(partial(split_recursive, chunk_size=1, length="words"))(sentences)
    assert all(n.text == TEXT[n.start_char_idx : n.end_char_idx] for n in parts)
    assert {n.ref_doc_id for n in parts} == {"policy"}
    assert len({n.id_ for n in parts}) == len(parts)
    for node in sentences:
        node.start_char_idx = None  # as of a parser that did not find its own chunk
    assert {n.start_char_idx for n in adapters.llamaindex_parser(WORDS)(sentences)} == {None}


def test_llamaindex_parser_in_a_pipeline_with_a_cache(schema: Any) -> None:
    from llama_index.core.ingestion import IngestionCache, IngestionPipeline

    cache = IngestionCache()
    document = schema.Document(text=TEXT, id_="policy")
    found = []
    for size in (3, 5):
        parser = adapters.llamaindex_parser(partial(split_recursive, chunk_size=size, length="words"))
        found.append(IngestionPipeline(transformations=[parser], cache=cache).run(documents=[document]))
    assert [len(nodes) for nodes in found] == [len(split_recursive(TEXT, chunk_size=n, length="words")) for n in (3, 5)]


def test_a_parsers_settings_are_told_apart() -> None:
    """Long patterns, too: their repr is cut short."""
    one, two = ([re.compile("x" * 300 + end)] for end in "ab")
    told = {
        adapters._described(partial(split_recursive, separators=separators, chunk_size=size))
        for separators in (one, two, PROSE, MARKDOWN)
        for size in (100, 200)
    }
    assert len(told) == 8
    assert "chunklib.recursive.split_recursive(chunk_size=100, separators=[" in min(told)


def test_llamaindex_parser_goes_to_another_process(schema: Any) -> None:
    parser = adapters.llamaindex_parser(WORDS)
    document = schema.Document(text=TEXT, id_="policy")
    again = pickle.loads(pickle.dumps(parser))
    assert [n.id_ for n in again([document])] == [n.id_ for n in parser([document])]


def test_llamaindex_parser_is_written_down_by_its_settings_alone(schema: Any) -> None:
    """Functions cannot be written down; LlamaIndex would leave out the whole parser, or fail."""
    written = adapters.llamaindex_parser(WORDS).to_dict()
    assert not {"splitter", "reader"} & set(written)
    assert written["settings"].startswith("chunklib.recursive.split_recursive(chunk_size=3, length='words') ")


def test_the_retriever_takes_as_many_as_the_search() -> None:
    wanted = inspect.signature(ParentChildIndex.search).parameters
    given = inspect.signature(adapters.llamaindex_retriever).parameters
    assert {name: given[name].default for name in ("k_parents", "k_children", "filter")} == {
        name: wanted[name].default for name in ("k_parents", "k_children", "filter")
    }


def test_llamaindex_parser_is_one(schema: Any) -> None:
    from llama_index.core.node_parser import NodeParser

    assert isinstance(adapters.llamaindex_parser(WORDS), NodeParser)


def test_llamaindex_retriever_returns_parents(schema: Any) -> None:
    retriever = adapters.llamaindex_retriever(index(), k_parents=2, k_children=3)
    made = retriever.retrieve("Sixty days?")
    hits = index().search("Sixty days?", k_parents=2, k_children=3)
    assert [(n.node.id_, n.score) for n in made] == [(hit.chunk.id, hit.score) for hit in hits]
    for found, hit in zip(made, hits, strict=True):
        node, known = found.node, found.node.metadata
        assert node.text == TEXT[node.start_char_idx : node.end_char_idx] == hit.chunk.text
        assert node.ref_doc_id == "policy"
        assert known["children"] == [list(child.chunk.span) for child in hit.children]
        assert (known["title"], known["source"], known["year"]) == ("Returns", "data/policy.md", 2025)
        shown = node.get_content(metadata_mode=schema.MetadataMode.LLM)
        assert shown.startswith("title: Returns\n")
        assert not re.search("source|children|year", shown)
    assert [n.node.id_ for n in made] == [n.node.id_ for n in asyncio.run(retriever.aretrieve("Sixty days?"))]


def test_llamaindex_retriever_filters(schema: Any) -> None:
    assert adapters.llamaindex_retriever(index(), filter={"document_id": "other"}).retrieve("Sixty days?") == []
