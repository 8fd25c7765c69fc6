# SPDX-License-Identifier: MIT
"""Copy the lessons and the capstone to my_notebooks/, which git does not track, and open JupyterLab there.

Learners work on copies, so solving an exercise turns no check red. A file that is there is never overwritten: lessons
that are new since the last time are added, and `--fresh` makes another full copy in a folder of its own.
"""

from __future__ import annotations

import argparse
import shutil
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIRST = "00_start_here.ipynb"
#: What a learner needs of the capstone.
CAPSTONE = ("capstone.ipynb", "questions.jsonl", "documents/*.*")


def copy_missing(source: Path, target: Path, *patterns: str) -> list[Path]:
    """Copy the notebooks, or the files of these patterns, that target lacks; return what was copied."""
    copied = []
    target.mkdir(parents=True, exist_ok=True)
    for file in sorted(file for pattern in patterns or ("*.ipynb",) for file in source.glob(pattern)):
        copy = target / file.relative_to(source)
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            copied.append(copy)
    return copied


def fresh_folder(target: Path, day: date) -> Path:
    """Return the first folder fresh-<day>-<n> in target that does not exist yet."""
    number = 1
    while (folder := target / f"fresh-{day.isoformat()}-{number}").exists():
        number += 1
    return folder


def lab_arguments(root: Path, opened: Path | None) -> list[str]:
    """Return JupyterLab's options: rooted in the copies, and nothing is asked of the network."""
    arguments = [
        f"--ServerApp.root_dir={root}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ]
    if opened is not None:
        arguments.append(f"--LabApp.default_url=/lab/tree/{opened.relative_to(root).as_posix()}")
    return arguments


def main() -> None:
    """Copy, then hand over to JupyterLab (in this interpreter, so its kernel python3 is this environment's)."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--fresh", action="store_true", help="add another full copy of the lessons")
    parser.add_argument("--copy-only", action="store_true", help="do not start JupyterLab")
    options, passed_on = parser.parse_known_args()

    copies = ROOT / "my_notebooks"
    folder = fresh_folder(copies, date.today()) if options.fresh else copies
    copied = copy_missing(ROOT / "notebooks", folder)
    copy_missing(ROOT / "capstone", folder / "capstone", *CAPSTONE)
    print(f"{len(copied)} lessons copied to {folder.relative_to(ROOT)}; what was there is as you left it.")
    if options.copy_only:
        return

    from jupyterlab.labapp import LabApp

    # With new copies the first of them is opened; otherwise JupyterLab shows what was open last.
    opened = next((path for path in copied if path.name == FIRST), None)
    LabApp.launch_instance(lab_arguments(copies, opened) + passed_on)


if __name__ == "__main__":
    main()
