# SPDX-License-Identifier: MIT
"""What is made from the lessons: the glossary, the 90-minute version, the pages to read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools.glossary import GLOSSARY, TERMS, defined, written
from tools.notebooks import ROOT
from tools.short import LESSONS, kept, write
from tools.site import folded, page

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PREDICT = {
    "cell_type": "code",
    "metadata": {"tags": ["predict"]},
    "outputs": [{"output_type": "stream", "name": "stdout", "text": ["Compare with your guess:\n", "a < b\n"]}],
}


def test_the_glossary_is_what_the_lessons_say() -> None:
    assert GLOSSARY.read_text(encoding="utf-8") == written(), "run python -m tools.glossary"
    assert set(TERMS) <= {path.name[:2] for path in NOTEBOOKS}
    with pytest.raises(LookupError, match=r"00_start_here\.ipynb has no \*\*zebra\*\*"):
        defined("zebra", NOTEBOOKS[0])


def test_the_short_version_runs(tmp_path: Path) -> None:
    for path, number in zip(write(tmp_path), LESSONS, strict=True):
        assert path.name.startswith(number)
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        (source,) = (ROOT / "notebooks").glob(path.name)
        assert 20 < len(cells) < len(json.loads(source.read_text(encoding="utf-8"))["cells"])
        assert all(cell.get("execution_count", True) for cell in cells), "a cell was not run"


def test_what_the_short_version_keeps() -> None:
    kinds = [
        ("markdown", "", "# Title"),
        ("code", "core", "a"),
        ("markdown", "", "about a"),
        ("code", "", "b"),
        ("markdown", "", "about b"),
        ("markdown", "", "**1** do"),
        ("code", "exercise", "c"),
        ("markdown", "", "## Recap"),
    ]
    cells = [{"cell_type": kind, "metadata": {"tags": [tag]}, "source": source} for kind, tag, source in kinds]
    assert [cell["source"] for cell in kept(cells)] == ["# Title", "a", "about a", "**1** do", "c", "## Recap"]


def test_a_guess_is_folded_on_a_page() -> None:
    (output,) = folded(PREDICT)["outputs"]
    assert output["data"]["text/html"].startswith("<details><summary>Compare with your guess</summary>")
    assert "a &lt; b" in output["data"]["text/html"]
    assert folded({**PREDICT, "metadata": {}})["outputs"] == PREDICT["outputs"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_asks_nothing_of_the_network_and_leads_to_the_other_pages(path: Path) -> None:
    text = page(json.loads(path.read_text(encoding="utf-8")))
    assert re.findall(r'<(?:script|img|iframe)[^>]*\bsrc="(?!data:)[^"]*|<link[^>]*\bhref="[^"]*', text) == []
    links = re.findall(r'href="(\d\d_[^"#]*)', text)
    assert all(link.endswith(".html") and (path.parent / link).with_suffix(".ipynb").exists() for link in links)
    assert text.count("<h1") == 1
