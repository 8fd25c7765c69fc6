# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: LangChain's text splitters, or LlamaIndex's core.
"""Adapters: a splitter of this package, or your own, inside LangChain or LlamaIndex; there, parent-child search, too.

When to use it: where a pipeline stands on one of these libraries and only its chunks should change. Each chunk carries
the place where it was cut. The libraries' own splitters return strings and search for each afterwards.

But: the parsers work on plain text nodes, not on images. LangChain's documents get no ids; LlamaIndex's nodes get
ids that stay the same only if the documents' ids do.

Cost: that of the splitter, and one object of the library for each chunk.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from chunklib.core.document import Chunk, Document, chunk_document
from chunklib.core.span import Splitter
from chunklib.parent_child import ParentHit
from chunklib.search.parents import ParentChildIndex

#: How a text becomes a `Document`: ``Document`` for plain text, ``Document.from_markdown`` to know its sections.
Reader = Callable[..., Document]


def langchain_splitter(splitter: Splitter, *, reader: Reader = Document) -> Any:
    """A LangChain ``TextSplitter`` that cuts where ``splitter`` does.

    Its documents carry ``start_index`` and ``end_index`` in their metadata, always, and ``section_path`` where the
    ``reader`` found headings; what the source document's metadata says is kept. Set sizes on the splitter, as in
    ``langchain_splitter(partial(split_recursive, chunk_size=100))``. Raises ``ImportError`` without the library.
    """
    return _langchain_splitter_class()(splitter, reader)


def llamaindex_parser(splitter: Splitter, *, reader: Reader = Document) -> Any:
    """A LlamaIndex ``NodeParser`` that cuts where ``splitter`` does.

    ``start_char_idx`` and ``end_char_idx`` are places in the text of the node's source document; ``section_path`` is in
    the metadata where the ``reader`` found headings. Node ids derive from document id and content, as `Chunk.id` does.
    Give the splitter a name or a ``partial``: an ingestion cache cannot tell two lambdas apart.
    """
    name = _described(splitter), _described(reader)
    return _llamaindex_parser_class()(splitter=splitter, reader=reader, settings=" ".join(name))


def llamaindex_retriever(
    index: ParentChildIndex, *, k_parents: int = 5, k_children: int = 20, filter: Mapping[str, Any] | None = None
) -> Any:
    """A LlamaIndex retriever over a `ParentChildIndex`: small chunks are searched, their parents returned.

    A node is a parent with its id, text, place and score, and in its metadata title, section and the places of the
    children that led there, best first. Only title and section are shown to an encoder or a language model. The
    numbers and ``filter`` are those of `ParentChildIndex.search`. Raises ``ImportError`` without the library.
    """
    search = partial(index.search, k_parents=k_parents, k_children=k_children, filter=filter)
    return _llamaindex_retriever_class()(search)


# --- What a library gets to know -------------------------------------------------------------------------------------


def _chunks(splitter: Splitter, reader: Reader, text: str, **known: Any) -> list[Chunk]:
    return chunk_document(reader(text, **known), splitter)


def _section(chunk: Chunk) -> dict[str, str]:
    """As one string: vector stores take no lists."""
    return {"section_path": " > ".join(chunk.section_path)} if chunk.section_path else {}


def _described(function: Any) -> str:
    """A name that is the same in every process, with the settings of a ``partial``."""
    if isinstance(function, partial):
        given = [
            *map(repr, function.args),
            *(f"{name}={_described(v)}" for name, v in sorted(function.keywords.items())),
        ]
        return f"{_described(function.func)}({', '.join(given)})"
    if isinstance(function, re.Pattern):  # its repr leaves out what goes beyond 200 characters
        return f"{function.pattern!r}{function.flags}"
    if isinstance(function, (list, tuple)):
        return f"[{', '.join(map(_described, function))}]"
    if callable(function) and hasattr(function, "__qualname__"):
        return f"{function.__module__}.{function.__qualname__}"
    return repr(function)


# --- The libraries' classes, made when they are first asked for ------------------------------------------------------


@cache
def _langchain_splitter_class() -> Any:
    from langchain_core.documents import Document as Their
    from langchain_text_splitters import TextSplitter

    class ChunklibTextSplitter(TextSplitter):  # type: ignore[misc]
        """Cuts where a function from text to spans does."""

        def __init__(self, splitter: Splitter, reader: Reader) -> None:
            super().__init__(add_start_index=True)
            self.splitter, self.reader = splitter, reader

        def __reduce__(self) -> Any:  # a class made in a function has no address to be found at
            return partial(langchain_splitter, reader=self.reader), (self.splitter,)

        def split_text(self, text: str) -> list[str]:
            """The chunks' texts alone."""
            return [chunk.text for chunk in _chunks(self.splitter, self.reader, text)]

        def create_documents(
            self, texts: Iterable[str], metadatas: Sequence[Mapping[Any, Any]] | None = None
        ) -> list[Any]:
            """One document a chunk; `split_documents` and `transform_documents` come here, too."""
            texts = list(texts)
            return [
                Their(
                    page_content=chunk.text,
                    metadata={
                        **copy.deepcopy(dict(known)),
                        **_section(chunk),
                        "start_index": chunk.start,
                        "end_index": chunk.end,
                    },
                )
                for text, known in zip(texts, metadatas or [{}] * len(texts), strict=True)
                for chunk in _chunks(self.splitter, self.reader, text)
            ]

    return ChunklibTextSplitter


@cache
def _llamaindex_parser_class() -> Any:
    from llama_index.core.node_parser import NodeParser
    from llama_index.core.node_parser.node_utils import build_nodes_from_splits
    from llama_index.core.schema import MetadataMode
    from pydantic import Field

    class ChunklibNodeParser(NodeParser):  # type: ignore[misc]
        """Cuts where a function from text to spans does."""

        splitter: Any = Field(exclude=True)
        reader: Any = Field(exclude=True)
        settings: str  # in place of both where the parser is serialised: LlamaIndex makes the key of its cache from it

        def __reduce__(self) -> Any:
            return partial(llamaindex_parser, reader=self.reader), (self.splitter,)

        @classmethod
        def class_name(cls) -> str:
            return "ChunklibNodeParser"

        def _parse_nodes(self, nodes: Sequence[Any], show_progress: bool = False, **kwargs: Any) -> list[Any]:
            made = []
            for node in nodes:
                text = node.get_content(metadata_mode=MetadataMode.NONE)
                chunks = _chunks(self.splitter, self.reader, text, id=node.node_id)
                ids = [chunk.id for chunk in chunks]
                parts = build_nodes_from_splits([c.text for c in chunks], node, id_func=lambda i, _, ids=ids: ids[i])
                # The source of a part is its document, even where a parser before this one had cut that.
                first = 0 if node.source_node is None else node.start_char_idx
                for part, chunk in zip(parts, chunks, strict=True):
                    part.metadata = {**part.metadata, **_section(chunk)}
                    if first is not None:
                        part.start_char_idx, part.end_char_idx = first + chunk.start, first + chunk.end
                made += parts
            return made

        def _postprocess_parsed_nodes(self, nodes: list[Any], parent_doc_map: dict[str, Any]) -> list[Any]:
            """Links, metadata, but not the search for each chunk's text."""
            places = [(node.start_char_idx, node.end_char_idx) for node in nodes]
            nodes = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
            for node, place in zip(nodes, places, strict=True):
                node.start_char_idx, node.end_char_idx = place
            return nodes

    return ChunklibNodeParser


@cache
def _llamaindex_retriever_class() -> Any:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

    class ChunklibParentChildRetriever(BaseRetriever):  # type: ignore[misc]
        """Searches children, returns parents."""

        def __init__(self, search: Callable[[str], list[ParentHit]]) -> None:
            super().__init__()
            self.search = search

        def _retrieve(self, query_bundle: Any) -> list[Any]:
            found = []
            for hit in self.search(query_bundle.query_str):
                chunk = hit.chunk
                known = {"title": chunk.title, "source": chunk.source, "page_number": chunk.page_number}
                metadata = {
                    **chunk.metadata,  # of the same names, these give way
                    **{name: value for name, value in known.items() if value},
                    **_section(chunk),
                    "children": [list(child.chunk.span) for child in hit.children],
                }
                hidden = sorted(metadata.keys() - {"title", "section_path"})
                node = TextNode(
                    id_=chunk.id,
                    text=chunk.text,
                    start_char_idx=chunk.start,
                    end_char_idx=chunk.end,
                    metadata=metadata,
                    excluded_embed_metadata_keys=hidden,
                    excluded_llm_metadata_keys=hidden,
                    relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.document_id)},
                )
                found.append(NodeWithScore(node=node, score=hit.score))
            return found

    return ChunklibParentChildRetriever
