# SPDX-License-Identifier: MIT
"""Fill a folder with all that `make setup` installs, for a room without internet.

    python -m tools.wheels [FOLDER [pip's options, such as --extra-index-url …]]

Run it, with internet, on one machine of each kind that is expected in the room (system, processor, version of Python to
its last number): pip decides by the machine it runs on. Carry the folder there, and install from it alone:

    make lab WHEELS=FOLDER
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from pathlib import Path

from tools.notebooks import ROOT, command


def requirements() -> list[str]:
    """What the package, the lessons and the checks need, and what builds the package itself.

    >>> [name for name in requirements() if name.startswith(("numpy", "jupyterlab", "pytest>", "setuptools"))]
    ['setuptools>=77', 'numpy>=2.0', 'jupyterlab>=4.4', 'pytest>=8.4']
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    return [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *extras["course"],
        *extras["test"],
    ]


def main() -> int:
    """Download; say how much, and what to do with it."""
    parser = command(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("wheels"), metavar="FOLDER")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="OPTION", help="an option of pip, after FOLDER")
    asked = parser.parse_args()
    folder: Path = asked.folder
    download = [sys.executable, "-m", "pip", "download", "--dest", str(folder), "--constraint", "constraints.txt"]
    done = subprocess.run([*download, *asked.options, *requirements()], cwd=ROOT, check=False)
    if done.returncode == 0:
        files = [path for path in (ROOT / folder).iterdir() if path.is_file()]
        print(
            f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.0f} MB: make lab WHEELS={folder}"
        )
        print("On Windows: the line in docs/workshop.md, 'A room without internet'")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
