# SPDX-License-Identifier: MIT
"""The shape of a lesson, and a guard for each trap of nbval (which then compares every output).

Each rule is a pure function from a lesson to complaints. Every rule is itself tested on spoilt copies of a lesson that
all of them pass; of each copy one of them must complain.

What the lesson's author needs to know of the format:

- The first cell is Markdown, holds the one H1 (``# Cut a text …``: it starts with a verb of `VERBS`) and the line
  ``**40 minutes** reading and running, 20 minutes exercises``.
- Tags: ``core`` (8 to 10 cells; in 00, 01 and 04 tools/short.py keeps what leads to them), ``exercise`` (3 or more),
  ``predict``, and ``nbval-ignore-output``, each use of which needs its reason in `IGNORED`. No other tag.
- A ``predict`` cell's first line of output is ``Compare with your guess:``.
- Sections ``## Exercises``, ``## Recap``, ``## Take it with you`` (with its ``But:`` list), ``## Further reading``, in
  this order; the last Markdown cell holds ``Code: MIT. Text: CC BY 4.0.``.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tools.glossary import TERMS
from tools.notebooks import MACHINE_PATH, NOTEBOOKS, dump, normalise, tags
from tools.readme import MINUTES

Cell = dict[str, Any]

# (lesson, cell id) -> why its output cannot be compared.
IGNORED: dict[tuple[str, str], str] = {}
TAGS = {"core", "exercise", "predict", "nbval-ignore-output"}
MAGICS: set[str] = set()  # none is allowed; nbval takes an unknown one for a passed cell
VERBS = re.compile(
    "(?:Add|Ask|Bring|Build|Check|Choose|Clean|Compare|Count|Cut|Embed|Find|Follow|Give|Keep|Know|Let|Look|"
    "Make|Map|Measure|Meet|Mend|Move|Name|Pack|Paint|Put|Read|Retrieve|Run|Scale|Search|See|Show|Slice|"
    "Split|Spread|Start|Store|Take|Teach|Tell|Trace|Tune|Turn|Understand|Use|Watch|Widen|Work)"
)
GUESS = "Compare with your guess:"
LICENCE = "Code: MIT. Text: CC BY 4.0."
SECTIONS = ["Exercises", "Recap", "Take it with you", "Further reading"]
HYPE = re.compile(r"\b(simply|just|obvious(?:ly)?|easy|easily|trivial(?:ly)?|clearly|of course)\b|!", re.IGNORECASE)
IMAGE = re.compile(r"<img\b[^>]*>")
ALT = re.compile(r"""\balt=(["'])(.*?)\1""", re.DOTALL)
PICTURE = re.compile(r"data:image/[a-z+]+;base64,([A-Za-z0-9+/=]+)")
PAINT = re.compile("background-color|linear-gradient")


@dataclass
class Lesson:
    """One notebook as stored, and what the rules ask of it."""

    name: str
    text: str
    siblings: frozenset[str]  # the notebooks beside it

    @cached_property
    def notebook(self) -> dict[str, Any]:
        return dict(json.loads(self.text))

    @cached_property
    def cells(self) -> list[Cell]:
        return [{**cell, "source": joined(cell["source"])} for cell in self.notebook["cells"]]

    @property
    def code(self) -> list[Cell]:
        return [cell for cell in self.cells if cell["cell_type"] == "code"]

    @property
    def markdown(self) -> list[Cell]:
        return [cell for cell in self.cells if cell["cell_type"] == "markdown"]

    def tagged(self, tag: str) -> list[Cell]:
        return [cell for cell in self.cells if tag in tags(cell)]

    @cached_property
    def tokens(self) -> list[Token]:
        """The Markdown cells' block tokens, each cell parsed on its own as JupyterLab does."""
        return [token for cell in self.markdown for token in MarkdownIt().enable("table").parse(cell["source"])]

    @cached_property
    def inlines(self) -> list[Token]:
        return [child for token in self.tokens for child in token.children or ()]

    @cached_property
    def headings(self) -> list[tuple[int, str]]:
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        return [(int(a.tag[1:]), b.content) for a, b in pairs if a.type == "heading_open"]

    @cached_property
    def prose(self) -> list[str]:
        """The words a learner reads: no fenced code, no markup, no addresses; a term in backticks counts."""
        parts = [
            " ".join(child.content for child in token.children or () if child.type in ("text", "code_inline"))
            for token in self.tokens
            if token.type == "inline"
        ]
        return [word for word in " ".join(parts).split() if re.search(r"\w", word)]


def joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def shown(cell: Cell, kind: str) -> list[str]:
    """Return the cell's outputs of one kind: "text" for what is printed, otherwise a media type."""
    found = [
        joined(o.get("text", "")) if kind == "text" else joined(o.get("data", {}).get(kind, ""))
        for o in cell["outputs"]
    ]
    return [text for text in found if text]


def label(cell: Cell) -> str:
    return f"{cell.get('id')} ({next(iter(cell['source'].splitlines()), 'empty')[:60]})"


# --- The rules -------------------------------------------------------------------------------------------------------


def check_valid(lesson: Lesson) -> Iterator[str]:
    """GitHub must be able to show it."""
    try:
        nbformat.validate(nbformat.reads(lesson.text, as_version=nbformat.NO_CONVERT))
    except nbformat.ValidationError as error:
        yield f"not a valid notebook: {error.message}"


def check_stored_as_rebuilt(lesson: Lesson) -> Iterator[str]:
    """Metadata normalised, and the file's layout as `make notebooks` writes it."""
    twin = copy.deepcopy(lesson.notebook)
    normalise(twin)
    if dump(twin) != lesson.text:
        yield "metadata or layout is not what `make notebooks` writes: run it"


def check_has_been_run(lesson: Lesson) -> Iterator[str]:
    """Nbval does not compare a cell without a count, so changed code would pass."""
    counts = [cell["execution_count"] for cell in lesson.code]
    if counts != list(range(1, len(counts) + 1)):
        yield f"execution counts {counts}: want 1, 2, 3 …"


def check_source(lesson: Lesson) -> Iterator[str]:
    """No installing, no detours to helpers, none of nbval's traps."""
    forbidden = {
        r"\bpip\b|\bwget\b|\bgit clone\b": "installs or fetches",
        r"\bsys\.path\b|\bimport \*": "reaches for helpers in a way that belongs into chunklib",
        r";[ \t]*(#.*)?$": "a trailing semicolon does not silence output under nbval",
        r"(?i)# *(NBVAL|PYTEST_VALIDATE)_": "markers are tags, not comments",
        r"^\s*!|\?\s*$": "a shell command, or IPython's help",
    }
    for cell in lesson.code:
        for pattern, what in forbidden.items():
            if re.search(pattern, cell["source"], re.MULTILINE):
                yield f"{label(cell)}: {what}"
        for magic in re.findall(r"^\s*(%%?\w+)", cell["source"], re.MULTILINE):
            if magic not in MAGICS:
                yield f"{label(cell)}: magic {magic} is not on the list"
        moving = re.search(r"\bclear_output\b|\bdisplay_id\b|\bupdate_display\b|\binteract\b", cell["source"])
        if moving and "nbval-ignore-output" not in tags(cell):
            yield f"{label(cell)}: nbval does not follow {moving[0]}"


def check_outputs(lesson: Lesson) -> Iterator[str]:
    """No error, warning, SVG or trace of one machine in what a cell shows."""
    for cell in lesson.code:
        for output in cell["outputs"]:
            if output["output_type"] == "error" or output.get("name") == "stderr":
                yield f"{label(cell)}: stores an error or stderr"
            if "image/svg+xml" in output.get("data", {}):
                yield f"{label(cell)}: SVG (dates and random ids in it, and JupyterLab hides it)"
        text = "\n".join(t for kind in ("text", "text/plain", "text/html") for t in shown(cell, kind))
        for pattern, what in {
            r"<svg\b": "SVG, which JupyterLab hides",
            r"\b\w*Warning: ": "a warning",
            r"Traceback \(most recent call last\)": "a traceback",
            r"\b0x[0-9a-f]{6,}": "an object's address",
            MACHINE_PATH.pattern: "a path of one machine",
        }.items():
            if found := re.search(pattern, text):
                yield f"{label(cell)}: shows {what}: {found[0]}"


def check_tags(lesson: Lesson) -> Iterator[str]:
    """Known tags only (so no raises-exception, which passes when nothing is raised); an ignored cell has its reason."""
    for cell in lesson.cells:
        for tag in sorted(set(tags(cell)) - TAGS):
            yield f"{label(cell)}: unknown tag {tag}"
    ignored = {(lesson.name, cell["id"]) for cell in lesson.tagged("nbval-ignore-output")}
    for key in sorted(ignored - {key for key, reason in IGNORED.items() if reason}):
        yield f"{key[1]}: output ignored, but no reason in IGNORED"
    for key in sorted({key for key in IGNORED if key[0] == lesson.name} - ignored):
        yield f"{key[1]}: a reason in IGNORED, but the cell is not tagged"


def check_size(lesson: Lesson) -> Iterator[str]:
    """Short enough to be finished."""
    low, high = (1, 22) if lesson.name.startswith("00") else (18, 28)
    if not low <= len(lesson.code) <= high:
        yield f"{len(lesson.code)} code cells: want {low} to {high}"
    if len(lesson.prose) > 1900:
        yield f"{len(lesson.prose)} words of prose: want 1,900 at most"
    if len(lesson.text.encode()) > 300_000:
        yield f"{len(lesson.text.encode())} bytes: want 300,000 at most"
    for cell in lesson.code:
        if (lines := len(cell["source"].splitlines())) > 20:
            yield f"{label(cell)}: {lines} lines; more than 20 belong into chunklib"


def check_minutes(lesson: Lesson) -> Iterator[str]:
    """The time stated is honest: words / 180 + 1 for each code cell, within a quarter."""
    if not (stated := MINUTES.search(lesson.cells[0]["source"])):
        yield "the first cell lacks its minutes: **40 minutes** reading and running, 20 minutes exercises"
        return
    reading, exercises = int(stated[1]), int(stated[2])
    expected = len(lesson.prose) / 180 + len(lesson.code)
    if abs(reading - expected) > expected / 4:
        yield f"{reading} minutes stated, {expected:.0f} expected"
    if not 15 <= exercises <= 25:
        yield f"{exercises} minutes of exercises: want 15 to 25"


def check_headings(lesson: Lesson) -> Iterator[str]:
    """One H1, first, that starts with a verb; no level left out; the closing sections in order."""
    levels = [level for level, _ in lesson.headings]
    if levels.count(1) != 1 or levels[0] != 1:
        yield f"want one H1, first; levels are {levels}"
        return
    if not VERBS.fullmatch((title := lesson.headings[0][1]).split()[0]):
        yield f"the title {title!r} does not start with a verb (or extend VERBS)"
    if lesson.cells[0]["cell_type"] != "markdown" or not lesson.cells[0]["source"].startswith("# "):
        yield "the first cell is not the title"
    for (level, _), (next_level, heading) in zip(lesson.headings, lesson.headings[1:], strict=False):
        if next_level > level + 1:
            yield f"{heading!r} jumps from level {level} to {next_level}"
    closing = [heading for level, heading in lesson.headings if level == 2 and heading in SECTIONS]
    if closing != SECTIONS:
        yield f"closing sections are {closing}: want {SECTIONS}"


def check_closing(lesson: Lesson) -> Iterator[str]:
    """What to take home says what it leaves out; the licence is told."""
    whole = "\n\n".join(cell["source"] for cell in lesson.markdown)
    _, _, home = whole.partition("\n## Take it with you\n")
    if not re.search(r"^\W*But:", home.partition("\n## Further reading")[0], re.MULTILINE):
        yield "no list that starts with But: under 'Take it with you'"
    if not lesson.markdown or LICENCE not in lesson.markdown[-1]["source"]:
        yield f"the last Markdown cell lacks: {LICENCE}"


def check_pictures(lesson: Lesson) -> Iterator[str]:
    """Every picture has alternative text of five words or more, and is small."""
    pictures = 0
    for cell in lesson.code:
        for output in cell["outputs"]:
            if any(kind.startswith("image/") for kind in output.get("data", {})):
                yield f"{label(cell)}: a bare image; want HTML with <img alt=…>"
        for page in shown(cell, "text/html"):
            for image in IMAGE.findall(page):
                alt = ALT.search(image)
                if not alt or len(alt[2].split()) < 5:
                    yield f"{label(cell)}: <img> without alt text of five words"
            for data in PICTURE.findall(page):
                pictures += 1
                if len(data) > 40_000:
                    yield f"{label(cell)}: a figure of {len(data)} bytes; want 40,000 at most"
    if pictures > 4:
        yield f"{pictures} figures: want 4 at most"
    for token in lesson.inlines:
        if token.type == "image" and len(token.content.split()) < 5:
            yield f"image {token.attrs['src']!r} in the prose without alt text of five words"
    for image in IMAGE.findall(
        "\n".join(token.content for token in lesson.tokens if "html" in token.type or token.children)
    ):
        alt = ALT.search(image)
        if not alt or len(alt[2].split()) < 5:
            yield "<img> in the prose without alt text of five words"


def check_exercises_and_core(lesson: Lesson) -> Iterator[str]:
    """Three exercises or more; 8 to 10 cells make the 90-minute version."""
    if (exercises := len([c for c in lesson.tagged("exercise") if c["cell_type"] == "code"])) < 3:
        yield f"{exercises} code cells tagged exercise: want 3 or more"
    if not 8 <= (core := len(lesson.tagged("core"))) <= 10:
        yield f"{core} cells tagged core: want 8 to 10"


def check_predictions(lesson: Lesson) -> Iterator[str]:
    """What the learner is to guess is folded, and what shows of it (its first line) gives nothing away."""
    for cell in lesson.tagged("predict"):
        if cell["cell_type"] != "code" or not cell["outputs"]:
            yield f"{label(cell)}: tagged predict, but shows nothing"
            continue
        if cell["metadata"].get("jupyter", {}).get("outputs_hidden") is not True:
            yield f"{label(cell)}: the output of a predict cell must be folded"
        if not joined(cell["outputs"][0].get("text", "")).startswith(GUESS):
            yield f"{label(cell)}: its output must start with {GUESS!r}"
        if any(PAINT.search(page) for page in shown(cell, "text/html")):
            yield f"{label(cell)}: painted chunks cannot be folded"


def check_what_to_notice(lesson: Lesson) -> Iterator[str]:
    """Every cell that shows something is followed by a sentence about it."""
    for cell, following in zip(lesson.cells, [*lesson.cells[1:], None], strict=True):
        if cell["cell_type"] != "code" or not cell["outputs"] or "exercise" in tags(cell):
            continue
        if following is None or following["cell_type"] != "markdown":
            yield f"{label(cell)}: shows something, and no text follows"


def check_prose(lesson: Lesson) -> Iterator[str]:
    """No word that makes a stuck learner feel small, no shouting."""
    text = "\n".join(child.content for child in lesson.inlines if child.type == "text")
    for found in HYPE.finditer(text):
        yield f"{found[0]!r} in: …{text[max(0, found.start() - 30) : found.end() + 30]!r}…"


def check_terms(lesson: Lesson) -> Iterator[str]:
    """A term is in bold where it first appears, in the lesson that defines it, and in no earlier one.

    The first cell may promise what is not defined yet; headings and code do not count.
    """
    prose = "\n\n".join(cell["source"] for cell in lesson.markdown[1:])
    prose = re.sub(r"(?ms)^```.*?^```|^#.*?$|`[^`\n]*`|\]\([^)]*\)", "", prose)
    for number, terms in TERMS.items():
        for term in terms.split(", "):
            found = re.search(rf"(?i)(?<!\w){re.escape(term)}s?(?!\w)", prose)
            if found and number > lesson.name[:2]:
                yield f"{term!r} is defined in lesson {number} only: …{prose[found.start() - 30 : found.end() + 30]!r}…"
            elif number == lesson.name[:2] and (not found or prose[: found.start()].count("**") % 2 == 0):
                yield f"{term!r} is not in bold where it first appears"


def check_links(lesson: Lesson) -> Iterator[str]:
    """Links to other lessons lead somewhere; any other local file is missing beside a learner's copy."""
    for token in lesson.inlines:
        address = str(token.attrs.get("href", token.attrs.get("src", "")))
        if not address or re.match(r"https?://|mailto:|data:|attachment:", address):
            continue
        target, _, anchor = address.partition("#")
        if target and target not in lesson.siblings:
            yield f"link to {target}: no such notebook here"
        names = {heading.replace(" ", "-") for _, heading in lesson.headings}  # JupyterLab's anchors
        if not target and anchor not in names:
            yield f"link to #{anchor}: no such heading"


Rule = Callable[[Lesson], Iterator[str]]
RULES: list[Rule] = [rule for name, rule in sorted(globals().items()) if name.startswith("check_")]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_lesson(path: Path, rule: Rule) -> None:
    text = path.read_bytes().decode("utf-8")
    found = list(rule(Lesson(path.stem, text, frozenset(p.name for p in NOTEBOOKS))))
    assert not found, "\n".join([path.name, *found])


def test_few_outputs_are_ignored() -> None:
    assert len(IGNORED) <= 5, "ignored cells are rare"


# --- The rules on spoilt copies of a lesson that all of them pass -----------------------------------------------------

TEXT = NOTEBOOKS[1].read_bytes().decode("utf-8")
Notebook = dict[str, Any]
Spoil = Callable[[Notebook], object]


def lesson(text: str) -> Lesson:
    return Lesson(NOTEBOOKS[1].stem, text, frozenset(path.name for path in NOTEBOOKS))


def stored(notebook: Notebook) -> str:
    """As JSON, and not by dump(): that would mend or refuse some of the damage."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def first(notebook: Notebook, kind: str = "code", tag: str = "", *, shows: bool = False) -> Cell:
    """The first cell of a kind, with a tag or an output if that is asked for."""
    some = (cell for cell in notebook["cells"] if cell["cell_type"] == kind)
    return next(cell for cell in some if (not tag or tag in tags(cell)) and (not shows or cell["outputs"]))


def put(key: str, value: object, tag: str = "") -> Spoil:
    return lambda notebook: first(notebook, tag=tag, shows=True).__setitem__(key, value)


def shows(*outputs: Cell) -> Spoil:
    return put("outputs", list(outputs))


def line(new: str, kind: str = "code") -> Spoil:
    """Add to the end of the first cell of a kind."""
    return lambda notebook: first(notebook, kind)["source"].append(f"\n{new}")


def prose(new: str) -> Spoil:
    return line(f"\n{new}\n", "markdown")


def swap(old: str, new: str) -> Spoil:
    """Replace in all Markdown cells by a pattern, which has to match."""

    def spoil(notebook: Notebook) -> None:
        done = 0
        for cell in (cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"):
            text, n = re.subn(old, new, joined(cell["source"]), flags=re.MULTILINE)
            cell["source"], done = text.splitlines(keepends=True), done + n
        assert done

    return spoil


def tag(name: str, first: int = 100) -> Spoil:
    """Give a tag to the first code cells, and to no other."""

    def spoil(notebook: Notebook) -> None:
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, cell in enumerate(code):
            cell["metadata"]["tags"] = [*({*tags(cell)} - {name}), *[name] * (number < first)]

    return spoil


def cells(change: Callable[[list[Cell]], object]) -> Spoil:
    return lambda notebook: change(notebook["cells"])


def printed(text: str, name: str = "stdout") -> Cell:
    return {"output_type": "stream", "name": name, "text": text}


def page(html: str, kind: str = "text/html") -> Cell:
    return {"output_type": "display_data", "metadata": {}, "data": {kind: html, "text/plain": "<a picture>"}}


SHOWS = {"cell_type": "code", "id": "new", "metadata": {}, "source": ["1"], "outputs": [printed("1")]}
SAYS = {"cell_type": "markdown", "id": "new", "metadata": {}, "source": ["Hello."]}
FIGURE = '<figure><img alt="Recall grows with size until 200" src="data:image/png;base64,{}"></figure>'
SPOILT: list[tuple[Rule, str, Spoil]] = [
    (check_valid, "no outputs", lambda notebook: first(notebook).pop("outputs")),
    (check_stored_as_rebuilt, "kernel", lambda nb: nb["metadata"]["kernelspec"].update(name="my-env")),
    (check_stored_as_rebuilt, "timings", put("metadata", {"execution": {"iopub.execute_input": "2026-01-01"}})),
    (check_stored_as_rebuilt, "python version", lambda nb: nb["metadata"]["language_info"].update(version="3.11.7")),
    (check_has_been_run, "not run", put("execution_count", None)),
    (check_has_been_run, "out of order", put("execution_count", 99)),
    (check_source, "pip", line("!pip install x")),
    (check_source, "clone", line("run('git clone x')")),
    (check_source, "wget", line("run('wget x')")),
    (check_source, "sys.path", line("sys.path.append('..')")),
    (check_source, "star", line("from chunklib import *")),
    (check_source, "semicolon", line("print(12);")),
    (check_source, "magic", line("%matplotlib inline")),
    (check_source, "cell magic", line("%%time")),
    (check_source, "shell", line("!ls")),
    (check_source, "help", line("print?")),
    (check_source, "marker", line("# NBVAL_SKIP")),
    (check_source, "interact", line("interact(f)")),
    (check_outputs, "stderr", shows(printed("x", name="stderr"))),
    (check_outputs, "error", shows({"output_type": "error", "ename": "E", "evalue": "", "traceback": []})),
    (check_outputs, "svg", shows(page("<x/>", kind="image/svg+xml"))),
    (check_outputs, "svg in html", shows(page("<p><svg></svg></p>"))),
    (check_outputs, "warning", shows(printed("x.py:1: UserWarning: old\n"))),
    (check_outputs, "traceback", shows(printed("Traceback (most recent call last):\n"))),
    (check_outputs, "address", shows(printed("<object at 0x7f00aa12bb>\n"))),
    (check_outputs, "path", shows(printed("in \n" + "/home" + "/me/course\n"))),
    (check_tags, "raises", tag("raises-exception")),
    (check_tags, "no reason", tag("nbval-ignore-output")),
    (check_size, "few cells", cells(lambda some: some.__delitem__(slice(4, 48)))),
    (check_size, "words", prose("word " * 1900)),
    (check_size, "bytes", shows(printed("x" * 300_000))),
    (check_size, "lines", line("print(12)\n" * 21)),
    (check_minutes, "too short", swap(r"\*\*\d+ minutes", "**12 minutes")),
    (check_minutes, "too long", swap(r"\*\*\d+ minutes", "**99 minutes")),
    (check_minutes, "missing", swap(r"\*\*(\d+ minutes)\*\*", r"\1")),
    (check_minutes, "exercises", swap(r"\d+ minutes exercises", "5 minutes exercises")),
    (check_headings, "two titles", swap("^## Recap", "# Recap")),
    (check_headings, "no verb", swap(r"\A# \w+", "# Fixed-size")),
    (check_headings, "jump", swap("^(## Recap)", r"\1\n\n#### Further")),
    (check_headings, "no recap", swap("^## Recap", "## Summary")),
    (check_headings, "first cell", cells(lambda some: some.insert(0, SAYS))),
    (check_closing, "but", swap("But:", "And:")),
    (check_closing, "licence", swap(re.escape(LICENCE), "")),
    (check_pictures, "bare", shows(page("AAAA", kind="image/png"))),
    (check_pictures, "no alt", shows(page('<img src="data:image/png;base64,AA">'))),
    (check_pictures, "short alt", shows(page('<img alt="a plot" src="data:image/png;base64,AA">'))),
    (check_pictures, "heavy", shows(page(FIGURE.format("A" * 40_001)))),
    (check_pictures, "many", shows(page(FIGURE.format("AA") * 5))),
    (check_pictures, "prose", prose("![chunks](https://example.org/a.png)")),
    (check_pictures, "prose html", prose('You <img src="a.png"> cut.')),
    (check_pictures, "prose html block", prose('<img src="a.png">')),
    (check_exercises_and_core, "exercises", tag("exercise", 2)),
    (check_exercises_and_core, "few core", tag("core", 7)),
    (check_exercises_and_core, "many core", tag("core", 11)),
    (check_predictions, "open", put("metadata", {"tags": ["predict"]}, "predict")),
    (check_predictions, "gives it away", put("outputs", [printed("3\n")], "predict")),
    (check_predictions, "nothing", put("outputs", [], "predict")),
    (
        check_predictions,
        "painted",
        put("outputs", [printed(GUESS), page('<p style="background-color: red">')], "predict"),
    ),
    (check_what_to_notice, "code follows", cells(lambda some: some.insert(3, SHOWS))),
    (check_what_to_notice, "nothing follows", cells(lambda some: some.append(SHOWS))),
    (check_prose, "just", prose("You just cut.")),
    (check_prose, "shouting", prose("You cut!")),
    (check_terms, "not in bold", swap(r"\*\*span\*\*", "span")),
    (check_terms, "not there", swap(r"(?i)\bspans?\b", "place")),
    (check_terms, "bold too late", swap(r"(?=\*\*span\*\*)", "span, ")),
    (check_terms, "too early", swap("^## Recap", "A bootstrap.\n\n## Recap")),
    (check_links, "gone", prose("See [this](99_gone.ipynb).")),
    (check_links, "outside", prose("See [this](../README.md).")),
    (check_links, "anchor", prose("See [this](#Summary).")),
]


@pytest.mark.parametrize(("rule", "what", "spoil"), SPOILT, ids=[f"{rule.__name__}-{what}" for rule, what, _ in SPOILT])
def test_rule_refuses_the_spoilt_lesson(rule: Rule, what: str, spoil: Spoil) -> None:
    notebook = json.loads(TEXT)
    assert stored(notebook) == TEXT
    spoil(notebook)
    assert list(rule(lesson(stored(notebook))))


@pytest.mark.parametrize("change", [tag("core", 8), tag("core", 10), tag("exercise", 3)], ids=["8", "10", "3"])
def test_the_bounds_are_allowed(change: Spoil) -> None:
    notebook = json.loads(TEXT)
    change(notebook)
    assert list(check_exercises_and_core(lesson(stored(notebook)))) == []


def test_every_rule_has_a_spoilt_lesson() -> None:
    assert {rule for rule, _, _ in SPOILT} == set(RULES)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT.rstrip("\n"), id="no newline at the end"),
        pytest.param(json.dumps(json.loads(TEXT), indent=2, ensure_ascii=False, sort_keys=True) + "\n", id="indent"),
        pytest.param(TEXT.replace("\n", "\r\n"), id="line ends of Windows"),
    ],
)
def test_layout_is_checked(text: str) -> None:
    assert list(check_stored_as_rebuilt(lesson(text)))


def test_words_are_counted_as_a_reader_would() -> None:
    source = "## Two words\n\nA `term`, [a link](https://example.org/long), **bold**.\n\n```python\nno = 1\n```\n\n"
    table = {"cell_type": "markdown", "metadata": {}, "source": source + "| a | b |\n|---|---|\n| c | d |"}
    assert lesson(json.dumps({"cells": [table]})).prose == ["Two", "words", "A", "term", "a", "link", "bold", *"abcd"]
