# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: beautifulsoup4.
"""From HTML to plain text with its block structure, its headings and its tables: the part of `load_document` for pages.

Beautiful Soup parses; the walk through its tree is our own, because a converter to Markdown escapes characters, so that
quotes from the page are no longer found in the text, and does not say where a heading came to stand.

But: it reads what stands in the file. What a script would add is not there, what a style would hide is. Broken mark-up
is read as html.parser reads it, which differs a little between versions of Python.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from html.entities import html5
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from chunklib.core.outline import Heading
from chunklib.core.span import Span

if TYPE_CHECKING:
    from bs4.element import PageElement, Tag

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_UNSEEN = ("script", "style", "template", "noscript", "title")  # not "head": its end tag may be left out
_PARTS = ("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td")
# How many line ends part an element from its neighbours, as a browser shows it. What is not here runs on in its line.
_TWO = (
    "p pre ul ol menu dl table blockquote figure hr section article aside main nav header footer form fieldset details"
)
_ONE = (
    "div li dt dd caption thead tbody tfoot tr th td address legend summary figcaption body center option optgroup br"
)
_GAPS = {**dict.fromkeys([*_HEADINGS, *_TWO.split()], 2), **dict.fromkeys(_ONE.split(), 1)}
_BLANKS = re.compile(r"[ \t\n\r\f]+")  # HTML's own; a no-break space is none of them, and stays


class Page(NamedTuple):
    """The text of a page and what its mark-up tells. Of a table, the header is an empty span where it has none."""

    text: str
    title: str
    headings: tuple[Heading, ...]
    tables: tuple[tuple[Span, Span], ...]
    metadata: dict[str, str]


def read_html(html: str) -> Page:
    """The visible text of a page, its blocks in lines, nothing escaped; of a page with one ``<main>``, only that.

    Headings have lines of their own, paragraphs are parted by a blank line, items begin with ``-`` or ``1.``, the cells
    of a row are joined by ``|``, ``<pre>`` stays to the letter. A table that holds headings, ``<pre>`` or other tables
    only lays out the page: its cells become lines. Left out: scripts, styles, templates, comments. The title is that of
    the head, else the first ``<h1>``. The head's author, date, description and keywords become metadata.

    Raises ``ImportError`` without beautifulsoup4. Nothing that the page names is fetched. Cost: a second for 500 kB.

    >>> page = read_html("<h1>Fees</h1><p>Per <b>par</b>cel:<table><tr><th>Zone<th>&euro;<tr><td>near<td>4.90</table>")
    >>> page.text
    'Fees\\n\\nPer parcel:\\n\\nZone | €\\nnear | 4.90'
    >>> page.headings, [header.of(page.text) for header, table in page.tables]
    ((Heading(start=0, end=4, level=1, title='Fees'),), ['Zone | €'])
    """
    try:
        from bs4 import BeautifulSoup
    except ModuleNotFoundError:
        raise ImportError("HTML needs beautifulsoup4: pip install beautifulsoup4") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "looks like XML", "looks like the name of a file"
        soup = BeautifulSoup(_tamed(html), "html.parser")
    mains = soup.find_all("main")
    writer = _Writer()
    for opens, node in _walk(mains[0] if len(mains) == 1 and mains[0].get_text(strip=True) else soup):
        writer.take(opens, node)
    writer.end_line()
    titles = [" ".join(tag.get_text().split()) for tag in (soup.find("title"), soup.find("h1")) if tag]
    told = {str(tag.get("name")).lower(): str(tag.get("content", "")).strip() for tag in soup.find_all("meta")}
    return Page(
        "".join(writer.parts),
        next(filter(None, titles), ""),
        tuple(writer.headings),
        tuple(writer.tables),
        {name: told[name] for name in ("author", "date", "description", "keywords") if told.get(name)},
    )


def _tamed(html: str) -> str:
    """The same page without what html.parser or Beautiful Soup cannot take: 100 kB of ``<a `` would last minutes."""
    html = html.replace("\r\n", "\n").replace("\r", "\n").replace("<![", "<! [")
    for start, end in (("<!--", "-->"), ("<", ">")):  # what starts after the last end never ends: it is text
        closed, end, rest = html.rpartition(end)
        html = closed + end + rest.replace(start, "&lt;" + start[1:])
    # Of &unknown; they would drop the semicolon; a character with a thousand digits is no number to them.
    html = re.sub(r"&(#\w{9,}|\w+;)", lambda found: found[0] if found[1] in html5 else f"&amp;{found[1]}", html)
    # Unless they close themselves, each of these is looked at again at the end of every other element.
    return re.sub(r"<(br|hr|img|input|wbr)\b([^<>]*)>", r"<\1\2/>", html, flags=re.IGNORECASE)


def _walk(root: Tag) -> Iterator[tuple[bool, PageElement]]:
    """Every node as it opens, every tag once more as it closes. No recursion: pages may nest without limit."""
    todo: list[tuple[bool, PageElement]] = [(True, root)]
    while todo:
        opens, node = todo.pop()
        if getattr(node, "name", None) not in _UNSEEN:
            yield opens, node
            if opens and (contents := getattr(node, "contents", None)) is not None:
                todo.append((False, node))
                todo += [(True, child) for child in reversed(contents)]


class _Writer:
    """Writes line by line, so that it is known where each line stands."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.size = 0
        self.headings: list[Heading] = []
        self.tables: list[tuple[Span, Span]] = []
        self.line: list[str] = []  # what the next line says so far
        self.gap = 0  # line ends due before it
        self.marker = ""  # "- " or "1. ", due before it
        self.lists: list[int | None] = []  # the open lists, outermost first; one with numbers counts
        self.pre = 0  # how many <pre> are open
        self.level = 0  # of the heading that is open
        self.rows: list[tuple[Span, bool]] | None = None  # of the table of data that is open; is it a header row?
        self.row: list[str] | None = None  # the cells before this one
        self.in_cell = self.in_head = self.all_heads = False

    def take(self, opens: bool, node: PageElement) -> None:
        """Take a text, or the start or end of an element."""
        from bs4.element import PreformattedString, Tag

        if not isinstance(node, Tag):
            if not isinstance(node, PreformattedString):  # a comment, a declaration
                self.line.append(str(node))
            return
        name = node.name
        if opens and name in (*_HEADINGS, "pre", "table"):
            self.lay_out()
        if self.rows is not None and name in _PARTS:
            self.take_part(opens, name)
        elif self.row is not None or (name == "br" and self.level):
            self.line.append(" " if name in _GAPS else "")  # a row is one line, and so is a heading
        elif name == "br" and opens:
            if self.pre:
                self.line.append("\n")
            elif not self.end_line(1):
                self.gap = 2
        elif name in _GAPS and name != "br":
            self.end_line(_GAPS[name])

        if name == "table" and opens:
            self.rows, self.level = [], 0
        elif name == "pre":
            self.pre += 1 if opens else -1
        elif name in _HEADINGS:
            self.level = int(name[1]) if opens else 0
        elif name in ("ul", "ol", "menu"):
            self.take_list(opens, node)
        elif name == "li":
            self.take_item(opens)

    def end_line(self, gap: int = 0) -> Span | None:
        """Write the line, if it says anything; ``gap`` line ends are due before the next one."""
        said = "".join(self.line)
        said = said.removeprefix("\n").rstrip() if self.pre else _BLANKS.sub(" ", said).strip(" ")
        self.line.clear()
        span = None
        if said.strip():
            depth = min(len(self.lists), 10) - bool(self.marker)
            before = "\n" * self.gap * bool(self.size) + "  " * depth * (not self.pre) + self.marker
            span = Span(self.size + len(before), self.size + len(before) + len(said))
            self.parts += before, said
            self.size, self.gap, self.marker = span.end, 0, ""
            if self.level:
                self.headings.append(Heading(*span, self.level, said))
                self.level = 0  # so a heading that is never closed ends with its line
        self.gap = max(self.gap, min(gap, 1) if self.lists else gap)
        return span

    def take_list(self, opens: bool, tag: Tag) -> None:
        """Count the open lists; the gap after the outermost one is wider than those inside it."""
        if opens:
            start = re.fullmatch(r"\d{1,9}", str(tag.get("start", "1")))
            self.lists.append(int(start[0] if start else 1) if tag.name == "ol" else None)
        else:
            self.lists.pop()
            if self.row is None:
                self.end_line(2)

    def take_item(self, opens: bool) -> None:
        """Number an item. In a row of a table it has no marker."""
        number = self.lists[-1] if self.lists else None
        if opens and number is not None:
            self.lists[-1] = number + 1
        self.marker = ("- " if number is None else f"{number}. ") if opens and self.row is None else ""

    def take_part(self, opens: bool, name: str) -> None:
        """Take the start or end of a part of a table; end tags may be left out, so a start ends what was open."""
        if name in ("th", "td"):
            self.end_cell()
            if opens:
                if self.row is None:
                    self.row, self.all_heads = [], True
                self.in_cell, self.all_heads = True, self.all_heads and name == "th"
            return
        self.end_row()
        if name in ("thead", "tbody", "tfoot"):
            self.in_head = opens and name == "thead"
        elif name == "tr" and opens:
            self.row, self.all_heads = [], True
        elif name == "table" and self.rows is not None:
            if self.rows:
                start, end = self.rows[0][0].start, self.rows[-1][0].end
                heads = [span for span, is_head in takewhile(lambda row: row[1], self.rows)]
                self.tables.append((Span(start, heads[-1].end if heads else start), Span(start, end)))
            self.rows, self.in_head = None, False
            self.end_line(2)

    def end_cell(self) -> None:
        """Add the cell to its row; words between two cells are a cell, too."""
        said = _BLANKS.sub(" ", "".join(self.line)).strip(" ")
        if self.row is not None and (self.in_cell or said):
            self.row.append(said)
            self.line.clear()
        self.in_cell = False

    def end_row(self) -> None:
        """Write the row as one line; outside of a row, whatever stands there."""
        self.end_cell()
        cells, self.row = self.row, None
        self.line += [" | ".join(cells)] if cells else []
        span = self.end_line(1)
        if span and cells and self.rows is not None:
            self.rows.append((span, self.in_head or self.all_heads))

    def lay_out(self) -> None:
        """The open table turns out to lay out the page: write its cells as lines, and forget that it is a table."""
        cells, rest = self.row or [], self.line
        self.rows = self.row = None
        for cell in cells:
            self.line = [cell]
            self.end_line(1)
        self.line = rest
