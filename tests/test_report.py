# SPDX-License-Identifier: MIT
"""The report to take away: self-contained, and harmless whatever the documents contain."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from bs4.element import Doctype, PreformattedString

from chunklib.core.document import Document
from chunklib.core.span import Span
from chunklib.course.report import POLICY, report, write_report
from chunklib.course.trial import Recommendation, Technique, Trial, recommend, techniques, try_out
from chunklib.search.audit import KINDS
from chunklib.search.evaluation import Question
from chunklib.search.retrieval import Index
from tests.test_trial import letters

#: What documents may try: in text, headings, tables, names, titles, metadata.
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    '"><iframe src="javascript:alert(1)"></iframe>',
    "' onmouseover='alert(1)",
    "</style><style>@import 'https://example.org/a.css';</style>",
    "</title></head><body onload=alert(1)>",
    "--><link rel=stylesheet href=//example.org/b.css>",
    "<meta http-equiv=refresh content='0;url=https://example.org'>",
    "<base href=https://example.org/>",
    "<form action=https://example.org><input autofocus onfocus=alert(1)></form>",
    "<a href='javascript:alert(1)'>x</a><a ping=https://example.org href=#>y</a>",
    "&lt;script&gt;alert(2)&lt;/script&gt;",
    "]]><![CDATA[<x>",
    "url(https://example.org/c.png) expression(alert(1))",
    "{{constructor.constructor('alert(1)')()}} $x^2$ \\(y\\)",
    "\x00\ud800\x1b[31m\u202egnp.exe\u2066\x85\u2028",
]
ALL = " ".join(ATTACKS)
TAGS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "ul", "li", "details", "summary"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td", "bdi", "div", "span", "sub", "em", "figure", "img", "b"}
ATTRIBUTES = {
    "html": {"lang"},
    "meta": {"charset", "http-equiv", "name", "content"},
    "img": {"alt", "src", "width", "style"},
    "details": {"open"},
    "div": {"style", "class", "dir"},
    "span": {"style"},
    "sub": {"style", "dir"},
    "th": {"style"},
    "td": {"style"},
}


@cache
def hostile() -> tuple[list[Document], list[Trial], list[Question]]:
    lines = "\n\n".join(f"# {attack}\n\n{attack} is what it says here. {attack}" for attack in ATTACKS)
    table = f"\n\n| {ALL.replace('|', '')} | b |\n|---|---|\n| {ALL} | d |\n\n```{ALL}\n{ALL}\n```\n"
    documents = [
        Document.from_markdown(lines + table, id=f"{ALL}.md", title=ALL, source=ALL, metadata={"author": ALL}),
        Document.from_markdown(lines, id="copy", media_type=ALL, pages=(0, 5)),
    ]
    end = len(documents[0].text)
    gold = ((((documents[0].id, Span(0, end)),)),)
    questions = [Question("1", ALL, ALL, "tune", gold), Question("2", "x", "own", "tune", gold)]
    trials = [
        try_out(
            ALL if name == "fixed" else name,
            Technique(techniques(40)[name].split, lambda _, chunks: Index(chunks, embed=letters)),
            documents,
            questions,
        )
        for name in ("fixed", "recursive", "structure")
    ]
    return documents, trials, questions


def page(chosen: int = 0) -> str:
    documents, trials, questions = hostile()
    recommendation = Recommendation(trials[chosen].name, (ALL,), (ALL, *recommend(trials).doubts))
    return report(documents, trials, recommendation, refused={ALL: ALL}, questions=questions, title=ALL)


def read(text: str) -> BeautifulSoup:
    return BeautifulSoup(text, "html.parser", multi_valued_attributes=None)


@pytest.mark.parametrize("chosen", [0, 2])
def test_hostile_documents_stay_text(chosen: int) -> None:
    found = read(page(chosen))
    tags = found.find_all(True)
    assert {tag.name for tag in tags} <= TAGS
    for tag in tags:
        assert set(tag.attrs) <= ATTRIBUTES.get(tag.name, set()), (tag.name, tag.attrs)
        assert not re.search(r"url|expression|@import|https?:", str(tag.get("style", "")), re.I)
    assert [str(image["src"])[:22] for image in found.find_all("img")] == ["data:image/png;base64,"]
    assert [meta["http-equiv"] for meta in found.select("meta[http-equiv]")] == ["Content-Security-Policy"]
    (style,) = found.find_all("style")
    assert "@import" not in style.get_text()
    odd = [text for text in found.find_all(string=True) if isinstance(text, PreformattedString)]
    assert list(map(type, odd)) == [Doctype], "no comment, no declaration"
    said = found.get_text()
    for attack in ATTACKS[:-1]:  # nothing is hidden: each is there to read
        assert " ".join(attack.split()) in said


def test_nothing_steers_a_line_and_the_file_is_utf8(tmp_path: Path) -> None:
    path = write_report(tmp_path / "report.html", page())
    text = path.read_bytes().decode("utf-8")
    assert "\x00" not in text
    assert "\ufffd" in text
    assert b"\r" not in path.read_bytes()
    outside_of_painted = re.sub(r'(?s)<div dir="auto".*?</div>', "", text)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e\u2066-\u2069\u2028\ud800-\udfff]", outside_of_painted)


def test_the_policy_comes_before_everything_else_and_forbids_all_but_looks() -> None:
    text = page()
    assert text.index("Content-Security-Policy") < text.index("<title>")
    assert f'content="{POLICY}"' in text
    rules = dict(rule.split(maxsplit=1) for rule in POLICY.split("; "))
    assert rules == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def plain() -> tuple[list[Document], list[Trial]]:
    documents = [Document.from_markdown("# Fees\n\nNone at all. And none tomorrow.", id="fees.md")]
    return documents, [try_out("fixed", techniques(6)["fixed"], documents)]


def test_what_the_report_says() -> None:
    documents, trials = plain()
    recommendation = recommend(trials)
    text = report(documents, trials, recommendation, refused={"a.docx": "is a zip archive"})
    said = " ".join(read(text).get_text().split())
    assert "Recommendation: fixed" in said
    for line in (*recommendation.reasons, *recommendation.doubts):
        assert line in said
    for finding in trials[0].findings:
        assert finding.evidence in said
        assert finding.advice in said
    assert "a.docx" in said
    assert "is a zip archive" in said
    assert "The questions" not in said
    assert said.count("[1#") == 2  # the document painted by the recommended technique, then by every technique
    assert text == report(documents, trials, recommendation, refused={"a.docx": "is a zip archive"})


def test_a_report_has_limits() -> None:
    documents = [Document("One two three. " * 80, id=f"{i}") for i in range(15)]
    trials = [try_out("fixed", techniques(5)["fixed"], documents)]
    text = report(documents, trials, recommend(trials))
    assert len(trials[0].findings) > 1000
    assert "more.</p>" in text
    assert "3 more documents are not painted." in text
    assert len(text) < 1_500_000
    assert {kind for kind in KINDS if kind in text}


@pytest.mark.parametrize(("n", "more"), [(40, None), (41, "<p>1 more.</p>"), (45, "<p>5 more.</p>")])
def test_forty_findings_are_listed_and_the_others_counted(n: int, more: str | None) -> None:
    documents = [Document("One two three. " * 80, id="x")]
    trial = try_out("fixed", techniques(5)["fixed"], documents)
    trials = [replace(trial, findings=trial.findings[:n])]
    found = re.findall(r"<p>-?\d+ more\.</p>", report(documents, trials, recommend(trials)))
    assert found == ([more] if more else [])


def test_only_a_trial_can_be_recommended() -> None:
    documents, trials = plain()
    with pytest.raises(ValueError, match="'gone' is none of the trials"):
        report(documents, trials, Recommendation("gone", (), ()))
