# SPDX-License-Identifier: MIT
"""Build the lessons as pages to read without running them: one file each, and an index.

    python -m tools.site [FOLDER]

FOLDER is ``site`` unless named. The pages ask nothing of the network. What a learner is to guess first is folded.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from tools.notebooks import NOTEBOOKS, ROOT, command
from tools.readme import first_page

#: Scripts of others, for formulas and widgets; the lessons have neither.
FETCHED = re.compile(r"<script[^>]*\bsrc=[^>]*>\s*</script>|<script>[^<]*(?:require|MathJax)[^<]*</script>")
#: JupyterLab's own greys and greens are too pale to read on white; a link is told by more than its colour.
READABLE = (
    "<style>.jp-InputPrompt.jp-InputPrompt,.jp-OutputPrompt.jp-OutputPrompt{color:#595959!important;opacity:1!important}"
    "main p a,main li a{text-decoration:underline!important}"
    "main .highlight .mi,main .highlight .mf{color:#060}main .highlight .ow,main .highlight .o{color:#70a}"
    "main .highlight .c1{color:#356}</style></body>"
)
STYLE = "body{max-width:46em;margin:3em auto;padding:0 1em;font:17px/1.5 sans-serif}td{padding:.4em;vertical-align:top}"


def folded(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell that asks for a guess, its outputs behind a summary to click on."""
    if "predict" not in cell["metadata"].get("tags", []):
        return cell
    shown = []
    for output in cell["outputs"]:
        data = output.get("data", {})
        text = "".join(output.get("text", data.get("text/plain", "")))
        shown.append("".join(data.get("text/html", "")) or f"<pre>{html.escape(text)}</pre>")
    page = "<details><summary>Compare with your guess</summary>" + "".join(shown) + "</details>"
    return {**cell, "outputs": [{"output_type": "display_data", "data": {"text/html": page}, "metadata": {}}]}


def page(notebook: dict[str, Any]) -> str:
    """One lesson as HTML that stands alone; links to other lessons lead to their pages."""
    import nbformat
    from nbconvert import HTMLExporter

    title = first_page(notebook)[0]
    notebook = {**notebook, "cells": [folded(cell) for cell in notebook["cells"]]}
    exporter = HTMLExporter()  # type: ignore[no-untyped-call]
    body, _ = exporter.from_notebook_node(
        nbformat.reads(json.dumps(notebook), as_version=4), resources={"metadata": {"name": title, "path": ""}}
    )
    body = FETCHED.sub("", body).replace("</body>", READABLE, 1)
    body = re.sub(r"<th\b([^>]*)></th>", r"<td\1></td>", body)
    return re.sub(r'(href="[^":]+)\.ipynb', r"\1.html", body)


def write(folder: Path) -> list[Path]:
    """Write the pages and their index; return them."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, paths = [], []
    for source in NOTEBOOKS:
        notebook = json.loads(source.read_text(encoding="utf-8"))
        paths.append(folder / f"{source.stem}.html")
        paths[-1].write_text(page(notebook), encoding="utf-8", newline="\n")
        title, promise, minutes, _ = first_page(notebook)
        link = f'<a href="{paths[-1].name}">{html.escape(title)}</a>'
        rows.append(f"<tr><td>{source.name[:2]}<td>{link}<br>{html.escape(promise)}<td>{minutes}&nbsp;min")
    index = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Chunk by Chunk</title><style>{STYLE}</style>'
        f"<main><h1>Chunk by Chunk</h1><table>{''.join(rows)}</table></main></html>\n"
    )
    (folder / "index.html").write_text(index, encoding="utf-8", newline="\n")
    return [*paths, folder / "index.html"]


if __name__ == "__main__":
    options = command(__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=ROOT / "site", metavar="FOLDER")
    for path in write(options.parse_args().folder):
        print(path)
