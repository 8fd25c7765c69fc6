# SPDX-License-Identifier: MIT
"""Draw the README's picture, docs/painted.png: one passage cut in two ways, painted as the lessons paint it.

python -m tools.picture        needs Chromium (or Chrome) on the path
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from PIL import Image, ImageChops

from chunklib.core.span import Splitter
from chunklib.course.datasets import load_course_documents
from chunklib.course.display import show
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from tools.notebooks import ROOT, command

TARGET = ROOT / "docs" / "painted.png"
WAYS: dict[str, Splitter] = {
    "Fixed size: the answer is cut in two": partial(split_fixed_size, chunk_size=82),
    "Recursive: the answer is in one chunk": partial(split_recursive, chunk_size=82),
}


def page() -> str:
    """The two paintings side by side, as an HTML page."""
    policy = next(d for d in load_course_documents() if d.id == "returns-policy.md").text
    text = policy[policy.index("Before you pack") : policy.index("If the seal on the box")].strip()
    columns = "".join(
        f'<div style="width: 46%; margin: 1%; float: left"><h3>{title}</h3>{show(text, way(text))._repr_html_()}</div>'
        for title, way in WAYS.items()
    )
    return f'<meta charset="utf-8"><body style="font: 15px sans-serif; background: white">{columns}</body>'


def main() -> None:
    """Draw it, cut off the white border, reduce it to 64 colours."""
    command(__doc__).parse_args()
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        sys.exit("no Chromium found: install it, or leave docs/painted.png as it is")
    with tempfile.TemporaryDirectory() as folder:
        html, shot = Path(folder) / "page.html", Path(folder) / "shot.png"
        html.write_text(page(), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1200,900"]
        subprocess.run([browser, *options, f"--screenshot={shot}", html.as_uri()], check=True, capture_output=True)
        image = Image.open(shot).convert("RGB")
        image = image.crop(ImageChops.difference(image, Image.new("RGB", image.size, "white")).getbbox())
        image.quantize(64).save(TARGET, optimize=True)


if __name__ == "__main__":
    main()
