# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: regex, tiktoken, nltk (stop words, punkt_tab); py3langid.
"""Enrichment: what is added to a chunk so that it is found. Its text and its span never change.

`add_context` puts title, section and the header of a table in front of the text that the encoder reads. `describe`
fills the chunk's metadata by rules: title, summary, key terms, entities, language, source. `ask_about` adds what needs
a language model: likely questions, rephrasings, a sentence that says where the chunk stands.

When to use it: context nearly always; metadata for filters and for keyword search; a model where customers use other
words than your documents.

But: rules find names by their looks, and a summary is one sentence of the text. What a model writes may be wrong: it
helps to find a chunk, it is never quoted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import regex

from chunklib.core.document import Chunk, Document
from chunklib.core.measure import Length, count
from chunklib.core.span import Span, check_count
from chunklib.course.generation import Generate, fenced
from chunklib.documents.cleaning import EMAIL, KEPT, stop_words
from chunklib.sentence import split_sentences
from chunklib.structure import names_at, table_header_at


def add_context(
    chunk: Chunk, document: Document, *, pages: bool = False, budget: int | None = None, length: Length = "tokens"
) -> Chunk:
    """The same chunk with ``Title > Section > Subsection`` as its context, and the header row of its table below that.

    It works for the chunks of every technique: both are looked up from the chunk's place. No title is said twice.

    Parameters
    ----------
    document: the one that the chunk was cut from.
    pages: write ``[Title - Chapter - page 3]`` instead, for what is cited by page: the outermost heading below the
        title, and the page where the chunk begins. What the document lacks is left out.
    budget: the most that `Chunk.embedding_text`, context and text together, may measure in units of ``length``. The
        outermost names give way first; where not even the last one fits beside the header row, that gives way, and as
        many names as then fit come back. The text never gives way.

    Raises ``ValueError`` for a chunk of another document and for a budget below 1. Cost: a binary search; with a
    budget, a few calls of the tokenizer.

    >>> from chunklib.core.span import chunk_document
    >>> document = Document.from_markdown("# Returns\\n\\n## Faults\\n\\nSixty days.")
    >>> chunk = chunk_document(document, lambda text: [(text.index("Sixty"), len(text))])[0]
    >>> add_context(chunk, document).embedding_text
    'Returns > Faults\\n\\nSixty days.'
    >>> add_context(chunk, document, budget=5, length="words").context
    'Faults'
    >>> add_context(replace(chunk, page_number=3), document, pages=True).context
    '[Returns - Faults - page 3]'
    """
    if chunk.document_id != document.id or chunk.text != document.text[chunk.start : chunk.end]:
        raise ValueError(f"the chunk is of document {chunk.document_id!r}, or of another version of {document.id!r}")
    if budget is not None:
        check_count("budget", budget, 1)
    names, header = names_at(document, chunk.start, chunk.end), table_header_at(document, chunk.start)
    if pages:
        names = [*names[:2], *([f"page {chunk.page_number}"] if chunk.page_number else [])]
    joined = "[{}]".format if pages else str
    fewer = [joined((" - " if pages else " > ").join(names[dropped:])) for dropped in range(len(names))] or [""]
    for path, row in [*((path, header) for path in fewer), *((path, "") for path in fewer)]:
        context = "\n".join(filter(None, [path, row]))
        enriched = replace(chunk, context=context)
        if budget is None or count(enriched.embedding_text, length) <= budget:
            return enriched
    return replace(chunk, context="")


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
_LIST_MARK = regex.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")


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
    said = (_LIST_MARK.sub("", span.of(text)) for span in split_sentences(text))
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


#: Task -> what the model is told. Answers are lines; they go into the metadata under the task's name.
TASKS: Mapping[str, str] = {
    "questions": "Write three questions that a customer could ask and that the document answers. One a line, "
    "in a customer's words, not the document's. Nothing else.",
    "rephrasings": "Say the most important sentence of the document in two other ways, as a customer would say it. "
    "One a line. Nothing else.",
    "situation": "Say in one short sentence what the document is about and for which case it holds. Nothing else.",
}
_LINES, _LONGEST = {"questions": 3, "rephrasings": 2, "situation": 1}, 300


class Failure(NamedTuple):
    """What a model did not deliver: for which chunk, which task, and why."""

    chunk_id: str
    task: str
    why: str


def prompt_for(task: str, chunk: Chunk) -> str:
    """The prompt of one of `TASKS` for one chunk; title, section and text stand inside the fence.

    Raises ``ValueError`` for an unknown task.
    """
    if task not in TASKS:
        raise ValueError(f"task={task!r} is unknown; use one of {', '.join(TASKS)}")
    trail = " > ".join(dict.fromkeys(filter(None, (chunk.title, *chunk.section_path))))
    return fenced(TASKS[task], f"{trail}\n\n{chunk.text}")


def ask_about(
    chunks: Iterable[Chunk], generate: Generate, *, tasks: Sequence[str] = ("questions",)
) -> tuple[list[Chunk], list[Failure]]:
    """Ask a model about each chunk; its answers go into the metadata, under the task's name, as lists of lines.

    No chunk is lost: where no usable answer comes, the chunk is returned as it was, and a `Failure` says which one and
    why. An answer is checked for its form (number and length of lines; questions end with a question mark), since it
    may be anything. Cost: one call of ``generate`` a chunk and task.

    >>> chunk = Chunk("The fee is 15%.", 0, 15, 0, "c1", "d")
    >>> asked, failures = ask_about([chunk], lambda prompt: "1. How high is the fee?")
    >>> asked[0].metadata, failures
    ({'questions': ['How high is the fee?']}, [])
    """
    done: list[Chunk] = []
    failures: list[Failure] = []
    for chunk in chunks:
        answers: dict[str, list[str]] = {}
        for task in tasks:
            prompt = prompt_for(task, chunk)
            try:
                answers[task] = _checked(task, generate(prompt))
            except Exception as error:  # a generator of any make: one chunk's trouble is not the others'
                failures.append(Failure(chunk.id, task, f"{type(error).__name__}: {error}"[:300]))
        done.append(replace(chunk, metadata={**chunk.metadata, **answers}))
    return done, failures


def _checked(task: str, answer: str) -> list[str]:
    if not isinstance(answer, str):
        raise TypeError(f"the answer is {type(answer).__name__}, not text")
    lines = [_LIST_MARK.sub("", line).strip() for line in answer.splitlines() if line.strip()]
    if not 1 <= len(lines) <= _LINES[task]:
        raise ValueError(f"{len(lines)} lines came, wanted 1 to {_LINES[task]}")
    if longest := [line for line in lines if len(line) > _LONGEST]:
        raise ValueError(f"a line of {len(longest[0])} characters came, wanted {_LONGEST} at most")
    if task == "questions" and not all(line.endswith(("?", "？")) for line in lines):
        raise ValueError("a line came that is no question")
    return lines
