# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, regex, nltk (its data punkt_tab), tiktoken (for tokens).
"""Sentences: each one a span, or as many whole ones as fit a chunk.

When to use it: for prose whose facts stand in single sentences, and as the first step of techniques that compare
sentences. Punkt, the model behind it, knows 19 languages; what it gets wrong in documentation is corrected here.

But: a sentence alone often does not say what it is about ("Hold it for ten seconds"); `widen` helps. Of mark-up it
knows only how a line starts: headings, list items and rows of tables end with their line. Code is no prose.

Cost: one pass over the text, and a look at the words around each full stop; with a ``chunk_size``, `pack` on top: then
about twice as long as tokenizing alone (see benchmarks/).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import regex

from chunklib.core.measure import Length, measure
from chunklib.core.packing import Places, pack
from chunklib.core.separators import boundary_levels
from chunklib.core.span import Separator, Span, check_count, check_settings, trim


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words whose full stop never ends a sentence.
_TITLES = _words("Dr Drs Mr Mrs Ms Mx Prof Messrs Mme Mlle Hr Dhr Mevr Sra Dra")
_NEVER = _words("e.g eg i.e ie cf vs viz approx ca incl excl esp")
# Words whose full stop ends a sentence where the next word looks like a first one. Punkt's own list comes on top.
_OFTEN = _words(
    "al etc dept ext tel ave blvd bros inc ltd co corp jr sr esq jan feb apr aug sept oct nov dec mon tue tues wed thu "
    "thur thurs fri ibid hrs mins"
)
_BEFORE_NAMES = _words("gen rep sen gov col capt lt sgt maj cmdr adm hon rev pres fr st mt")
# Words that are an abbreviation before a number, or before a letter that serves as one.
_NUMBERED = _words(
    "no nos nr n° fig figs eq eqs sec secs ch chap p pp vol vols art par para max min tab app ref pos c s pag pág abb "
    "bd abs"
)
# Words that Punkt takes for abbreviations; words that begin sentences and are no names.
_PLAIN = _words("ala cos ill ok ore wash")
_FIRST = _words(
    "a an the this that these those i you he she it we they his her its our your their my there here who what where "
    "when why how which and but or so if then no not nobody nothing all some many most each every both after before "
    "at by for from in on to with until since as is are was do does did can please also"
)
# Languages in which "3rd" is written "3."
_ORDINALS = _words("czech danish estonian finnish german norwegian polish slovene turkish")

# A run of blank lines, or a line.
_LINE = regex.compile(r"(?:[^\S\r\n\u2029]*+[\r\n\u2029])++|[^\r\n\u2029]*+(?:\r\n|[\r\n\u2029]|\Z)")
# A line that starts something new: an item. A line that is a sentence by itself: a heading, a rule, a row.
_OPENS = regex.compile(r"[^\S\r\n]*+(?:[-*+•‣▪]\s|\d{1,3}[.)]\s|[a-zA-Z]\)\s|\(\w{1,3}\)\s)")
_WHOLE = regex.compile(r"[^\S\r\n]*+(?:#{1,6}\s|[-=*_]{3,}\s*\Z|\||[^\r\n|]*+(?<=\s)\|\s)")

# Where a sentence may end. No pattern reads a run of marks twice, or a megabyte of "!" would take hours.
_STOP = regex.compile(
    r"""(?P<mark>(?<!\.[ \xa0])\.(?:[ \xa0]\.)++|(?<![.!?…؟।۔])[.!?…؟।۔]++)  # ". . .", or "?!"
        (?:["'”’“‘»«›‹)\]}*_`]|[ \xa0\u202f]»|\[\^?\d{1,3}\])*+(?=\s|\Z)      # and what closes after it
      | (?P<wide>(?:[。！？｡]++|．(?!\d))[」』”’）】》〉"')\]]*+)               # no blank after it, but take care
        (?![\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}])                    # not to part a letter from its accent
      | (?<=\p{Ll}{3})(?P<glued>[.!?])(?=\p{Lu}\p{Ll}{0,30}+[\s,])            # a blank was forgotten""",
    regex.VERBOSE,
)
_NEXT = regex.compile(r"[\s\"'“‘”’«»„‚›(\[{*_`¿¡–—-]*+(\S{1,50})")  # the next word, behind what opens a quote
_BORDER = re.compile(r"[\s\"'“‘«„(\[{*_`/–—-]")  # what a word starts behind
_NEAR = 60  # characters before a full stop that are looked at; each one of these patterns ends there
_LABEL = regex.compile(r"(?:\A\W*|[:;]\s+)(?:\d{1,3}|\p{L}|[ivx]{1,4}|[IVX]{1,4})(?:\.\d{1,3})*+\Z")  # "3. Wait"
_UNIT = regex.compile(r"\d\s?(?:\p{Ll}{1,4}|[AVW])\Z")  # "5 h."
_DOTTED = regex.compile(r"(?<!\w)(?:\p{L}{1,2}\.)+\p{L}{1,2}\Z")  # "U.S.", "Ph.D."
_CODE = re.compile(r"[\d/\\@_=<>(`.]\S*\Z")  # an address, a name in a program
_LETTERS = regex.compile(r"\w*")

# Where a sentence is cut that is longer than a chunk.
_WITHIN: tuple[Separator, ...] = (
    "\n",
    "\r",
    re.compile("[;:,–—][\"')\\]}*_”’»]*(?=\\s)"),
    re.compile("[，、；：]"),
    " ",
    re.compile(r"\s"),
)


def split_sentences(
    text: str,
    *,
    chunk_size: int | None = None,
    chunk_overlap: int = 0,
    min_sentences: int = 1,
    language: str = "english",
    abbreviations: Iterable[str] = (),
    length: Length = "tokens",
) -> list[Span]:
    """One span a sentence; with a ``chunk_size``, as many whole sentences a span as fit.

    Parameters
    ----------
    chunk_size: the most that a span may measure, in units of ``length``; ``None`` for no limit. A sentence that is
        longer is cut at line ends, commas, blanks.
    chunk_overlap: how much of the end of a span is repeated in the next, at most: whole sentences, so often none.
    min_sentences: how many sentences a span holds at least, the last one too, unless the limit allows fewer.
    language: the name of a Punkt language, such as ``"german"``.
    abbreviations: your own, in any case, with or without their full stop, which then never ends a sentence.
    length: ``"tokens"``, ``"words"``, ``"characters"``, ``"wordpieces"``, the name of a tiktoken encoding, a tokenizer,
        or a function to int.

    Raises ``ValueError`` or ``TypeError`` that names the bad setting, ``LookupError`` where NLTK's data is missing.
    Source: Kiss and Strunk (2006), Unsupervised Multilingual Sentence Boundary Detection, for what Punkt decides.

    >>> text = "Dr. Lund pressed No. 5 (see Fig. 3). Nothing. It runs v2.4.1."
    >>> [span.of(text) for span in split_sentences(text)]
    ['Dr. Lund pressed No. 5 (see Fig. 3).', 'Nothing.', 'It runs v2.4.1.']
    >>> [span.of(text) for span in split_sentences(text, chunk_size=15, length="words")]
    ['Dr. Lund pressed No. 5 (see Fig. 3).', 'Nothing. It runs v2.4.1.']
    """
    check_settings(text, chunk_size, chunk_overlap, optional=True)
    check_count("min_sentences", min_sentences, least=1)
    if isinstance(abbreviations, str):
        raise TypeError(f"abbreviations={abbreviations!r} must be a list; put it in brackets")
    if not isinstance(abbreviations, Iterable):
        raise TypeError(f"abbreviations={abbreviations!r} must be a list of words, such as ['approx.']")
    own = list(abbreviations)
    for word in own:
        if not isinstance(word, str):
            raise TypeError(f"abbreviations holds {word!r}; it must hold words (str)")
    sentences = list(_sentences(text, _grammar(language, frozenset(own))))
    most = max(len(sentences) - min_sentences, 0)  # a cut after this many leaves enough for the last span
    if chunk_size is None:
        if length != "tokens":
            measure("", length)  # a wrong name is told here, too
        groups = range(0, most + 1, min_sentences)
        return [
            Span(sentences[a].start, sentences[-1 if a == groups[-1] else a + min_sentences - 1].end)
            for a in groups[: len(sentences)]
        ]
    ends = [span.end for span in sentences]
    levels = [Places(ends)] if min_sentences == 1 else [Places(ends[:most]), Places(ends)]
    return pack(
        measure(text, length),
        chunk_size=chunk_size,
        chunk_overlap=chunk_overlap,
        levels=[*levels, *boundary_levels(_WITHIN)],
        overlap_levels=levels,
    )


def widen(spans: Sequence[tuple[int, int]], *, before: int = 1, after: int = 1) -> list[Span]:
    """Each span with its neighbours: search the narrow ones, read the wide ones. Window i belongs to span i.

    Parameters: how many spans are added ``before`` and ``after``; at the ends of the text there are fewer. Windows
    overlap, so they may share a start or an end. Raises ``ValueError`` for a number below 0.

    >>> widen([(0, 8), (9, 17), (18, 28)], before=1, after=0)
    [Span(start=0, end=8), Span(start=0, end=17), Span(start=9, end=28)]
    """
    check_count("before", before, least=0)
    check_count("after", after, least=0)
    last = len(spans) - 1
    return [Span(spans[max(i - before, 0)][0], spans[min(i + after, last)][1]) for i in range(len(spans))]


def _sentences(text: str, grammar: _Grammar) -> Iterator[Span]:
    """The sentences, without the blanks around them."""
    for first, last, whole in _blocks(text):
        if not whole:
            for stop in _STOP.finditer(text, first, last):
                if grammar.ends(text, first, stop, last):
                    yield trim(text, first, stop.end())
                    first = stop.end()
        if text[first:last].strip():
            yield trim(text, first, last)


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """What no sentence goes beyond: start, end, and whether it is one sentence as a whole."""
    start = end = 0
    for line in _LINE.finditer(text):
        begin, end = line.span()
        whole = bool(_WHOLE.match(text, begin, end))
        blank = not line[0].strip()
        if (whole or blank or _OPENS.match(text, begin, end)) and start < begin:
            yield start, begin, False
            start = begin
        if whole or blank or text[end - 1] == "\u2029":
            yield start, end, whole
            start = end
    if start < end:
        yield start, end, False


@dataclass(frozen=True)
class _Grammar:
    """What is known of a language. Two opinions whether a capital word begins a sentence: ``surely`` takes no name for
    such a word, ``starts`` may (Cook, Page)."""

    own: frozenset[str]
    abbreviations: frozenset[str]
    ordinals: bool
    starts: Callable[[str], bool]
    surely: Callable[[str], bool]

    def ends(self, text: str, first: int, stop: regex.Match[str], last: int) -> bool:
        """Whether a sentence that began at ``first`` ends at this stop; its block ends at ``last``."""
        following, at = _NEXT.match(text, stop.end(), last), stop.start()
        if not following:
            return False  # the block ends here anyway
        after = following[1]
        starter = _LETTERS.match(after)[0]  # "We" of "We'll,"
        before = "…" * (first < at - _NEAR) + text[max(first, at - _NEAR) : at]
        if stop["wide"]:
            return len(stop["wide"]) == 1 or after[0] not in "と、，"  # 「…。」と: the sentence goes on
        if after[0] in ".,;:!?…)]}" or not before.strip():
            return False
        if stop["glued"]:
            return not _CODE.search(before) and (stop["glued"] != "." or self.surely(starter))
        if starter.islower() and text[following.start(1) - 1] != "`":
            opening = _NEXT.match(text, first, min(at, first + 1000))
            if opening and not opening[1][0].islower():
                return False  # who begins with a capital goes on in lower case only within a sentence
        mark = stop["mark"]
        if mark == ".":
            return self.full_stop_ends(before, after, starter)
        more = mark.count(".") > 3 and after[0].isupper()  # "....", an ellipsis and a full stop
        return more or not set("!?؟।۔").isdisjoint(mark) or self.starts(starter)

    def full_stop_ends(self, before: str, after: str, starter: str) -> bool:
        """The same for a single full stop; ``starter`` is the start of the word ``after`` it."""
        if before.endswith(tuple("\"'”’»)]}*_`")):
            return True
        word = _BORDER.split(before)[-1]
        small = word.lower()
        if _LABEL.search(before) or word in _TITLES or small in _NEVER or small in self.own:
            return False
        unit = bool(_UNIT.search(before))
        initial = not unit and len(word) == 1 and word.isalpha()
        known = (not unit and small in self.abbreviations) or bool(_DOTTED.search(before))
        if after[0].isdigit() or (len(starter) == 1 and starter not in "AI"):
            return not (initial or known or small in _NUMBERED)
        ordinal = self.ordinals and word.isdigit() and len(word) < 3
        first = self.surely if initial or small in _BEFORE_NAMES else self.starts
        return not (initial or known or ordinal or not word) or first(starter)


@lru_cache(maxsize=100)
def _grammar(language: str, own: frozenset[str]) -> _Grammar:
    known, starts = _punkt(language)
    own = frozenset(word.rstrip(".").lower() for word in own)
    if language != "english":
        return _Grammar(own, known | _OFTEN | _BEFORE_NAMES, language in _ORDINALS, starts, starts)
    known = (known | _OFTEN | _BEFORE_NAMES) - _PLAIN
    return _Grammar(own, known, False, lambda word: _surely_first(word) or starts(word), _surely_first)


def _surely_first(word: str) -> bool:
    return word[:1].isupper() and word.lower() in _FIRST


@cache
def _punkt(language: str) -> tuple[frozenset[str], Callable[[str], bool]]:
    """Punkt's abbreviations of a language, and its opinion on first words.

    NLTK stops a regular expression after five seconds of wall clock. Here it never sees more than one word.
    """
    from nltk.data import find
    from nltk.tokenize.punkt import PunktSentenceTokenizer, load_punkt_params

    languages = sorted(path.name for path in Path(find("tokenizers/punkt_tab")).iterdir() if path.is_dir())
    if language not in languages:
        raise ValueError(f"language={language!r} is unknown; use one of {', '.join(languages)}")
    learnt = load_punkt_params(find(f"tokenizers/punkt_tab/{language}/"))
    punkt = PunktSentenceTokenizer(learnt)

    @lru_cache(maxsize=10_000)
    def starts(word: str) -> bool:
        return bool(punkt.text_contains_sentbreak(f"... {word}"))  # after dots, it goes by the next word alone

    return frozenset(learnt.abbrev_types), starts
