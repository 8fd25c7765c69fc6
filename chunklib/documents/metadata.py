# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: regex, nltk (stop words, punkt_tab); py3langid for the language.
"""Metadata by rules: what a chunk is about, which names stand in it, its language, where it comes from.

When to use it: for filters and for keyword search.

But: rules find names by their looks, and a summary is one sentence of the text.

Cost: a few passes over the text; half a second for the first language.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import regex

from chunklib.core.document import Chunk, Document
from chunklib.core.marks import LIST_MARK
from chunklib.core.needs import needs
from chunklib.core.span import Span
from chunklib.documents.cleaning import EMAIL, KEPT, stop_words
from chunklib.sentence import split_sentences


class Entity(NamedTuple):
    """Something with a name, found by rules: its kind, its words, where it stands in the text."""

    kind: str
    text: str
    span: Span


_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_TIME = r"(?:minute|hour|day|week|month|year)"
_AMOUNT = r"\d{1,12}(?:[.,]\d{1,12}){0,4}"
#: Kind of entity -> what it looks like. Earlier kinds win.
_LOOKS: tuple[tuple[str, str], ...] = (
    ("url", r"(?:https?://|www\.)\S*[^\s.,;:!?)\]}'\"’”>]"),
    ("email", EMAIL),
    ("date", rf"(?<!\w)(?:\d{{4}}-\d\d-\d\d|\d{{1,2}} {_MONTH}(?: \d{{4}})?|{_MONTH} \d{{1,2}}, \d{{4}})(?!\w)"),
    ("money", rf"[€$£]\s?{_AMOUNT}(?!\w)|(?<![\w.]){_AMOUNT}\s?(?:€|EUR|USD|GBP)(?!\w)"),
    ("duration", rf"(?<![\w.]){_AMOUNT}(?:\s?(?:–|-|to)\s?{_AMOUNT})?[ -](?:business |working )?{_TIME}s?(?!\w)"),
    ("version", r"(?<!\w)v?\d{1,4}\.\d{1,4}\.\d{1,6}(?!\w)|(?<!\w)v\d{1,4}(?:\.\d{1,4})?(?!\w)"),
    ("code", r"(?<!\w)(?=[\w-]{0,40}\d)\p{Lu}[\p{Lu}\d]{0,20}(?:-[\p{Lu}\d]{1,20}){0,4}(?!\w)"),
    ("name", r"(?<!\w)(?:\p{Lu}[\p{L}\d]{1,30}|\p{Lu}{2,10})(?: \p{Lu}[\p{L}\d]{1,30}){0,4}(?!\w)"),
)
_ENTITY = regex.compile("|".join(f"(?P<{kind}>{looks})" for kind, looks in _LOOKS))
_WORD = regex.compile(r"\p{L}[\w’'-]*+")
_PHRASE_END = regex.compile(r"[^\w\s’'-]|\n")


def entities(text: str) -> list[Entity]:
    """Addresses, dates, sums, durations, versions, codes such as ``E-47``, and names: capitals inside a sentence.

    But: the first word of a sentence, a heading or a table cell has its capital anyway, so it counts as a name only
    with an inner capital (``HomeHub``) or where the same word stands inside a sentence elsewhere in the text.

    >>> [(e.kind, e.text) for e in entities("From 1 March 2025 the HomeHub costs €89. Ask Ada Lund about E-47.")]
    [('date', '1 March 2025'), ('name', 'HomeHub'), ('money', '€89'), ('name', 'Ada Lund'), ('code', 'E-47')]
    """
    found, doubtful, low = [], [], stop_words() | KEPT
    for match in _ENTITY.finditer(text):
        entity = Entity(str(match.lastgroup), match[0], Span(*match.span()))
        if entity.kind != "name":
            found.append(entity)
        elif _starts_something(text, match.start()):
            doubtful.append(entity)
        elif entity.text.lower() not in low:
            found.append(entity)
    names = {entity.text for entity in found}
    for entity in doubtful:
        words = entity.text.split()
        if regex.search(r"\p{Ll}\p{Lu}", words[0]) or entity.text in names:
            found.append(entity)
        elif len(words) > 1:  # "Ask Ada Lund": the first word has its capital for another reason
            rest = entity.text[len(words[0]) + 1 :]
            found.append(Entity("name", rest, Span(entity.span.end - len(rest), entity.span.end)))
    return sorted(found, key=lambda entity: entity.span)


def _starts_something(text: str, at: int) -> bool:
    before = text[max(0, at - 12) : at].rstrip(" \t*_`\"'“‘(")
    return not before or before[-1] in ".!?:;|#>-–—•\n\f"


def key_terms(text: str, *, k: int = 5, rarity: Mapping[str, float] | None = None) -> list[str]:
    """The ``k`` words and phrases that the text is about, best first, in lower case.

    A phrase is a run of up to three words with no stop word and no mark between. It weighs what its words weigh: how
    often each stands in the text, times its ``rarity`` (see `word_rarity`), which tells "refund" from "please".

    >>> key_terms("The restocking fee is 15%. No restocking fee applies to a sealed drone.", k=2)
    ['restocking fee', 'sealed drone']
    """
    low = stop_words() | KEPT
    runs: list[list[str]] = []
    for part in _PHRASE_END.split(text):
        words = [word.strip("'’-").lower() for word in _WORD.findall(part)]
        runs += [
            list(run) for plain, run in groupby(words, lambda w: w in low or len(w) < 3 or w in _EMPTY) if not plain
        ]
    often = Counter(word for run in runs for word in run)
    weight = {word: times * (rarity or {}).get(word, _UNSEEN if rarity else 1.0) for word, times in often.items()}
    phrases = Counter(
        tuple(run[at : at + size]) for run in runs for size in (1, 2, 3) for at in range(len(run) - size + 1)
    )
    scored = {
        phrase: sum(weight[word] for word in phrase) / math.sqrt(len(phrase)) * math.sqrt(times)
        for phrase, times in phrases.items()
    }
    chosen: list[str] = []
    used: set[str] = set()
    for phrase in sorted(scored, key=lambda p: (-round(scored[p], 9), -len(p))):  # ties: the earlier one
        if len(chosen) < k and not used & set(phrase):
            chosen.append(" ".join(phrase))
            used |= set(phrase)
    return chosen


#: Frequent words that are on no stop list and name nothing.
_EMPTY = frozenset(
    ("not", "nor", "without", "please", "also", "may", "must", "need", "use", "one", "two", "get", "see")
)
_UNSEEN = 6.0


def word_rarity(texts: Iterable[str]) -> dict[str, float]:
    """For each word, in lower case, how rare it is among your texts: log(texts / texts that hold it) + 1."""
    held: Counter[str] = Counter()
    total = 0
    for text in texts:
        total += 1
        held.update({word.strip("'’-").lower() for word in _WORD.findall(text)})
    return {word: math.log(total / times) + 1 for word, times in held.items()}


def summary(text: str) -> str:
    """The one sentence of the text that says most of what the text is about, to the letter; "" if there is none.

    The sentence whose words stand most often in the text, by its length, so that a long one does not win by length
    alone. Headings, table rows and questions are passed over.

    >>> summary("# Fee\\n\\nDrones lose value. If the seal is broken, we keep a fee. The fee is 15% for drones.")
    'The fee is 15% for drones.'
    """
    said = (LIST_MARK.sub("", span.of(text)) for span in split_sentences(text))
    sentences = [one for one in said if not regex.match(r"#|\||```|---", one) and not one.endswith(("?", ":"))]
    low = stop_words() | KEPT
    often = Counter(word.lower() for word in _WORD.findall(text) if word.lower() not in low)

    def weight(sentence: str) -> float:
        words = {word.lower() for word in _WORD.findall(sentence)}
        return round(sum(often[word] for word in words) / math.sqrt(len(words) + 3), 9)

    return max(sentences, key=weight, default="")


def language(text: str) -> str:
    """The language's ISO 639-1 code, such as ``"en"``; "" where there are too few letters to tell.

    Table rows, code and addresses are left out: to the model behind it, a row of model names is Luxembourgish.

    >>> language("Die Rückgabe ist innerhalb von dreißig Tagen möglich."), language("| 5 | 7 |")
    ('de', '')
    """
    lines = (line.split() for line in text.splitlines() if not regex.match(r"\s*+[|{}\[\]\"<`+]", line))
    text = " ".join(word for line in lines for word in line if not regex.search(r"[\d_@/]", word))
    letters = regex.findall(r"\p{L}", text)
    if len(letters) + 4 * len(regex.findall(r"[\p{Han}\p{Hangul}\p{Kana}]", text)) < 30:
        return ""
    with needs("py3langid"):
        import py3langid

    return str(py3langid.classify(text.encode("utf-8", "replace").decode())[0])


def source_of(chunk: Chunk) -> dict[str, str]:
    """Name, path and address of where the chunk comes from; the address holds the page where there is one.

    >>> source_of(Chunk("x", 0, 1, 0, "1", "d", page_number=3, source="manuals/PS 600.pdf"))
    {'name': 'PS 600.pdf', 'path': 'manuals/PS 600.pdf', 'uri': 'manuals/PS%20600.pdf#page=3'}
    """
    where = (chunk.source or chunk.document_id).replace("\\", "/")
    address = urlsplit(where)
    path = address.path if address.scheme in ("http", "https") else where
    uri = where if address.scheme in ("http", "https", "file") else quote(where.encode("utf-8", "replace"))
    page = f"#page={chunk.page_number}" if chunk.page_number else ""
    return {"name": path.rstrip("/").rsplit("/", 1)[-1] or where, "path": path, "uri": uri + page}


def describe(chunk: Chunk, document: Document, *, rarity: Mapping[str, float] | None = None) -> Chunk:
    """The chunk with its metadata filled by rules; all else stays, and what the document says of itself wins.

    Keys: ``title``, ``section``, ``summary``, ``key_terms``, ``entities`` (by kind), ``language``, ``source``; plain
    JSON. ``rarity``: see `key_terms`. Cost: a few passes over the chunk, half a second for the first language.
    """
    named: dict[str, list[str]] = {}
    for entity in entities(chunk.text):
        words = named.setdefault(entity.kind, [])
        if entity.text not in words:
            words.append(entity.text)
    found: dict[str, Any] = {
        "title": document.title,
        "section": " > ".join(chunk.section_path),
        "summary": summary(chunk.text),
        "key_terms": key_terms(chunk.text, rarity=rarity),
        "entities": named,
        "language": language(chunk.text) or language(document.text[:5000]),
        "source": source_of(chunk),
    }
    return replace(chunk, metadata={**found, **chunk.metadata})
