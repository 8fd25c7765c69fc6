# SPDX-License-Identifier: MIT
"""Painted chunks: nothing lost, nothing run, nothing told by colour alone, readable in both themes for all eyes."""

from __future__ import annotations

import io
import itertools
import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chunklib.core.document import Document, chunk_document
from chunklib.core.outline import Heading
from chunklib.core.span import Span
from chunklib.course import charts, display
from chunklib.course.charts import chart_style, figure
from chunklib.course.display import ALPHA, COLOURS, Painted, beside, show

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "&amp; &lt; &#0; &",
    "</div></span></sub>",
    '" style="color: red',
    "[3 not a mark 3)",
    "costs $5.00 or $7.50",
    "\r\n \r \n\t",
    "\x00\x1b[31m",
    "\ud800 \udfff",
    "\u202eשלום\u202c",
    "👨‍👩‍👧",
    "你好",
    " ",
]
texts = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(), max_size=12)), max_size=12).map("".join)


@st.composite
def painted(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    """A text, and overlapping spans of it with strictly increasing starts and ends."""
    text = draw(texts)
    places = st.sets(st.integers(0, len(text)), max_size=8)
    pairs = zip(sorted(draw(places)), sorted(draw(places)), strict=False)
    return text, [(start, end) for start, end in pairs if start < end]


class Page(HTMLParser):
    """What a browser makes of the HTML: tags with styles, the painted text, the marks in it, all words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text, self.words = "", ""
        self.spans: list[str] = []
        self.marks: list[str] = []
        self.places: list[int] = []  # of the marks
        self.looks: list[str] = []  # the style of each painted character
        self.open: list[tuple[str, bool]] = []
        self.feed(html)
        self.close()
        assert not self.open, "a tag is left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append((tag, attributes))
        inside = bool(self.open and self.open[-1][1]) or "pre-wrap" in attributes.get("style", "")
        if tag == "span":
            self.spans.append(attributes.get("style", ""))
        if tag != "img":
            self.open.append((tag, inside))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        self.words += data
        if self.open and self.open[-1][1]:
            if self.open[-1][0] == "sub":
                self.marks += data.split(" ")
                self.places += [len(self.text)] * len(data.split(" "))
            else:
                self.text += data
                painted = self.open[-1][0] == "span"
                self.looks += [self.spans[-1] if painted else ""] * len(data)

    def styles(self) -> list[dict[str, str]]:
        return [dict(part.split(": ", 1) for part in a["style"].split("; ")) for _, a in self.tags if "style" in a]

    def bars(self) -> list[tuple[float, float]]:
        places = [style for style in self.styles() if "min-width" in style]
        return [(float(s["margin-left"][:-1]), float(s["width"][:-1])) for s in places]


def page(shown: Painted) -> Page:
    return Page(shown._repr_html_())


def as_shown(text: str) -> str:
    return re.sub("[\x00\ud800-\udfff]", "\ufffd", text)


# What JupyterLab 4's sanitizer means to let through (its own expressions are looser, and may be mended).
RGBA = r"rgba\(\d{1,3}, \d{1,3}, \d{1,3}, (0\.\d+|1)\)"
STOP = rf"({RGBA}|transparent)( \d+%)?"
LENGTH = r"(0|\d+(\.\d+)?(px|em|%))"
KEPT = {
    "background-color": RGBA,
    "background-image": rf"linear-gradient\((\d+deg|to bottom), {STOP}(, {STOP})+\)",
    "background-size": "8px 8px",
    "border": rf"1px (solid|dotted)( {RGBA}| gray)?",
    "border-bottom": "2px dashed",
    "border-left": f"1px solid {RGBA}",
    "border-right": f"1px solid {RGBA}",
    "box-sizing": "border-box",
    "clear": "both",
    "float": "left|right",
    "font-family": "monospace",
    "font-size": LENGTH,
    "font-weight": "bold",
    "height": LENGTH,
    "line-height": r"\d+(\.\d+)?",
    "margin": f"{LENGTH}( {LENGTH})*",
    "margin-left": LENGTH,
    "margin-top": LENGTH,
    "max-width": LENGTH,
    "min-width": LENGTH,
    "overflow-wrap": "break-word",
    "padding": f"{LENGTH}( {LENGTH})*",
    "text-align": "left",
    "vertical-align": "baseline",
    "white-space": "pre-wrap",
    "width": LENGTH,
}
TAGS = {"div", "span", "sub", "em", "details", "summary", "table", "thead", "tbody", "tr", "th", "td"}


@given(painted())
@example(("<script>alert(1)</script><img onerror=x>&amp;", [(0, 10), (5, 30), (8, 31), (9, 32), (40, 42)]))
def test_the_source_is_painted_to_the_letter_and_nothing_of_it_is_run(case: tuple[str, list[tuple[int, int]]]) -> None:
    text, spans = case
    shown = show(text, spans)
    seen = page(shown)
    assert seen.text == as_shown(text)
    assert {tag for tag, _ in seen.tags} <= TAGS
    assert {name for _, attributes in seen.tags for name in attributes} <= {"style", "dir", "class"}
    for style in seen.styles():
        for name, value in style.items():  # "color" is not among them: the theme sets it
            assert re.fullmatch(KEPT[name], value), (name, value)
    marks = dict(zip(seen.marks, seen.places, strict=True))
    for number, (start, end) in enumerate(spans, 1):
        assert marks[f"[{number}"] == start
        assert marks[f"{number})"] == end
    (shown._repr_html_() + repr(shown)).encode()


@given(painted())
def test_each_character_looks_as_the_spans_over_it_say(case: tuple[str, list[tuple[int, int]]]) -> None:
    text, spans = case
    shown = show(text, spans)
    for place, (character, look) in enumerate(zip(text, page(shown).looks, strict=True)):
        over = [n for n, (start, end) in enumerate(spans) if start <= place < end]
        colours = [f"rgba{(*COLOURS[n % 4], 0.4)}" for n in over]
        if len(over) > 1:
            assert f"(to bottom, {colours[0]} 50%, {colours[-1]} 50%); border-bottom: 2px dashed" in look
        elif over:
            assert look == f"background-color: {colours[0]}"
        else:
            assert ("135deg" in look) or (character.isspace() and not look)
    bare = [(row.start, row.end) for row in shown._rows if not row.number]
    assert all(text[start:end] == text[start:end].strip() for start, end in bare)
    covered = {i for start, end in spans for i in range(start, end)}
    assert sum(r.end - r.start - r.shared for r in shown._rows if r.number) == len(covered)


@given(painted(), st.data())
def test_any_order_any_depth_any_place(case: tuple[str, list[tuple[int, int]]], data: st.DataObject) -> None:
    text, spans = case
    some = data.draw(st.permutations(spans + spans[:2] + ([(0, len(text))] if text else [])))
    low, high = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    shown = show(text, some, around=(low, high))
    start, end = shown._range
    assert start <= low <= high <= end
    assert page(shown).text == as_shown(text[start:end])
    assert repr(shown).count(' ch "') == len(shown._rows)


def test_overlap_is_both_colours_with_a_dashed_border_and_never_darker() -> None:
    seen = page(show("abcdefgh", [(0, 5), (3, 8)]))
    blue, vermilion = "rgba(0, 114, 178, 0.4)", "rgba(213, 94, 0, 0.4)"
    assert seen.styles()[2]["background-color"] == blue
    shared = next(style for style in seen.styles() if "border-bottom" in style)
    assert shared == {
        "background-image": f"linear-gradient(to bottom, {blue} 50%, {vermilion} 50%)",
        "border-bottom": "2px dashed",
    }
    assert seen.marks == ["[1", "[2", "1)", "2)"]


def test_text_in_no_chunk_is_hatched_and_labelled_but_white_space_is_not() -> None:
    seen = page(show("one \n two \n", [(0, 3)]))
    assert seen.marks == ["[1", "1)", "in", "no", "chunk:"]
    assert "in no chunk: [6, 9) 3 ch" in seen.words
    assert not [row for row in show("one \n\u3000", [(0, 3)])._rows if not row.number]


def test_prices_in_dollars_are_not_typeset_as_formulas() -> None:
    assert page(show("$5 or $7", [(0, 8)])).tags[0][1]["class"].startswith("mathjax_ignore")


def test_a_document_gives_section_and_page() -> None:
    headings = (Heading(0, 9, 1, "Returns"), Heading(25, 36, 2, "<Faults>"))
    document = Document("# Returns\n\nThirty days.\n\n## <Faults>\n\nSixty days.", headings=headings, pages=(0, 25))
    shown = show(document, chunk_document(document, lambda text: [Span(11, 23), Span(38, 49)]))
    assert "Returns > <Faults>" in page(shown).words
    assert repr(shown).splitlines()[4] == '2: [38, 49) 11 ch "Sixty days." 4 tokens, Returns > <Faults>, page 2'


def test_a_long_text_is_painted_in_part_and_ruled_in_whole() -> None:
    text = "word " * 4000
    shown = show(text, [(i, i + 99) for i in range(0, len(text), 100)])
    seen = page(shown)
    assert seen.text == text[: display.PAINTED]
    assert "17000 characters after this are not painted" in seen.words
    assert "... and 160 more" in seen.words
    assert len(seen.bars()) == display.BARS + 2  # what is painted, what is not shown one by one
    assert max(left + width for left, width in seen.bars()) == 100
    assert min(left for left, _ in seen.bars()) == 0
    assert seen.marks[-1] == "30)"
    assert len(repr(shown).splitlines()) == display.LISTED + 2
    assert len(shown._repr_html_()) < 60_000


def test_around_paints_one_place_and_the_chunks_that_touch_it() -> None:
    text = "word " * 4000
    shown = show(text, [(i, i + 120) for i in range(0, len(text) - 100, 100)], around=(10_050, 10_060))
    seen = page(shown)
    assert shown._range == (10_000, 10_120)
    assert seen.marks == ["...100", "[101", "100)", "[102", "101)", "102..."]
    assert {"10000 characters before this are not painted", "9880 characters after this are not painted"} <= set(
        re.findall(r"\d+ characters \w+ this are not painted", seen.words)
    )
    assert "101: [10000, 10120) 120 ch" in seen.words
    assert {0.0} < {left for left, _ in seen.bars()}
    assert max(left + width for left, width in seen.bars()) == 100


def test_around_a_huge_chunk_keeps_its_place_in_view() -> None:
    shown = show("x" * 50_000, [(0, 50_000)], around=(30_000, 30_010))
    start, end = shown._range
    assert start <= 30_000 < 30_010 <= end == start + display.PAINTED
    assert page(shown).marks == ["...1", "1..."]


def test_beside_paints_the_same_characters_in_each_column() -> None:
    text = "One <b>two</b>. Three four. Five."
    columns = beside(text, {"whole <i>": [(0, 33)], "two": [(0, 15), (16, 27)]}, around=(4, 20))
    html = columns._repr_html_()
    assert "<b>" not in html
    assert "<i>" not in html
    cells = [re.sub(r"<sub[^>]*>[^<]*</sub>|<[^>]*>", "", cell) for cell in re.findall(r"<td.*?</td>", html, re.DOTALL)]
    assert cells == ["&lt;b&gt;two&lt;/b&gt;. Thre"] * 2
    assert html.count("width: 50%") == 2
    assert repr(columns).splitlines() == [
        "whole <i>: 1 chunk, of which here",
        '  1: [0, 33) 33 ch "One <b>two</b>. Three four. Five."',
        "two: 2 chunks, of which here",
        '  1: [0, 15) 15 ch "One <b>two</b>."',
        '  2: [16, 27) 11 ch "Three four."',
    ]


def test_beside_wants_columns_and_good_spans() -> None:
    with pytest.raises(ValueError, match="named is empty"):
        beside("One.", {}, around=(0, 2))
    with pytest.raises(ValueError, match="does not fit"):
        beside("One.", {"mine": [(0, 9)]}, around=(0, 2))
    with pytest.raises(ValueError, match="around"):
        beside("One.", {"mine": [(0, 4)]}, around=(2, 2))


def test_nothing_to_show() -> None:
    assert repr(show("", [])) == "0 chunks over 0 ch; 0 ch repeated; 0 ch in no chunk"
    assert page(show("", [], around=(0, 0))).text == ""
    assert page(show("words", [])).marks == ["in", "no", "chunk:"]


@pytest.mark.parametrize("bad", [(0, 9), (-1, 2), (2, 2), (3, 1), (0.0, 1.0), "ab", (1,), (1, 2, 3), None, 7])
def test_a_bad_span_is_named(bad: object) -> None:
    with pytest.raises(ValueError, match=r"span .*want") as raised:
        show("12345678", [bad])  # type: ignore[list-item]
    assert re.sub(r"[\s'(),]", "", str(bad)) in re.sub(r"[\s'(),]", "", str(raised.value))


def test_a_bad_place_and_a_chunk_of_another_text_are_named() -> None:
    with pytest.raises(ValueError, match=r"around \(3, 99\).*<= 8"):
        show("12345678", [], around=(3, 99))
    with pytest.raises(ValueError, match=r"another text; show its own document"):
        show("12345678", chunk_document(Document("abcdefgh"), lambda text: [(0, 4)]))


# Colours. The text is JupyterLab's: rgba(0, 0, 0, .87) on white, #fff on #111.

THEMES = {"light": ((255, 255, 255), (0, 0, 0), 0.87, 9.0), "dark": ((17, 17, 17), (255, 255, 255), 1.0, 8.0)}
GREY = (128, 128, 128)
# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
EYES = {
    "all three cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
#: CIE76. Ten is another colour at a glance; translucent paint wants room, and ours has it (37 at the least).
DISTINCT = 30.0


def over(colour: object, background: object, alpha: float) -> np.ndarray:
    return alpha * np.asarray(colour, dtype=float) + (1 - alpha) * np.asarray(background, dtype=float)


def linear(colour: np.ndarray) -> np.ndarray:
    part = np.asarray(colour, dtype=float) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """WCAG 2, from 1 to 21."""
    dark, light = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB under D65, of linear RGB."""
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    t = np.array(to_xyz) @ rgb / [0.95047, 1.0, 1.08883]
    x, y, z = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", THEMES)
def test_text_is_readable_on_every_colour(theme: str) -> None:
    background, ink, opacity, goal = THEMES[theme]
    for colour in (*COLOURS, GREY):
        paper = over(colour, background, ALPHA)
        assert contrast(over(ink, paper, opacity), paper) >= goal, (theme, colour)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("eyes", EYES)
def test_neighbours_differ_for_all_eyes(theme: str, eyes: str) -> None:
    seen = [
        lab(np.clip(np.array(EYES[eyes]) @ linear(over(colour, THEMES[theme][0], ALPHA)), 0, 1)) for colour in COLOURS
    ]
    for one, other in itertools.pairwise([*seen, seen[0]]):
        assert np.linalg.norm(one - other) >= DISTINCT


# Figures.


def drawing() -> Any:
    from matplotlib import pyplot, rc_context

    style: Any = chart_style()
    with rc_context(style):
        fig, ax = pyplot.subplots()
        for k in range(4):
            ax.plot(range(50), [k * 20 + x**0.5 for x in range(50)])
        ax.plot([10], [70], "o", color="#E69F00")
        ax.set(title="Overlap keeps sentences whole", xlabel="overlap (%)", ylabel="sentences kept whole (%)")
    return fig


ALT = 'Sentences kept whole against overlap, "rising" & <falling>'


def test_a_figure_is_small_stable_closed_and_described() -> None:
    from matplotlib import pyplot
    from PIL import Image

    shown, again = (figure(drawing(), alt=ALT) for _ in range(2))
    assert shown.png == again.png
    assert not pyplot.get_fignums()
    assert len(shown.png) <= 40_000
    with Image.open(io.BytesIO(shown.png)) as picture:
        assert not {"Software", "Creation Time"} & set(picture.info)
        colours = picture.convert("RGB").getcolors(64)
        assert colours
        assert max(colours)[1] == (255, 255, 255)
        # the one orange point keeps its colour
        assert min(max(map(abs, np.subtract(c, (230, 159, 0)))) for _, c in colours) <= 4
    assert repr(shown) == f"Figure: {ALT}"
    seen = Page(shown._repr_html_())
    assert [tag for tag, _ in seen.tags] == ["figure", "img"]
    image = seen.tags[1][1]
    assert image["alt"] == ALT
    assert image["src"].startswith("data:image/png;base64,iVBOR")
    assert "max-width: 100%" in image["style"]


@pytest.mark.parametrize("alt", ["", "A chart", "one two three four"])
def test_a_figure_wants_words(alt: str) -> None:
    with pytest.raises(ValueError, match=f"alt='{alt}' is too short: say in five words"):
        figure(None, alt=alt)  # type: ignore[arg-type]


def test_the_picture_of_the_steps_marks_one_and_points_from_each_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import pyplot
    from matplotlib.colors import to_hex

    drawn: list[Any] = []
    monkeypatch.setattr(charts, "figure", lambda fig, alt: drawn.append((fig, alt)))
    charts.pipeline("retrieval")
    ((fig, alt),) = drawn
    pyplot.close(fig)
    (ax,) = fig.axes
    said = [text for text in ax.texts if text.get_text()]
    assert {text.get_text(): text.get_position() for text in said} == {
        "documents": (0, 0),
        "chunks": (2, 0),
        "index": (4, 0),
        "retrieval": (6, 0),
        "augmentation": (8, 0),
        "generation": (10, 0),
        "you are here": (6, 0.55),
        "once": (2, -0.85),
        "for each question": (8, -0.85),
    }
    boxes = {text.get_text(): to_hex(text.get_bbox_patch().get_facecolor()) for text in said if text.get_bbox_patch()}
    assert [step for step, colour in boxes.items() if colour == "#e69f00"] == ["retrieval"]
    assert len(boxes) == 6
    arrows = [(*note.xyann, *note.xy) for note in ax.texts if not note.get_text()]
    assert arrows == [pytest.approx((end - 1.1, 0, end - 0.9, 0)) for end in (2, 4, 6, 8, 10)]
    assert alt.startswith("Documents, chunks, index; then, for each question: retrieval (you are here), aug")
    with pytest.raises(ValueError, match="here='answers' is not on the picture; use one of documents, chunks, in"):
        charts.pipeline("answers")


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys; from chunklib.course.display import show; show('abc', [(0, 2)]);"
        "print(sorted({'matplotlib', 'PIL', 'IPython', 'tiktoken', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
