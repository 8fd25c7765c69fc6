# SPDX-License-Identifier: MIT
"""Run notebooks in fresh kernels and write them back with normalised metadata.

    python tools/notebooks.py                       all lessons
    python tools/notebooks.py notebooks/01*.ipynb   these

A notebook is written only if every cell ran, and nothing went to stderr; otherwise its name and the cell are told.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: The lessons, in their order.
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))

# One thread is as fast on busy cores, and never changes a result; progress bars and hash order differ from run to run.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1", "PYTHONHASHSEED": "0", "TOKENIZERS_PARALLELISM": "false"}

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

WIDGET = "application/vnd.jupyter.widget-view+json"

# Where only this machine has its files: a home, a temporary folder, a drive.
MACHINE_PATH = re.compile(
    r"(?<![\w.)\]/-])/(?:home|Users|root|tmp|work|mnt|private)/[\w.]|\b[A-Z]:\\{1,2}Users\b|file:/{2}"
)


def command(doc: str | None) -> argparse.ArgumentParser:
    """A command of tools/: --help prints what its module says of itself, and an argument it does not know stops it."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def normalise(notebook: dict[str, Any]) -> None:
    """Reduce metadata to what is the same on every machine: the kernel's name, cell ids, tags, folded predictions."""
    notebook["metadata"] = METADATA
    notebook["nbformat"], notebook["nbformat_minor"] = 4, 5
    ids = {cell.get("id") for cell in notebook["cells"]}
    for number, cell in enumerate(notebook["cells"], start=1):
        if not cell.get("id"):  # written by hand without one
            cell["id"] = next(new for i in range(1000) if (new := f"cell-{number}" + "-new" * i) not in ids)
            ids.add(cell["id"])
        tags = cell["metadata"].get("tags", [])
        cell["metadata"] = {"tags": tags} if tags else {}
        if "predict" in tags:  # the learner guesses first: JupyterLab folds the output until the cell is run
            cell["metadata"]["jupyter"] = {"outputs_hidden": True}
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)  # its id differs from run to run, and its state is not stored
            if "metadata" in output:
                output["metadata"] = {}


def cells(notebook: Path) -> list[dict[str, Any]]:
    """The cells of a stored notebook, each with its source as one string."""
    stored = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [{**cell, "source": "".join(cell["source"])} for cell in stored]


def lesson(number: str) -> list[dict[str, Any]]:
    """The cells of the lesson with this number, of two digits."""
    return cells(next(path for path in NOTEBOOKS if path.name.startswith(number)))


def tags(cell: dict[str, Any]) -> list[str]:
    """A cell's tags."""
    return list(cell["metadata"].get("tags", []))


def dump(notebook: dict[str, Any]) -> str:
    """Return the notebook's text as it is stored."""
    import nbformat

    return str(nbformat.writes(nbformat.from_dict(notebook), version=nbformat.NO_CONVERT)).rstrip("\n") + "\n"


def complaints(notebook: dict[str, Any]) -> list[str]:
    """Name each cell that raised, wrote to stderr or shows a path of this machine."""
    found = []
    for number, cell in enumerate(notebook["cells"], start=1):
        first = next(iter(cell["source"].splitlines()), "")
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                what = f"raised {output['ename']}: {output['evalue']}"
            elif output.get("name") == "stderr":
                what = f"wrote to stderr: {output['text'].strip()}"
            elif path := MACHINE_PATH.search(str(output.get("text", output.get("data")))):
                what = f"shows a path of this machine: {path[0]}"
            else:
                continue
            found.append(f"cell {number} ({first}) {what}")
    return found


def rebuild(path: Path) -> list[str]:
    """Run one notebook in its own folder; write it back, or return complaints and leave it as it was."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    raw = json.loads(path.read_text(encoding="utf-8"))
    normalise(raw)  # first: a cell written by hand may lack its id
    notebook = nbformat.reads(json.dumps(raw), as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=600,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        return complaints(notebook) or [str(error)]
    if found := complaints(notebook):
        return found
    normalise(notebook)
    nbformat.validate(notebook)
    path.write_text(dump(notebook), encoding="utf-8", newline="\n")
    return []


def main() -> None:
    """Rebuild the notebooks named, or all; exit with 1 if one of them failed."""
    options = command(__doc__)
    options.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    named: list[Path] = options.parse_args().notebooks
    if missing := [str(path) for path in named if not path.is_file()]:
        options.error(f"no such notebook: {', '.join(missing)}")
    os.environ.update(ENVIRONMENT)
    paths = named or [*NOTEBOOKS, *(ROOT / "capstone").glob("*.ipynb")]
    if not paths:
        sys.exit("notebooks/ holds no notebook: nothing was rebuilt")
    failed = 0
    for path in paths:
        print(f"{path.name} … ", end="", flush=True)
        found = rebuild(path)
        print("FAILED, left as it was" if found else "ok")
        for complaint in found:
            print(f"    {path.name}: {complaint}")
        failed += bool(found)
    if failed:
        sys.exit(f"{failed} of {len(paths)} notebooks failed")


if __name__ == "__main__":
    main()
