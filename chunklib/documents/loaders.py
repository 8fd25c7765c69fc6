# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: markdown-it-py, PyYAML; for PDF pypdf, for HTML beautifulsoup4.
"""From a file to a `Document`: one text, with title, headings, tables, pages and metadata, each in its place.

Use it for Markdown, HTML, PDF and plain text. Spans refer to the text that comes out here; of Markdown and plain text
that is the file's own, to the letter. Nothing that a file names is ever fetched, expanded or run.

But: a PDF is read in the order in which it was drawn. Scans, tables, columns and words hyphenated at the end of a line
are not mended, and only bookmarks count as its headings.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import logging
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chunklib.core.document import Document
from chunklib.core.outline import Heading, markdown_outline
from chunklib.documents.html_page import read_html

if TYPE_CHECKING:
    from pypdf import PdfReader

# UTF-32 first: its mark begins like that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    codecs.BOM_UTF8: "utf-8",
}


def load_document(path: str | Path, *, id: str | None = None) -> Document:
    """Load one file: ``.md`` or ``.markdown``, ``.html`` or ``.htm``, ``.pdf``, ``.txt``.

    Text is UTF-8, or what a byte order mark says; the mark is dropped. The title is the one that the file gives, else
    its first heading of level 1 (in plain text: a short first line that stands alone), else the file's name.

    Pages of a PDF are joined by a form feed. A first or last line that stands on four of five pages or more, numbers
    aside, is a running header or footer: from three pages on it is left out and named in ``metadata["running_lines"]``.

    Parameters: ``id`` of the document; its file name, unless given. Two files of one name need two ids.

    Raises ``FileNotFoundError``; ``ValueError`` that names the file and the mend, for other suffixes and encodings and
    for a PDF that is broken, locked or a scan; ``ImportError`` that names what to install. Cost: linear; a second for
    1 MB of Markdown, for 500 kB of HTML, for 50 pages of PDF.

    >>> from chunklib.course.datasets import DATA
    >>> document = load_document(DATA / "returns-policy.md")
    >>> document.id, document.title, document.media_type
    ('returns-policy.md', 'TechGadgets Return Policy', 'text/markdown')
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is no file; a folder is for load_documents")
    if path.suffix.lower() not in LOADERS:
        raise ValueError(f"{path}: cannot load {path.suffix!r}; save it as one of {', '.join(LOADERS)}")
    media_type, load = LOADERS[path.suffix.lower()]
    try:
        known = load(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    known["title"] = known["title"] or path.stem
    return Document(id=path.name if id is None else id, source=path.as_posix(), media_type=media_type, **known)


def load_documents(folder: str | Path) -> Iterator[Document]:
    """Load the documents of a folder and its subfolders, one at a time; each one's id is its path inside the folder.

    Raises what `load_document` raises, at the first file that cannot be loaded; `load_folder` goes on there.

    >>> from chunklib.course.datasets import DATA
    >>> next(load_documents(DATA)).id
    'api-orders.html'
    """
    paths = document_paths(folder)
    return (load_document(path, id=path.relative_to(folder).as_posix()) for path in paths)


def document_paths(folder: str | Path) -> list[Path]:
    """The files of a folder and its subfolders that have a loader, hidden ones left out, sorted by their paths in it.

    Raises ``NotADirectoryError`` for anything but a folder.
    """
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"{folder} is no folder; a file is for load_document")
    return [path for path in _files(folder) if path.suffix.lower() in LOADERS]


def _files(folder: str | Path) -> list[Path]:
    """All files of a folder and its subfolders, hidden ones left out, sorted by their paths in it."""
    inside = {path.relative_to(folder).as_posix(): path for path in Path(folder).rglob("*")}
    shown = [name for name in sorted(inside) if not re.search(r"(^|/)\.", name)]  # as text: so also on Windows
    return [inside[name] for name in shown if inside[name].is_file()]


class Loaded(NamedTuple):
    """What `load_folder` returns: the documents, and for each file left out, by its path in the folder, why."""

    documents: tuple[Document, ...]
    refused: dict[str, str]


def load_folder(
    folder: str | Path,
    *,
    largest: int = 20_000_000,
    progress: Callable[[list[Path]], Iterable[Path]] = list,
) -> Loaded:
    """Load all that can be loaded from a folder and its subfolders; of every other file say in a line why not.

    A file that is empty, larger than ``largest`` bytes, locked, broken, of an unknown kind, or of another kind than its
    suffix says, is refused, and the rest goes on. Hidden files and ``.jsonl`` (questions) are passed over.

    Parameters: ``progress`` gets the paths and hands them on, such as ``tqdm``.

    Raises ``NotADirectoryError`` for anything but a folder, nothing else. Cost: that of `load_document`, for each file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "notes.txt").write_text("Ask us.", encoding="utf-8")
    ...     _ = Path(folder, "scan.pdf").write_bytes(b"")
    ...     documents, refused = load_folder(folder)
    >>> documents[0].text, refused
    ('Ask us.', {'scan.pdf': 'is empty'})
    """
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"{folder} is no folder; put your files into one")
    documents: list[Document] = []
    refused: dict[str, str] = {}
    for path in progress([path for path in _files(folder) if path.suffix != ".jsonl"]):
        name = path.relative_to(folder).as_posix()
        try:
            if complaint := _complaint(path, largest):
                raise ValueError(complaint)
            document = load_document(path, id=name)
            if not document.text.strip():
                raise ValueError("holds no text")
            documents.append(document)
        except Exception as error:  # one file, whatever is wrong with it, must not end the others
            said = str(error) if isinstance(error, (ValueError, ImportError)) else f"{type(error).__name__}: {error}"
            refused[name] = " ".join(said.replace(f"{path}: ", "").replace(str(path), name).split())
    return Loaded(tuple(documents), refused)


#: First bytes of files that come under a wrong name.
_KINDS = {
    b"%PDF-": (".pdf", "a PDF"),
    b"PK\x03\x04": ("", "a zip archive, such as .docx or .odt; save it as PDF or HTML"),
    b"\xd0\xcf\x11\xe0": ("", "an old Office file, such as .doc; save it as PDF or HTML"),
    b"{\\rtf": ("", "rich text; save it as PDF or HTML"),
    b"\x89PNG": ("", "a picture; have its text recognised (OCR) first"),
    b"\xff\xd8\xff": ("", "a picture; have its text recognised (OCR) first"),
    b"<!doctype html": (".html", "HTML"),
    b"<html": (".html", "HTML"),
}


def _complaint(path: Path, largest: int) -> str:
    """What is wrong with a file as its size and its first bytes show it, or nothing."""
    size, suffix = path.stat().st_size, path.suffix.lower()
    if not size:
        return "is empty"
    if size > largest:
        return f"has {size / 1e6:,.1f} MB, more than {largest / 1e6:,.1f}; split it, or raise largest"
    with path.open("rb") as file:
        head = file.read(1024).removeprefix(codecs.BOM_UTF8).lstrip()
    for mark, (right, kind) in _KINDS.items():
        if head[: len(mark)].lower() == mark.lower() and suffix not in (right, right.replace("html", "htm")):
            return f"is {kind}" + (f", whatever its name says; rename it to {right}" if right else "")
    if suffix == ".pdf" and b"%PDF-" not in head:
        return "is no PDF, whatever its name says; rename it to what it is, such as .txt"
    return ""


def _decoded(data: bytes) -> str:
    mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
    try:
        text = data[len(mark) :].decode(_MARKS.get(mark, "utf-8"))
    except UnicodeDecodeError as error:
        at = len(mark) + error.start
        raise ValueError(f"byte {at} (0x{data[at]:02x}) is not {error.encoding.upper()}; save it as UTF-8") from None
    if text.count("\0") * 100 > len(text):
        raise ValueError("holds many zero bytes, so it is no text in UTF-8; save it as UTF-8, or as what it is")
    return text


def _markdown(data: bytes) -> dict[str, Any]:
    text = _decoded(data)
    found = markdown_outline(text)
    return {"text": text, "title": found.title, **found._asdict()}


def _html(data: bytes) -> dict[str, Any]:
    return read_html(_decoded(data))._asdict()


def _plain(data: bytes) -> dict[str, Any]:
    text = _decoded(data)
    alone = re.match(r"\s*(\S[^\r\n]{0,79})(?:\r\n|\r|\n)[ \t]*[\r\n]", text)
    return {"text": text, "title": alone[1].strip() if alone else ""}


# --- PDF --------------------------------------------------------------------------------------------------------------


def _pdf(data: bytes) -> dict[str, Any]:
    with _quiet():
        try:
            from pypdf import PdfReader
        except ModuleNotFoundError:
            raise ImportError("PDF needs pypdf: pip install pypdf") from None
        reader = None
        try:
            reader = PdfReader(io.BytesIO(data))
            locked = reader.is_encrypted and not reader.decrypt("")
            pages = [] if locked else [page.extract_text().replace("\f", "\n") for page in reader.pages]
        except Exception as error:  # a broken file makes pypdf raise anything
            if reader is not None and reader.is_encrypted:
                raise ValueError(f"encrypted, and pypdf cannot open it ({error}); save a copy without") from error
            raise ValueError(
                f"pypdf cannot read it ({error}); open it in a viewer and print it to a new PDF"
            ) from error
        if locked:
            raise ValueError("locked by a password; save a copy without one")
        if not "".join(pages).strip():
            raise ValueError("no text on its pages, perhaps a scan; have its text recognised (OCR) first")
        bookmarks, title, author = _told(reader)
    pages, running = _without_running_lines(pages, bookmarks)
    starts = [0]
    for page in pages[:-1]:
        starts.append(starts[-1] + len(page) + 1)
    text = "\f".join(pages)
    metadata = {"author": author} if author else {}
    return {
        "text": text,
        "title": "" if title.lower() == "untitled" else title,
        "headings": _placed(bookmarks, text, starts),
        "pages": tuple(starts),
        "metadata": {**metadata, "running_lines": running} if running else metadata,
    }


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No word from pypdf about faults that it can mend."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _told(reader: PdfReader) -> tuple[list[tuple[int, int, str]], str, str]:
    """What a PDF says of itself: bookmarks (page from 0, level, title) in order of their pages, title, author."""
    bookmarks: list[tuple[int, int, str]] = []

    def collect(items: list[Any], level: int) -> None:
        for item in items:
            if isinstance(item, list):
                collect(item, level + 1)
            elif (page := reader.get_destination_page_number(item)) is not None and (said := _words(item.title)):
                bookmarks.append((page, min(level, 6), said))

    title = author = ""
    # A text without bookmarks is better than none.
    with contextlib.suppress(Exception):
        collect(reader.outline, 1)
    with contextlib.suppress(Exception):
        if info := reader.metadata:
            title, author = _words(info.title), _words(info.author)
    return sorted(bookmarks, key=lambda bookmark: bookmark[0]), title, author


def _words(text: str | None) -> str:
    return " ".join((text or "").split())


def _without_running_lines(pages: list[str], bookmarks: list[tuple[int, int, str]]) -> tuple[list[str], list[str]]:
    """The pages without running headers and footers, three of each at most, and what these say, numbers as ``#``.

    A line that a bookmark names on its page is its heading and stays, and so does the last line of a page.
    """
    named = {(page, title) for page, _, title in bookmarks}
    lines = {number: page.strip().split("\n") for number, page in enumerate(pages) if page.strip()}
    running: list[str] = []
    for edge in (0, -1) * 3 if len(lines) >= 3 else ():
        masked = {number: re.sub(r"\d+", "#", _words(page[edge])) for number, page in lines.items()}
        said, times = Counter(masked.values()).most_common(1)[0]
        if times * 5 >= len(lines) * 4:
            for number, page in lines.items():
                if masked[number] == said and len(page) > 1 and (number, _words(page[edge])) not in named:
                    del page[edge]
                    running += [said] if said and said not in running else []
    return ["\n".join(lines.get(number, [])) for number in range(len(pages))], running


def _placed(bookmarks: list[tuple[int, int, str]], text: str, starts: list[int]) -> tuple[Heading, ...]:
    """Bookmarks as headings: where a line of their page says the same, else an empty span before what follows."""
    headings: list[Heading] = []
    for page, level, title in bookmarks:
        start = max(starts[page], headings[-1].end if headings else 0)
        end = starts[page + 1] - 1 if page + 1 < len(starts) else len(text)
        words = r"\s+".join(map(re.escape, title.split()))
        # ^ would not see the start of a page. The number of a section often stands in the text only.
        line = re.compile(rf"(?<![^\n\f])[^\S\n]*(?:[\d.]+[^\S\n]+)?({words})[^\S\n]*$", re.MULTILINE)
        found = line.search(text, start, end)
        headings.append(Heading(*(found.span(1) if found else (start, start)), level, title))
    return tuple(headings)


#: Suffix: media type, and what reads the bytes of such a file.
LOADERS: dict[str, tuple[str, Callable[[bytes], dict[str, Any]]]] = {
    ".md": ("text/markdown", _markdown),
    ".markdown": ("text/markdown", _markdown),
    ".html": ("text/html", _html),
    ".htm": ("text/html", _html),
    ".pdf": ("application/pdf", _pdf),
    ".txt": ("text/plain", _plain),
}
