# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: matplotlib, Pillow.
"""Figures for the lessons: small, alike, readable in both themes, and with words for those who cannot see them.

But: the background is white in the dark theme as well. A picture that a fresh clone shows cannot know the theme.
"""

from __future__ import annotations

import html
import io
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import matplotlib.figure


@dataclass(frozen=True, repr=False)
class Figure:
    """What `figure` returns: a PNG, the words that say what it shows, and its width on the page in pixels."""

    png: bytes
    alt: str
    width: int

    def __repr__(self) -> str:
        """The words."""
        return f"Figure: {self.alt}"

    def _repr_html_(self) -> str:
        source = f"data:image/png;base64,{b64encode(self.png).decode()}"
        style = f'width="{self.width}" style="max-width: 100%"'
        return f'<figure><img alt="{html.escape(self.alt)}" src="{source}" {style}></figure>'


def figure(fig: matplotlib.figure.Figure, alt: str) -> Figure:
    """Turn a matplotlib figure into a small picture that a fresh clone shows, and close it.

    Parameters: ``alt`` says in five words or more what the picture shows, for those who cannot see it. The background
    is white in both themes. Raises ``ValueError`` where ``alt`` is shorter. Cost: a third of a second, about 15 kB.

    >>> from matplotlib import pyplot
    >>> figure(pyplot.figure(), alt="An empty sheet of paper")
    Figure: An empty sheet of paper
    """
    words = " ".join(alt.split())
    if len(words.split()) < 5:
        raise ValueError(f"alt={alt!r} is too short: say in five words or more what the figure shows")
    from matplotlib import pyplot
    from PIL import Image

    drawn, small = io.BytesIO(), io.BytesIO()
    fig.savefig(drawn, format="png", dpi=144, facecolor="white", bbox_inches="tight")
    pyplot.close(fig)
    # The other methods lose a colour that only one point has.
    picture = Image.open(drawn).convert("RGB").quantize(64, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    picture.save(small, format="PNG", optimize=True)
    return Figure(small.getvalue(), words, picture.width * 2 // 3)


def chart_style() -> dict[str, Any]:
    """Settings for `matplotlib.rcParams`, so that all charts look alike. Axes still want their labels, with units.

    >>> chart_style()["axes.spines.top"]
    False
    """
    colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
    return {
        "axes.prop_cycle": f"cycler('color', {colours})",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
        "axes.titlesize": 12,
        "figure.figsize": (7.0, 3.6),
        "font.size": 10.5,
        "lines.linewidth": 2,
    }


def pipeline(here: str) -> Figure:
    """The steps from documents to an answer, with the step that a lesson is about marked.

    Raises ``ValueError`` for a step that is not on the picture.

    >>> pipeline("chunks")
    Figure: Documents, chunks (you are here), index; then, for each question: retrieval, augmentation, generation
    """
    from matplotlib import pyplot

    steps = ["documents", "chunks", "index", "retrieval", "augmentation", "generation"]
    if here not in steps:
        raise ValueError(f"here={here!r} is not on the picture; use one of {', '.join(steps)}")
    with pyplot.rc_context(chart_style()):  # type: ignore[arg-type]
        fig, ax = pyplot.subplots(figsize=(10, 1.7))
        for i, name in enumerate(steps):
            box = {"boxstyle": "round,pad=0.5", "fc": "#E69F00" if name == here else "#D6E8F5"}
            ax.text(2 * i, 0, name, ha="center", va="center", bbox=box, fontsize=9.5)
            if i:
                ax.annotate("", (2 * i - 0.9, 0), (2 * i - 1.1, 0), arrowprops={"arrowstyle": "->"})
        ax.text(2 * steps.index(here), 0.55, "you are here", ha="center")
        ax.text(2, -0.85, "once", ha="center")
        ax.text(8, -0.85, "for each question", ha="center")
        ax.set(xlim=(-1, 11), ylim=(-1, 1), title="Chunks come first: no later step can add what they lost")
        ax.axis("off")
        named = [f"{step} (you are here)" if step == here else step for step in steps]
        alt = f"{', '.join(named[:3]).capitalize()}; then, for each question: {', '.join(named[3:])}"
        return figure(fig, alt=alt)
