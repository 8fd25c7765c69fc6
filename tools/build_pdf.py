# SPDX-License-Identifier: MIT
"""Build the PDF documents in data/ from their texts in data/pdf/, to the same bytes on every run.

    python -m tools.build_pdf

The texts are written in a few marks of Markdown, one paragraph or list item a line: `#` title, `##` and `###` headings
(these two become the outline), `-` and `1.` list items, `| cell | cell |` tables whose first row is the head, and `---`
for a new page. Lines at the top such as `% footer: Edition 2` set title, running header and footer; without them the
pages have neither. Nothing is compressed, so the bytes do not depend on the version of zlib either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reportlab.lib.pagesizes import A5
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from tools.notebooks import command

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data"
NAMES = ("ps600-power-station-manual", "service-desk-cards")

WIDTH, HEIGHT = A5
LEFT, RIGHT, TOP, BOTTOM = 42.0, WIDTH - 42.0, HEIGHT - 56.0, 52.0
GAP = 9.0  # between the columns of a table


@dataclass(frozen=True)
class Style:
    """How lines of one sort are set."""

    font: str
    size: float
    leading: float
    before: float  # space above the first line


TITLE = Style("Helvetica-Bold", 14.5, 19, 0)
HEADINGS = (Style("Helvetica-Bold", 12.5, 16, 15), Style("Helvetica-Bold", 10, 13.5, 9))
TEXT = Style("Helvetica", 9.5, 13.2, 4.5)
ITEM = Style("Helvetica", 9.5, 13.2, 2)
HEAD = Style("Helvetica-Bold", 8, 11, 6)
ROW = Style("Helvetica", 8, 11, 2)
RUNNING = Style("Helvetica", 7.5, 10, 0)


@dataclass(frozen=True)
class Line:
    """Pieces of text at one height, each with its left edge."""

    y: float
    style: Style
    cells: list[tuple[float, str]]


@dataclass
class Page:
    """What stands on a page, and the chapter that its first line belongs to."""

    chapter: str = ""
    lines: list[Line] = field(default_factory=list)
    headings: list[tuple[int, str, float]] = field(default_factory=list)  # level, title, height
    rules: list[float] = field(default_factory=list)


def blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (mark, lines) of each block; only the rows of a table come together."""
    rows: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append(line)
            continue
        if rows:
            yield "|", rows
            rows = []
        if line and not line.startswith("%"):
            match = re.match(r"#{1,3}(?= )|---$|-(?= )|\d+\.(?= )", line)
            mark = match[0] if match else ""
            yield mark, [line[len(mark) :].strip()]


def width(text: str, style: Style) -> float:
    """Return how wide text is in points."""
    return float(stringWidth(text, style.font, style.size))


def split(text: str, style: Style, room: float) -> list[str]:
    """Break text into lines at blanks; words are never hyphenated, and a number stays with its unit."""
    lines: list[str] = []
    for word in re.split(r"(?<!No\.) (?!(?<=\d )(?:[AVWh%]|Wh|mm|min|°C)(?!\w))", text):
        if lines and width(f"{lines[-1]} {word}", style) <= room:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


class Layout:
    """Place blocks from the top of the first page to the bottom of the last."""

    def __init__(self) -> None:
        self.pages = [Page()]
        self.y = TOP
        self.chapter = ""

    def new_page(self) -> None:
        """Go on at the top of a new page."""
        self.pages.append(Page(self.chapter))
        self.y = TOP

    def reserve(self, height: float) -> None:
        """Start a new page unless height fits on this one."""
        if self.y - height < BOTTOM:
            self.new_page()

    def put(self, cells: list[tuple[float, str]], style: Style, before: float = 0) -> None:
        """Add one line, with space above it unless it is the first on its page."""
        self.reserve(before + style.leading)
        self.y -= style.leading + (before if self.pages[-1].lines else 0)
        self.pages[-1].lines.append(Line(self.y, style, cells))

    def paragraph(self, text: str, style: Style, mark: str = "") -> None:
        """Add text broken into lines; those after a mark are indented by its width."""
        indent = width(mark, style)
        lines = split(text, style, RIGHT - LEFT - indent)
        for number, line in enumerate(lines):
            first = number == 0
            before = style.before if first else 0
            if number == len(lines) - 2:  # the last two stay together
                self.reserve(before + 2 * style.leading)
            self.put([(LEFT, mark + line) if first else (LEFT + indent, line)], style, before)

    def heading(self, level: int, title: str) -> None:
        """Add a heading that keeps at least two lines of its text on the same page."""
        style = HEADINGS[level]
        if width(title, style) > RIGHT - LEFT:
            raise ValueError(f"a heading has to fit on one line: {title}")
        self.reserve(style.before + style.leading + 62 - 22 * level)
        if level == 0:
            self.chapter = title
            page = self.pages[-1]
            page.chapter = page.chapter if page.lines and page.chapter else title
        self.put([(LEFT, title)], style, style.before)
        self.pages[-1].headings.append((level, title, self.y + style.leading))

    def table(self, lines: list[str]) -> None:
        """Add a table: a row is one line, only its last cell may go on below, and no page repeats the head."""
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
        edges = [LEFT]
        for column in range(len(rows[0]) - 1):
            widths = [width(row[column], ROW if number else HEAD) for number, row in enumerate(rows)]
            edges.append(edges[-1] + max(widths) + GAP)
        if RIGHT - edges[-1] < 60:
            raise ValueError(f"no room for the last column of {rows[0]}")
        self.reserve(HEAD.before + HEAD.leading + 3 * ROW.leading)
        for number, row in enumerate(rows):
            style = ROW if number else HEAD
            first, *rest = split(row[-1], style, RIGHT - edges[-1])
            self.reserve(style.before + style.leading * (1 + len(rest)))
            self.put(list(zip(edges, [*row[:-1], first], strict=True)), style, style.before)
            for line in rest:
                self.put([(edges[-1], line)], style)
            if number == 0:
                self.pages[-1].rules.append(self.y - 2.5)

    def add(self, mark: str, lines: list[str]) -> None:
        """Add one block."""
        if mark == "|":
            self.table(lines)
        elif mark == "---":
            self.new_page()
        elif mark == "#":
            self.paragraph(lines[0], TITLE)
        elif mark.startswith("#"):
            self.heading(len(mark) - 2, lines[0])
        elif mark:
            self.paragraph(lines[0], ITEM, "– " if mark == "-" else mark + " ")
        else:
            self.paragraph(lines[0], TEXT)


def draw(canvas: Canvas, line: Line) -> None:
    """Write a line as one piece of text, with two blanks after each cell but the last."""
    text = canvas.beginText()
    text.setFont(line.style.font, line.style.size)
    for number, (x, cell) in enumerate(line.cells, start=1):
        text.setTextOrigin(x, line.y)
        text.textOut(cell if number == len(line.cells) else cell + "  ")
    canvas.drawText(text)


def running(left: str, right: str, y: float) -> Line:
    """Return a header or footer with a text at either edge."""
    return Line(y, RUNNING, [(LEFT, left), (RIGHT - width(right, RUNNING), right)])


def build(text: str) -> bytes:
    """Return the PDF made of a text."""
    text.encode("cp1252")  # all that the standard fonts can show; anything else is an error here
    settings: dict[str, str] = dict(re.findall(r"^% (\w+): (.+)$", text, re.MULTILINE))
    layout = Layout()
    for mark, lines in blocks(text):
        layout.add(mark, lines)
    canvas = Canvas(None, pagesize=A5, invariant=1, pageCompression=0, lang="en-GB")
    canvas.setTitle(settings["title"])
    canvas.setAuthor("TechGadgets")
    canvas.showOutline()
    for number, page in enumerate(layout.pages, start=1):
        if "header" in settings:
            draw(canvas, running(settings["header"], page.chapter, HEIGHT - 36))
        for level, title, height in page.headings:
            key = f"{number}-{height:.1f}"
            canvas.bookmarkPage(key, fit="XYZ", left=0, top=height)
            canvas.addOutlineEntry(title, key, level)
        for line in page.lines:
            draw(canvas, line)
        canvas.setLineWidth(0.4)
        for y in page.rules:
            canvas.line(LEFT, y, RIGHT, y)
        if "footer" in settings:
            draw(canvas, running(settings["footer"], f"{number} / {len(layout.pages)}", 30))
        canvas.showPage()
    return bytes(canvas.getpdfdata())


def main() -> None:
    """Write both documents."""
    command(__doc__).parse_args()
    for name in NAMES:
        pdf = build((DATA / "pdf" / f"{name}.txt").read_text(encoding="utf-8"))
        (DATA / f"{name}.pdf").write_bytes(pdf)
        print(f"{name}.pdf: {len(pdf):,} bytes")


if __name__ == "__main__":
    main()
