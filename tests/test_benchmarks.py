# SPDX-License-Identifier: MIT
"""The quality benchmark on a data set of two lines: it reads, places copies, and prints its table."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import quality
from chunklib.core.document import Document, chunk_document

TEXT = "The cat sat on a mat. The dog ran. The cat sat on a mat."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "pets.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "corpora" / "ships.md").write_text("A ship sails.", encoding="utf-8")
    references = json.dumps([{"content": TEXT[:21], "start_index": 0, "end_index": 21}]).replace('"', '""')
    rows = f'question,references,corpus_id\nWhere did the cat sit?,"{references}",pets\n'
    (tmp_path / "questions_df.csv").write_text(rows, encoding="utf-8")
    return tmp_path


def test_it_prints_its_table(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["quality.py", "--data", str(folder), "--sizes", "8"])
    quality.main()
    out = capsys.readouterr().out.splitlines()
    # Chunks of 21, 12, 21 and 13 characters are read, 21 of which were asked for (the copy is scored at the first).
    assert out[3] == "| chunklib recursive 8 | 100.0 | 31.3 | 100.0 | 100.0 | 100.0 | 4 | 6 | 7 |"
    assert out[-2].startswith("1 questions, 69 characters, k = 5, ")


def test_a_copy_is_scored_where_its_text_stands_first() -> None:
    chunks = chunk_document(Document(TEXT), lambda text: [(0, 21), (22, 34), (35, 56)])
    assert [chunk.span for chunk in quality.at_first_copy(chunks, TEXT)] == [(0, 21), (22, 34), (0, 21)]


def test_strings_are_located_one_after_the_other() -> None:
    assert quality.locating(lambda text: ["a b", "a b", "c"])("a b  a b c") == [(0, 3), (5, 8), (9, 10)]


def test_additions_to_the_index_are_scored(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["quality.py", "--data", str(folder), "--sizes", "8", "--enriched"])
    quality.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 8 + 3
    # The copy of the first sentence is not read again: 21, 12 and 13 characters.
    assert lines[2].startswith("| recursive 8: copies once | 100.0 | 45.7 |")
    assert all("| 100.0 |" in line for line in lines[2:10])


def test_headings_of_the_corpora() -> None:
    wiki = " = Cats = \n\n = = Food = = \n Fish ."
    assert [(h.level, h.title) for h in quality.headings(wiki)] == [(1, "Cats"), (2, "Food")]
    assert [h.title for h in quality.headings("Results\n" + 200 * "x" + "\nnot one\n")] == ["Results"]
    assert quality.headings("A line.\n" + 200 * "x") == []


def test_rough_sentences() -> None:
    text = 'He said "No." Then\nhe left. A. '
    assert [text[a:b] for a, b in quality.rough_sentences(text)] == ['He said "No."', "Then", "he left."]
