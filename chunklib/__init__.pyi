# SPDX-License-Identifier: MIT
# The names of the face, each with its home. Editors and type checkers read them here, and so does __init__.py.
from chunklib.core.document import Chunk as Chunk
from chunklib.core.document import Document as Document
from chunklib.core.document import chunk_document as chunk_document
from chunklib.core.document import chunk_documents as chunk_documents
from chunklib.core.measure import count as count
from chunklib.core.span import Span as Span
from chunklib.course.charts import figure as figure
from chunklib.course.datasets import load_course_documents as load_course_documents
from chunklib.course.datasets import load_course_questions as load_course_questions
from chunklib.course.display import show as show
from chunklib.course.scoreboard import scoreboard as scoreboard
from chunklib.documents.cleaning import clean as clean
from chunklib.documents.loaders import load_document as load_document
from chunklib.documents.loaders import load_documents as load_documents
from chunklib.documents.metadata import describe as describe
from chunklib.enrichment import add_context as add_context
from chunklib.enrichment import ask_about as ask_about
from chunklib.enrichment import context_size as context_size
from chunklib.fixed_size import split_fixed_size as split_fixed_size
from chunklib.parent_child import families as families
from chunklib.production.adapters import langchain_splitter as langchain_splitter
from chunklib.production.adapters import llamaindex_parser as llamaindex_parser
from chunklib.recursive import MARKDOWN as MARKDOWN
from chunklib.recursive import PROSE as PROSE
from chunklib.recursive import PYTHON as PYTHON
from chunklib.recursive import split_recursive as split_recursive
from chunklib.search.audit import audit as audit
from chunklib.search.embedding import embed as embed
from chunklib.search.evaluation import Question as Question
from chunklib.search.evaluation import evaluate as evaluate
from chunklib.search.identity import cite as cite
from chunklib.search.identity import diff as diff
from chunklib.search.identity import resolve as resolve
from chunklib.search.mappings import SQLiteMapping as SQLiteMapping
from chunklib.search.parents import ParentChildIndex as ParentChildIndex
from chunklib.search.retrieval import Index as Index
from chunklib.search.stores import QdrantVectors as QdrantVectors
from chunklib.semantic import split_optimal as split_optimal
from chunklib.semantic import split_semantic as split_semantic
from chunklib.sentence import split_sentences as split_sentences
from chunklib.sentence import widen as widen
from chunklib.structure import split_at as split_at
from chunklib.structure import split_labelled_lines as split_labelled_lines
from chunklib.structure import split_markdown as split_markdown
from chunklib.structure import split_paragraphs as split_paragraphs

__version__: str
__all__: list[str]
_HOMES: dict[str, str]
