# SPDX-License-Identifier: MIT
"""Make the 90-minute version: lessons 00, 01 and 04, only the cells tagged core with the words around them, run.

    python -m tools.short [FOLDER]

FOLDER is ``my_notebooks/short`` unless named. A lesson of it that does not run stops the command with the cell's name.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tools.notebooks import ROOT, dump, rebuild

LESSONS = ("00", "01", "04")


def kept(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The title, the core cells with the Markdown next to them, the first exercise, the recap."""
    core = [i for i, cell in enumerate(cells) if "core" in cell["metadata"].get("tags", [])]
    exercise = next(i for i, cell in enumerate(cells) if "exercise" in cell["metadata"].get("tags", []))
    recap = next(i for i, cell in enumerate(cells) if "".join(cell["source"]).startswith("## Recap"))
    chosen = {0, recap, exercise - 1, exercise, *core}
    chosen |= {i + step for i in core for step in (-1, 1) if cells[i + step]["cell_type"] == "markdown"}
    return [cells[i] for i in sorted(chosen)]


def write(folder: Path) -> list[Path]:
    """Write the short lessons and run them."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in LESSONS:
        (source,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
        notebook = json.loads(source.read_text(encoding="utf-8"))
        notebook["cells"] = kept(notebook["cells"])
        paths.append(folder / source.name)
        paths[-1].write_text(dump(notebook), encoding="utf-8", newline="\n")
        if found := rebuild(paths[-1]):
            sys.exit("\n".join(found))
    return paths


if __name__ == "__main__":
    for path in write(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "my_notebooks" / "short"):
        print(path.name, "runs")
