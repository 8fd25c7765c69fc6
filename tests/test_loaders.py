# SPDX-License-Identifier: MIT
"""Files of four kinds become documents: the text, and where everything stands in it."""

from __future__ import annotations

import codecs
import html
import io
import logging
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.lib import pdfencrypt
from reportlab.pdfgen.canvas import Canvas

from chunklib.core.document import Document
from chunklib.course.datasets import DATA
from chunklib.documents.html_page import read_html
from chunklib.documents.loaders import document_paths, load_document, load_documents, load_folder
from tests.test_offline import run

Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Write a file and return its path."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


# --- Files -----------------------------------------------------------------------------------------------------------


def test_a_folder_in_the_order_of_its_paths(save: Save, tmp_path: Path) -> None:
    for name in ("b.md", "B.TXT", "a/z.html", "a.htm", "a/é.markdown"):
        save(name, "Words.")
    for name in (".hidden.md", ".git/x.md", "a/.cache/y.txt", "notes.docx", "q.jsonl", "md", "c.md/inside.md"):
        save(name, "Words.")
    documents = list(load_documents(str(tmp_path)))
    assert [document.id for document in documents] == [
        "B.TXT",
        "a.htm",
        "a/z.html",
        "a/é.markdown",
        "b.md",
        "c.md/inside.md",
    ]
    assert documents[2].source == (tmp_path / "a" / "z.html").as_posix()
    assert [path.name for path in document_paths(tmp_path / "a")] == ["z.html", "é.markdown"]


def test_a_folder_is_loaded_one_at_a_time(save: Save, tmp_path: Path) -> None:
    save("a.md", "Words.")
    save("b.md", b"\xff\xff\xff")
    documents = load_documents(tmp_path)
    assert next(documents).id == "a.md"
    with pytest.raises(ValueError, match=r"b\.md: byte 0"):
        next(documents)


def test_the_wrong_path_is_named_at_once(save: Save, tmp_path: Path) -> None:
    path = save("a.md", "Words.")
    with pytest.raises(NotADirectoryError, match=r"a\.md is no folder; a file is for load_document"):
        load_documents(path)
    with pytest.raises(FileNotFoundError, match="is no file; a folder is for load_documents"):
        load_document(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"missing\.md is no file"):
        load_document(tmp_path / "missing.md")
    with pytest.raises(ValueError, match=r"x\.docx: cannot load '\.docx'; save it as one of \.md, \.markdown, \.html"):
        load_document(save("x.docx", "Words."))


def test_a_folder_of_all_sorts_goes_on_to_its_end(save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked = pdfencrypt.StandardEncryption("secret", "owner", strength=128)
    for name, content in {
        "a good.md": "# Fees\n\nNone.",
        "sub/z good.html": "<!DOCTYPE html><h1>Fees</h1><p>None.",
        "old page.htm": "<html><p>None.",
        "broken.pdf": b"%PDF-1.4 and then nothing",
        "empty.txt": "",
        "blank.md": " \n\n",
        "huge.txt": "word " * 36_000,
        "letter.docx": b"PK\x03\x04 rest",
        "letter.doc": b"\xd0\xcf\x11\xe0 rest",
        "letter.md": b"{\\rtf1 rest}",
        "locked.pdf": pdf([["Words."]], encrypt=locked),
        "picture.txt": b"\x89PNG\r\n\x1a\n",
        "page.txt": b"\xef\xbb\xbf\n<!doctype HTML><p>None.",
        "really.pdf": "These are words.",
        "really.txt": pdf([["Words."]]),
        "really.dat": pdf([["Words."]]),
        "scan.pdf": pdf([[]]),
        "umlaut.txt": "für".encode("latin-1"),
        "unreadable.md": "Words.",
        "table.csv": "a,b",
        "questions.jsonl": "{}",
        ".hidden.docx": "Words.",
    }.items():
        save(name, content)
    (tmp_path / "link.md").symlink_to(tmp_path / "gone.md")
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "unreadable.md":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    seen: list[str] = []
    loaded = load_folder(tmp_path, largest=100_000, progress=lambda paths: [seen.append(p.name) or p for p in paths])  # type: ignore[func-returns-value]
    assert [document.id for document in loaded.documents] == ["a good.md", "old page.htm", "sub/z good.html"]
    assert loaded.refused == {
        "blank.md": "holds no text",
        "broken.pdf": loaded.refused["broken.pdf"],
        "empty.txt": "is empty",
        "huge.txt": "has 0.2 MB, more than 0.1; split it, or raise largest",
        "letter.doc": "is an old Office file, such as .doc; save it as PDF or HTML",
        "letter.docx": "is a zip archive, such as .docx or .odt; save it as PDF or HTML",
        "letter.md": "is rich text; save it as PDF or HTML",
        "locked.pdf": "locked by a password; save a copy without one",
        "page.txt": "is HTML, whatever its name says; rename it to .html",
        "picture.txt": "is a picture; have its text recognised (OCR) first",
        "really.dat": "is a PDF, whatever its name says; rename it to .pdf",
        "really.pdf": "is no PDF, whatever its name says; rename it to what it is, such as .txt",
        "really.txt": "is a PDF, whatever its name says; rename it to .pdf",
        "scan.pdf": "no text on its pages, perhaps a scan; have its text recognised (OCR) first",
        "table.csv": "cannot load '.csv'; save it as one of .md, .markdown, .html, .htm, .pdf, .txt",
        "umlaut.txt": "byte 1 (0xfc) is not UTF-8; save it as UTF-8",
        "unreadable.md": "PermissionError: [Errno 13] Permission denied",
    }
    assert loaded.refused["broken.pdf"].startswith("pypdf cannot read it (")
    assert len(seen) == 20
    assert all(str(tmp_path) not in line and "\n" not in line for line in loaded.refused.values())


@pytest.mark.parametrize(
    ("name", "package", "mend"),
    [
        ("a.pdf", "pypdf", "PDF needs pypdf: pip install pypdf"),
        ("a.html", "bs4", "HTML needs beautifulsoup4: pip install beautifulsoup4"),
    ],
)
def test_a_missing_package_is_named_as_it_is_installed(
    save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str, mend: str
) -> None:
    path = save(name, pdf([["Words."]]) if package == "pypdf" else "<p>Words.")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"^{mend}$"):
        load_document(path)
    assert load_folder(tmp_path).refused == {name: mend}


def test_a_pdf_whose_encryption_pypdf_lacks_is_called_encrypted(save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save("a.pdf", pdf([["Words."]], encrypt=pdfencrypt.StandardEncryption("secret", "owner", strength=128)))

    def lacking(reader: object, password: str) -> int:
        raise RuntimeError("cryptography is required")

    monkeypatch.setattr("pypdf.PdfReader.decrypt", lacking)
    with pytest.raises(ValueError, match=r"a\.pdf: encrypted, and pypdf cannot open it \(cryptography is required\)"):
        load_document(path)


def test_only_a_folder_is_loaded_as_one(save: Save) -> None:
    with pytest.raises(NotADirectoryError, match=r"a\.md is no folder; put your files into one"):
        load_folder(save("a.md", "Words."))


def test_ids() -> None:
    path = DATA / "shipping.md"
    assert (load_document(path).id, load_document(str(path), id="s").id) == ("shipping.md", "s")


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_a_byte_order_mark_is_honoured_and_dropped(save: Save, mark: bytes, encoding: str, suffix: str) -> None:
    assert load_document(save(f"a{suffix}", mark + "€ 4,90 für 😀".encode(encoding))).text == "€ 4,90 für 😀"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("Rücksendung".encode("latin-1"), r"byte 1 \(0xfc\) is not UTF-8; save it as UTF-8"),
        (codecs.BOM_UTF8 + b"abc\xff", r"byte 6 \(0xff\) is not UTF-8"),
        (codecs.BOM_UTF16_LE + b"a\0b", r"byte 4 \(0x62\) is not UTF-16-LE"),
        ("no mark".encode("utf-16-le"), "holds many zero bytes, so it is no text in UTF-8"),
        (bytes(range(128)) * 3 + b"\0" * 90, "holds many zero bytes"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", r"byte 0 \(0x89\) is not UTF-8"),
    ],
)
@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_other_bytes_are_named_with_their_place(save: Save, data: bytes, message: str, suffix: str) -> None:
    with pytest.raises(ValueError, match=rf"a{re.escape(suffix)}: {message}"):
        load_document(save(f"a{suffix}", data))


@pytest.mark.parametrize("suffix", [".txt", ".md"])
def test_line_ends_stay(save: Save, suffix: str) -> None:
    text = "One\r\n\r\ntwo\rthree\nfour\x0c\x85"
    assert load_document(save(f"a{suffix}", text)).text == text


@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_an_empty_file(save: Save, suffix: str) -> None:
    document = load_document(save(f"a{suffix}", ""))
    assert (document.text, document.title, document.headings) == ("", "a", ())


def test_titles_of_plain_text(save: Save) -> None:
    titles = {
        "\r\nRelease notes\r\n\r\nMore.": "Release notes",
        "One line.\nAnother.": "a",
        "x" * 81 + "\n\nMore.": "a",
    }
    assert {text: load_document(save("a.txt", text)).title for text in titles} == titles


def test_markdown(save: Save) -> None:
    text = "---\nauthor: Ann\n---\n\n# Returns\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    document = load_document(save("policy.md", text))
    assert (document.text, document.title, document.media_type) == (text, "Returns", "text/markdown")
    assert document.metadata == {"author": "Ann"}
    assert [table.of(text) for _, table in document.tables] == ["| a | b |\n|---|---|\n| 1 | 2 |"]
    assert document == Document.from_markdown(text, id="policy.md", source=document.source)
    assert load_document(save("no_title.md", "## Second\n")).title == "no_title"


# --- HTML ------------------------------------------------------------------------------------------------------------


def test_a_page() -> None:
    page = read_html(
        """<!DOCTYPE html><html><head><title> Returns &amp;
        Refunds </title><meta name="Author" content="Ann"><meta name=viewport content=x><style>p { color: red }</style>
        <script>if (a < b) document.write("<p>no</p>")</script><body><nav><a href=/>Home</a></nav><!-- <p>no</p> -->
        <main><h1>Return   <em>pol</em>icy<br>2025</h1>
        <p>Keep the <b>box</b>, please.<p>Sixty&nbsp;days &lt;b&gt; *not* 5 | 6.<br>Really.
        <ul><li>one<li>two<ol start="3"><li>deep</li><li>deeper</ol><li><p>first</p><p>second</p></ul>
        <pre>
def f():
    return 1

# no heading
</pre><template>no</template><noscript>no</noscript>
        <h3>Fees</h3><table><caption>In euros</caption><thead><tr><th>Zone<th>a|b</tr></thead>
        <tr><td>near<td><p>4.90</p></tr><tr><td></td><td>9.90 <ul><li>or more</ul></table>end
        </main><footer>no</footer>"""
    )
    assert page.title == "Returns & Refunds"
    assert page.metadata == {"author": "Ann"}
    assert page.text == (
        "Return policy 2025\n\nKeep the box, please.\n\nSixty\xa0days <b> *not* 5 | 6.\nReally.\n\n"
        "- one\n- two\n  3. deep\n  4. deeper\n- first\n  second\n\n"
        "def f():\n    return 1\n\n# no heading\n\n"
        "Fees\n\nIn euros\nZone | a|b\nnear | 4.90\n| 9.90 or more\n\nend"
    )
    assert [(h.level, h.title, page.text[h.start : h.end]) for h in page.headings] == [
        (1, "Return policy 2025", "Return policy 2025"),
        (3, "Fees", "Fees"),
    ]
    assert [(header.of(page.text), table.of(page.text)) for header, table in page.tables] == [
        ("Zone | a|b", "Zone | a|b\nnear | 4.90\n| 9.90 or more")
    ]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        # STR-23, -25, -27, -29 of the reported faults
        (
            "<p>You <b>must not</b> mix A <i>and</i> B, see <a href='x'>notes</a> first.</p>",
            "You must not mix A and B, see notes first.",
        ),
        (
            "<table><tr><td>Gross weight</td><td>470</td></tr></table><ul><li>fast pump</li><li>slow valve</li></ul>"
            "<p>line one<br>line two</p><p><b>fo</b>od</p>",
            "Gross weight | 470\n\n- fast pump\n- slow valve\n\nline one\nline two\n\nfood",
        ),
        ("".join(f"<p>Row {i} end</p>" for i in range(1, 15)), "\n\n".join(f"Row {i} end" for i in range(1, 15))),
        (
            "<h1>C</h1><pre><code>def f():\n    return 1\n\n# not a heading\n</code></pre>"
            "<div>loose text<p>para</p>tail text</div>",
            "C\n\ndef f():\n    return 1\n\n# not a heading\n\nloose text\n\npara\n\ntail text",
        ),
        ("a<br>b<br><br>c<div>d</div><div>e</div>", "a\nb\n\nc\nd\ne"),
        ("<dl><dt>Zone<dd>near<dt>Fee<dd>4.90</dl>", "Zone\nnear\nFee\n4.90"),
        ("<p>a<ul><li><ul><li>deep</ul><li></li></ul>after", "a\n\n  - deep\n\nafter"),
        ("1 < 2 && 3 > 2 &amp;lt; &copy 2025 &unknown; &#8364;", "1 < 2 && 3 > 2 &lt; © 2025 &unknown; €"),
        ("&#" + "1" * 5000 + "; &#xD800; &#0;", "&#" + "1" * 5000 + "; \ufffd \ufffd"),
        ('<p title="a > b">x</p><img alt="27" screen"><p>y', "x\n\ny"),
        ("a <b unclosed", "a <b unclosed"),
        ("a <!-- unclosed <p>b</p>", "a <!-- unclosed\n\nb"),
        ("a <![odd]>b<![CDATA[c]]>d", "a bd"),
        ("</p></div>a</ul></td>b", "ab"),
        ("<pre>\n\n  a<br>\tb  \n</pre>", "\n  a\n\tb"),
        ("<p>&nbsp;</p><p>a</p><h2> </h2>", "a"),
        ("<main>a</main><main>b</main>c", "a\nb\nc".replace("\n", "\n\n")),
        ("<main><script>x</script></main><p>a", "a"),
        ("notes.html", "notes.html"),
        ('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><p>a</p></html>', "a"),
        ("<p>a\r\nb\rc</p><pre>d\r\ne</pre>", "a b c\n\nd\ne"),
    ],
)
def test_pieces_of_pages(source: str, text: str) -> None:
    assert read_html(source).text == text


def test_headings_end_with_their_line_though_never_closed() -> None:
    page = read_html("<h1>One<p>text<h2>Two<h3>Three</h3>tail<h2></h2><h4><div>Four</div>more</h4>")
    assert [(h.level, h.title) for h in page.headings] == [(1, "One"), (2, "Two"), (3, "Three"), (4, "Four")]
    assert page.text == "One\n\ntext\n\nTwo\n\nThree\n\ntail\n\nFour\nmore"


def test_a_header_is_a_row_of_header_cells() -> None:
    def header(table: str) -> list[tuple[str, str]]:
        page = read_html(f"<p>x</p><table>{table}</table><p>y</p>")
        return [(head.of(page.text), whole.of(page.text)) for head, whole in page.tables]

    assert header("<tr><td>a<td>b<tr><td>c<td>d") == [("", "a | b\nc | d")]
    assert header("<tr><th>Weight<td>470 g<tr><th>Colour<td>red") == [("", "Weight | 470 g\nColour | red")]
    assert header("<thead><tr><td>a<td>b<tr><td>c<td>d<tbody><tr><th>e<td>f") == [
        ("a | b\nc | d", "a | b\nc | d\ne | f")
    ]
    assert header("<tr><th>a<tr><td>b<tr><th>c") == [("a", "a\nb\nc")]
    assert header("") == header("<tr></tr><tr><td></td></tr>") == []
    assert header("<td>a<td>b") == [("", "a | b")]
    assert header("<caption>c</caption>stray<tr>odd<td>a</td>between<td>b</tr>") == [("", "odd | a | between | b")]


def test_a_table_that_lays_out_the_page() -> None:
    page = read_html(
        "<table><tr><td>menu</td><td><h2>News</h2>words<table><tr><th>k<tr><td>v</table></td><td>side</td></tr></table>"
    )
    assert page.text == "menu\n\nNews\n\nwords\n\nk\nv\n\nside"
    assert [h.title for h in page.headings] == ["News"]
    assert [(head.of(page.text), whole.of(page.text)) for head, whole in page.tables] == [("k", "k\nv")]


NAMES = "p div h1 h2 h3 ul ol li table thead tr td th pre b a br hr blockquote section span caption dl dt dd nav"
TAGS = st.sampled_from(NAMES.split())
WORDS = st.text(alphabet="ab<&>'\" \n\t|#*é€", min_size=1, max_size=8)
BITS = st.lists(st.tuples(st.sampled_from(["open", "close", "text", "text"]), TAGS, WORDS), max_size=40)


@given(bits=BITS)
def test_no_page_loses_text(bits: list[tuple[str, str, str]]) -> None:
    """Whatever the tags, opened and closed at random: each character of the text is there, in order."""
    source = "".join(
        {"open": f"<{tag}>", "close": f"</{tag}>", "text": html.escape(words)}[kind] for kind, tag, words in bits
    )
    page = read_html(source)
    said = iter(page.text)
    for kind, _, words in bits:
        for character in words if kind == "text" else "":
            assert character.isspace() or character in said, f"{character!r} of {source!r} is not in {page.text!r}"
    assert all(page.text[h.start : h.end] == h.title and "\n" not in h.title for h in page.headings)
    assert [h.start for h in page.headings] == sorted(h.start for h in page.headings)
    for header, whole in page.tables:
        assert whole.start == header.start <= header.end <= whole.end <= len(page.text)
        assert whole.of(page.text) == whole.of(page.text).strip(" ") != ""


@pytest.mark.parametrize("tag", ["div", "p", "ul><li", "table><tr><td", "b", "pre", "h1", "span", "svg"])
def test_ten_thousand_levels(tag: str) -> None:
    page = read_html(f"<{tag}>" * 10_000 + "deep")
    assert page.text.strip().removeprefix("- ") == "deep"


@pytest.mark.parametrize(
    "unit",
    [
        "<div>",
        "<a ",
        "<!--",
        '<a b="',
        "</",
        "<![CDATA[",
        "<p>a<br>b</p>",
        "<script>",
        "&#",
        "<li>x",
        "<table><td>x",
        "<?",
    ],
)
@pytest.mark.parametrize("end", ["", ">", '">'])
def test_every_page_comes_to_an_end(unit: str, end: str) -> None:
    read_html(unit * (100_000 // len(unit)) + end)


# --- PDF -------------------------------------------------------------------------------------------------------------


def pdf(pages: list[list[str]], bookmarks: dict[tuple[int, int, str], None] | None = None, **options: object) -> bytes:
    """Draw the lines of each page; bookmarks are (page from 0, level from 0, title), in order."""
    file = io.BytesIO()
    canvas = Canvas(file, invariant=1, **options)
    canvas.setTitle("Manual")
    canvas.setAuthor("Ann")
    for number, lines in enumerate(pages):
        for row, line in enumerate(lines):
            canvas.drawString(72, 750 - 20 * row, line)
        for page, level, title in bookmarks or ():
            if page == number:
                canvas.bookmarkPage(f"{page} {title}")
                canvas.addOutlineEntry(title, f"{page} {title}", level)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def test_pages_and_headings_of_a_pdf(save: Save) -> None:
    marks = dict.fromkeys(
        [(0, 0, "Safety"), (0, 1, "Hot  parts"), (1, 0, "Care of a very long name"), (2, 0, "Nowhere")]
    )
    pages = [["Safety", "Mind the pump.", "2.1 Hot parts", "Never touch."], ["Care of a very", "long name", "Dust it."]]
    document = load_document(save("a.pdf", pdf([*pages, ["Last words."]], marks)))
    assert document.text == (
        "Safety\nMind the pump.\n2.1 Hot parts\nNever touch.\fCare of a very\nlong name\nDust it.\fLast words."
    )
    assert document.media_type == "application/pdf"
    assert (document.title, document.metadata) == ("Manual", {"author": "Ann"})
    assert [document.text[start - 1 : start] for start in document.pages] == ["", "\f", "\f"]
    assert [document.page_number(document.text.index(words)) for words in ("Never", "Dust", "Last")] == [1, 2, 3]
    assert [(h.level, document.text[h.start : h.end]) for h in document.headings] == [
        (1, "Safety"),
        (2, "Hot parts"),
        (1, "Care of a very\nlong name"),
        (1, ""),
    ]
    assert [h.title for h in document.headings] == ["Safety", "Hot parts", "Care of a very long name", "Nowhere"]
    assert document.section_path(document.text.index("Never")) == ("Safety", "Hot parts")
    assert document.section_path(document.text.index("Last")) == ("Nowhere",)


def test_a_bookmark_is_looked_for_after_the_one_before_it(save: Save) -> None:
    pages = [["Contents", "Care", "Care", "Dust it.", "Care", "Oil it."]]
    marks = dict.fromkeys([(0, 0, "Contents"), (0, 0, "Care"), (0, 1, "care")])
    document = load_document(save("a.pdf", pdf(pages, marks)))
    assert [(h.start, h.end) for h in document.headings] == [(0, 8), (9, 13), (13, 13)]


def test_running_headers_and_footers_are_left_out(save: Save) -> None:
    pages = [
        ["AX-310 Manual", "v2", f"Text {'abcde'[i]}", f"more {'abcde'[i]}", f"Page {i + 1} of 5"] for i in range(5)
    ]
    pages[0] = ["A cover without a header"]
    document = load_document(save("a.pdf", pdf(pages)))
    assert document.text.split("\f")[:2] == ["A cover without a header", "Text b\nmore b"]
    assert document.metadata["running_lines"] == ["AX-# Manual", "Page # of #", "v#"]


def test_what_is_no_running_line_stays(save: Save) -> None:
    def text(pages: list[list[str]], marks: list[tuple[int, int, str]] | None = None) -> str:
        return load_document(save("a.pdf", pdf(pages, dict.fromkeys(marks or [])))).text

    assert text([["Same", "a"], ["Same", "b"]]) == "Same\na\fSame\nb", "two pages tell nothing"
    assert text([["Same", "a"], ["Same", "b"], ["Same", "c"], ["d"]]).count("Same") == 3, "three of four"
    assert text([["Same"], ["Same"], ["Same"]]) == "Same\fSame\fSame", "the only line of a page"
    cards = [[f"Card {i}", word] for i, word in enumerate(("one", "two", "three"))]
    assert text(cards) == "one\ftwo\fthree"
    assert text(cards, [(i, 0, f"Card {i}") for i in range(3)]) == "Card 0\none\fCard 1\ntwo\fCard 2\nthree"
    assert text([["Top", "a"], [], ["Top", "b"], ["Top", "c"]]) == "a\f\fb\fc", "an empty page counts for nothing"


def test_pdf_that_cannot_be_read(
    save: Save, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = pdf([["Words."]])
    with pytest.raises(ValueError, match=r"a\.pdf: pypdf cannot read it \(.+\); open it in a viewer and print it"):
        load_document(save("a.pdf", whole[: len(whole) // 3]))
    for data in (b"", b"no PDF at all", b"%PDF-1.7\n", "<p>HTML</p>"):
        with pytest.raises(ValueError, match=r"a\.pdf: pypdf cannot read it"):
            load_document(save("a.pdf", data))
    with pytest.raises(ValueError, match=r"a\.pdf: no text on its pages, perhaps a scan; have its text recognised"):
        load_document(save("a.pdf", pdf([[], []])))
    locked = pdf([["Words."]], encrypt=pdfencrypt.StandardEncryption("secret", "owner", strength=128))
    with pytest.raises(ValueError, match=r"a\.pdf: locked by a password; save a copy without one"):
        load_document(save("a.pdf", locked))
    open_to_all = pdf([["Words."]], encrypt=pdfencrypt.StandardEncryption("", "owner", strength=128))
    assert load_document(save("a.pdf", open_to_all)).text == "Words."
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("pypdf").level == logging.NOTSET


def test_no_title_in_a_pdf(save: Save) -> None:
    file = io.BytesIO()
    canvas = Canvas(file, invariant=1)
    canvas.drawString(72, 700, "Words.")
    canvas.save()
    assert load_document(save("a.pdf", file.getvalue())).title == "a"


def test_a_damaged_pdf_is_read_or_named(save: Save) -> None:
    """Bytes changed at random: a text or a ValueError, nothing else, no warning."""
    whole = pdf([["Safety", "Mind the pump."], ["Care", "Dust it."]], dict.fromkeys([(0, 0, "Safety"), (1, 0, "Care")]))
    chance = random.Random(1)
    told: list[str] = []
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 5, 50))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            document = load_document(save("a.pdf", bytes(data)))
        except ValueError as error:
            told.append(str(error))
        else:
            assert all(0 <= h.start <= h.end <= len(document.text) for h in document.headings)
            assert [h.start for h in document.headings] == sorted(h.start for h in document.headings)
    assert 0 < len(told) < 150
    assert all("a.pdf: " in message for message in told)


# --- Nothing is fetched, nothing is run ------------------------------------------------------------------------------

SECRET = "file:" + "///etc/passwd"  # in two, for the test that no file of ours names a path of one machine
FAR = "http://192.0.2.1/"  # an address reserved for documentation
HOSTILE = {
    "a.html": f"""<!DOCTYPE x SYSTEM "{FAR}x.dtd" [<!ENTITY f SYSTEM "{SECRET}"><!ENTITY a "b">]>
        <base href="{FAR}"><link rel=stylesheet href=x.css><meta http-equiv=refresh content="0;url={FAR}">
        <img src="{FAR}x.png"><iframe src="{FAR}"></iframe><script src=x.js>alert(1)</script>
        <object data="{SECRET}"></object><xi:include href="{SECRET}"/><p>&f; &a; words</p>""",
    "b.md": f'---\nrun: !!python/object/apply:os.system ["touch gone"]\n---\n![x]({FAR}x.png) words\n',
    "c.txt": f"{FAR} {SECRET} `rm x` words",
    "notes.html": f"{FAR}page.html words",
}


def fetch_nothing() -> None:
    """Load the hostile folder; a file that is opened, a process, a look at the network: each is an error."""
    from tests.test_offline import ATTEMPTS

    folder = Path("hostile").resolve()
    list(load_documents(folder))  # imports what it needs

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("subprocess.Popen", "os.system", "os.exec", "socket.connect", "socket.getaddrinfo") or (
            event == "open" and Path(str(arguments[0])).parent != folder
        ):
            ATTEMPTS.append(event)
            raise OSError(f"{event}: {arguments}")

    sys.addaudithook(hook)
    texts = [document.text for document in load_documents(folder)]
    assert len(texts) == 5
    assert not any("root:" in text for text in texts)
    assert all("words" in text for text in texts)
    assert ATTEMPTS == []
    print("nothing")


def test_nothing_that_a_document_names_is_fetched_or_run(save: Save, tmp_path: Path) -> None:
    for name, content in HOSTILE.items():
        save(f"hostile/{name}", content)
    file = io.BytesIO()
    canvas = Canvas(file, invariant=1)
    canvas.drawString(72, 700, "Some words.")
    canvas.linkURL(FAR, (0, 0, 100, 100))
    canvas.save()
    acting = f"/Type /Catalog /OpenAction << /S /URI /URI ({FAR}) >>".encode()
    save("hostile/d.pdf", file.getvalue().replace(b"/Type /Catalog", acting))
    code = (
        f"import os, sys; sys.path.insert(0, {str(Path(__file__).parent.parent)!r}); os.chdir({str(tmp_path)!r})\n"
        "import tests.test_loaders as loaders; loaders.fetch_nothing()"
    )
    assert run(code, tmp_path).strip() == "nothing"
