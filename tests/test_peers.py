# SPDX-License-Identifier: MIT
"""What is stored of the published libraries is what they return, and they know the names that the lesson gives."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunklib.core.measure import count
from chunklib.course import peer_store, peers
from chunklib.course.comparing import Table, java_names, python_names
from chunklib.course.datasets import load_course_documents
from chunklib.course.peer_store import LIBRARIES, STORED, Piece, key, packed, unpacked
from chunklib.course.peers import PEERS
from tools.notebooks import ROOT
from tools.peers import calls

CALLS = [(name, settings, documents) for name, settings, documents in calls()]
MODULES = ("langchain_text_splitters", "llama_index.core.node_parser", "chonkie", "semchunk", "semantic_text_splitter")


def library(name: str) -> str:
    return str(PEERS[name].library)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_library_returns_what_is_stored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run with the extra [peers]; without it, LlamaIndex alone is here."""
    if not peer_store.installed(name):
        pytest.skip("the extra [peers] is not installed")
    tried = 0
    for peer, settings, documents in CALLS:
        if library(peer) == name:
            for document in load_course_documents(*documents):
                monkeypatch.setenv("CHUNKLIB_PEERS", "stored")
                stored = PEERS[peer](document.text, **settings)
                monkeypatch.delenv("CHUNKLIB_PEERS")
                assert PEERS[peer](document.text, **settings) == stored, (peer, settings, document.id)
                tried += 1
    assert tried > 5


def test_all_is_stored_and_no_more() -> None:
    """A document was changed? Then `python -m tools.peers` has to run again, with the extra [peers]."""
    wanted = {
        key(name, document.text, settings)
        for name, settings, documents in CALLS
        for document in load_course_documents(*documents)
    }
    assert set(json.loads(STORED.read_text(encoding="utf-8"))["results"]) == wanted
    assert {name for name, _, _ in CALLS} == set(PEERS)


def test_the_stored_versions_are_the_pinned_ones() -> None:
    pins = dict(re.findall(r"(?m)^([\w-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8")))
    versions = json.loads(STORED.read_text(encoding="utf-8"))["versions"]
    assert versions == {name: pins[name] for name in LIBRARIES}


def test_the_versions_and_the_day_are_told() -> None:
    assert re.fullmatch(r"(?:[\w-]+ [\d.]+\n){5}stored on \d{4}-\d\d-\d\d", peer_store.about())


def test_another_version_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.1")
    assert "installed here: llama-index-core 0.1; its results may differ" in peer_store.about().splitlines()


def test_what_was_not_stored_needs_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_store, "installed", lambda name: False)
    with pytest.raises(
        LookupError, match=r"semchunk is not installed, .*\{'chunk_size': 7\}; install it with: .*peers"
    ):
        peers.semchunk_recursive("A text of your own.", chunk_size=7)


pieces = st.builds(
    Piece,
    st.text("ab \n", max_size=5),
    st.none() | st.integers(-1, 12),
    st.none() | st.integers(0, 12),
    st.none() | st.text(max_size=3),
)


@given(pieces, st.text("ab \n", max_size=12))
def test_a_piece_is_read_as_it_was_stored(piece: Piece, text: str) -> None:
    assert unpacked(json.loads(json.dumps(packed(piece, text))), text) == piece


@pytest.mark.parametrize("name", PEERS)
def test_the_code_shown_calls_the_library(name: str) -> None:
    shown = peer_store.code(PEERS[name])
    ast.parse(shown)
    assert LIBRARIES[library(name)] in shown or name == "langchain_adapter"
    assert "_of_" not in shown
    assert "_encoding()" not in shown
    assert "Piece" not in shown


# --- Names -----------------------------------------------------------------------------------------------------------


NAMES = python_names().rows


@pytest.mark.parametrize("names", [python_names(), java_names()])
def test_tables_are_full(names: Table) -> None:
    assert {len(row) for row in names.rows} == {len(names.head)}


def names_in(column: int) -> list[str]:
    cells = [row[column] for row in NAMES if "not run" not in row[column] and "say nothing" not in row[0]]
    return [name for cell in cells for name in re.findall(r"\w+", cell)]


def known(module: Any) -> set[str]:
    """Names in a module, and of the parameters, fields and methods of all that is in it."""
    found = set(dir(module))
    for thing in map(module.__dict__.get, dir(module)):
        if callable(thing):
            found |= set(dir(thing)) | set(getattr(thing, "model_fields", ()))
            members = [thing, *(getattr(thing, name, None) for name in ("__init__", "__call__"))]
            members += [getattr(thing, name, None) for name in dir(thing) if name.startswith("from_")]
            for member in members:
                try:
                    found |= set(inspect.signature(member).parameters)
                except (TypeError, ValueError):  # written in C or Rust
                    found |= set(re.findall(r"\w+", getattr(member, "__text_signature__", None) or ""))
    return found


@pytest.mark.parametrize(("column", "module"), list(enumerate(MODULES, start=2)))
def test_the_library_knows_the_names(column: int, module: str) -> None:
    pytest.importorskip(module.partition(".")[0], reason="the extra [peers] is not installed")
    names = known(importlib.import_module(module))
    if module.startswith("llama_index"):
        names |= set(importlib.import_module("llama_index.core.schema").TextNode.model_fields)
        names.add("tokenizer")  # a parameter of its own __init__, asserted below
    if module == "semchunk":
        names |= known(importlib.import_module("semchunk.semchunk"))
    assert [name for name in names_in(column) if name not in names] == []


def test_our_own_names() -> None:
    from chunklib import recursive, semantic, sentence, structure
    from chunklib.core import span
    from chunklib.search import parents

    names = set().union(*map(known, (recursive, sentence, structure, semantic, parents, span)))
    names |= {"split_fixed_size"}
    assert [name for name in names_in(1) if name not in names] == []


def test_defaults() -> None:
    """Columns: chunklib, LangChain, LlamaIndex, Chonkie, semchunk, semantic-text-splitter."""
    size, overlap = (row[1:] for row in NAMES if "say nothing" in row[0])
    from chunklib.recursive import split_recursive

    default = inspect.signature(split_recursive).parameters
    assert (size[0], overlap[0]) == (f"{default['chunk_size'].default} tokens", str(default["chunk_overlap"].default))
    parsers = pytest.importorskip("llama_index.core.node_parser")
    sentence = parsers.SentenceSplitter()
    assert size[2] == f"{sentence.chunk_size} tokens"
    tokens = parsers.TokenTextSplitter().chunk_overlap
    assert overlap[2] == f"{sentence.chunk_overlap} tokens; TokenTextSplitter: {tokens}"
    assert "tokenizer" in inspect.signature(parsers.SentenceSplitter.__init__).parameters
    splitters = pytest.importorskip("langchain_text_splitters", reason="the extra [peers] is not installed")
    default = inspect.signature(splitters.TextSplitter.__init__).parameters
    assert default["length_function"].default is len
    for row, option in ((size, "chunk_size"), (overlap, "chunk_overlap")):
        assert row[1] == f"{default[option].default} characters; TokenTextSplitter: tokens"
    numbers = " ".join(map(str, range(5000)))
    assert count(splitters.TokenTextSplitter("cl100k_base").split_text(numbers)[0]) == default["chunk_size"].default
    assert splitters.RecursiveCharacterTextSplitter()._separators == ["\n\n", "\n", " ", ""]
    chonkie = pytest.importorskip("chonkie")
    default = inspect.signature(chonkie.RecursiveChunker.__init__).parameters
    assert (size[3], default["tokenizer"].default) == (f"{default['chunk_size'].default} characters", "character")
    assert "chunk_overlap" not in default
    assert overlap[3] == str(inspect.signature(chonkie.TokenChunker.__init__).parameters["chunk_overlap"].default)
    semchunk, semantic = (pytest.importorskip(name) for name in ("semchunk", "semantic_text_splitter"))
    assert (size[4], size[5], overlap[4], overlap[5]) == ("(none)", "(none)", "0", "0")
    with pytest.raises(ValueError, match="chunk size was not passed"):
        semchunk.chunkerify(str.split)
    with pytest.raises(TypeError, match="capacity"):
        semantic.TextSplitter()


def test_overlap_in_characters_is_searched_right() -> None:
    """What the lesson says of LangChain's default unit."""
    splitters = pytest.importorskip("langchain_text_splitters", reason="the extra [peers] is not installed")
    for document in load_course_documents("returns-policy.md", "homehub-manual.md"):
        splitter = splitters.RecursiveCharacterTextSplitter(chunk_size=400, chunk_overlap=80, add_start_index=True)
        for chunk in splitter.create_documents([document.text]):
            assert document.text.startswith(chunk.page_content, chunk.metadata["start_index"])
            assert chunk.metadata["start_index"] >= 0


def test_nested_lists_lose_their_levels() -> None:
    """What the lesson says of LangChain's two splitters at headings."""
    pytest.importorskip("langchain_text_splitters", reason="the extra [peers] is not installed")
    text = "# A\n\n- one\n  - two\n"
    assert peers.langchain_headers(text)[0].text == "# A  \n- one\n- two"
    assert peers.langchain_syntax(text)[0].text == text
