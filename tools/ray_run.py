# SPDX-License-Identifier: MIT
"""Encode the course's documents with Ray Data while one worker is killed, and write down what was lost or doubled.

    python -m tools.ray_run [FILE]

FILE is data/ray.json unless named; lesson 13 shows it. Needs the extra [scale]. Takes about a minute.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from chunklib.core.document import Document
from chunklib.core.vectors import Vectors
from chunklib.course.datasets import DATA, load_course_documents
from chunklib.production.scaling import add_encoded, encode_with_ray
from chunklib.search.embedding import embed
from chunklib.search.parents import ParentChildIndex
from chunklib.search.stores import VectorStore
from tools.notebooks import command


class Mortal:
    """The encoder, in a process that is killed once, in the middle of its work. ``folder`` notes each process."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """The vectors, or death."""
        Path(self.folder, str(os.getpid())).touch()
        killed = Path(self.folder, "killed")
        if not killed.exists() and any("60 days instead" in text for text in texts):
            killed.touch()
            os.kill(os.getpid(), signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        return embed(texts)


def contents(vectors: VectorStore, parents: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """All that two stores hold, to be compared: without what is the index's own, and differs between two alike."""
    points = vectors.get(list(vectors.ids()))
    texts = {key: text for key, text in parents.items() if key not in ("settings", "version")}
    return {id: (p.payload, [round(float(x), 5) for x in p.vector]) for id, p in points.items()}, texts


def run() -> dict[str, Any]:
    """Documents through Ray into a new index, and what a comparison with one process finds."""
    import ray

    documents = [*load_course_documents(), Document(" \n", id="blank"), Document("half \ud83d of a sign", id="half")]
    alone, index = ParentChildIndex(namespace="run"), ParentChildIndex(namespace="run")
    for document in documents:
        alone.add(document)
    back: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for encoded in encode_with_ray(documents, embed=Mortal(folder), workers=2, batch=16):
            back[encoded.document.id] += 1
            add_encoded(index, encoded)
        ray.shutdown()
        names = [path.name for path in Path(folder).iterdir()]
    points, texts = contents(index.vectors, index.parents)
    return {
        "date": date.today().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version(), "ray": ray.__version__},
        "documents": len(documents),
        "vectors": len(points),
        "workers": 2,
        "processes that encoded": len(set(names) - {"killed"}),
        "killed": int("killed" in names),
        "lost": sum(back[document.id] == 0 for document in documents),
        "doubled": sum(n > 1 for n in back.values()),
        "stores equal to those of one process": (points, texts) == contents(alone.vectors, alone.parents),
    }


def main() -> None:
    """Run and write the file."""
    options = command(__doc__)
    options.add_argument("file", nargs="?", type=Path, default=DATA / "ray.json", metavar="FILE")
    file: Path = options.parse_args().file
    found = run()
    file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8", newline="\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
