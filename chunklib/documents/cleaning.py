# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: regex; ftfy, nltk (stop words), symspellpy for single steps.
"""Cleaning: small steps from text to text, each with a name, each usable alone, each doing nothing the second time.

When to use it: to repair broken Unicode before anything else, and to reduce text to its words for keyword search. Clean
a copy for the index; what a reader is shown and what a citation points to stays the document's own text.

But: every step but the repair throws something away. An encoder was trained on whole sentences, so it gets readable
text. Offsets into the cleaned text are no offsets into the document. The tables are English.

Guarded, so never split, corrected or dropped: negations, numbers with their signs, units, ranges and currencies,
dates, versions, product names (letters with digits, inner capitals), e-mail addresses and URLs.

Cost: linear. The spelling dictionary takes about 2 s to load, once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any

import regex

from chunklib.core.needs import needs

Step = Callable[[str], str]

_MARK = r"[-'’/&]"  # what may stand inside a word: log-in, Alice's, and/or, R&D
_START, _STOP = rf"(?<!\w)(?<!\w{_MARK})", rf"(?!\w|{_MARK}\w)"
_LAST = r"[^\s.,;:!?…)\]}'\"’”»>]"  # what an address may end with: the full stop after it belongs to the sentence
#: What an e-mail address looks like.
EMAIL = r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}(?!\w)"
_ADDRESS = rf"(?:https?://|www\.)\S*{_LAST}|{EMAIL}"
_NUMBER = r"\d+(?:[.,:'’]\d+)*+"
_UNIT = (
    r"[%‰]|°(?:\s?[CFK](?!\w))?|\p{Sc}|[µμ]?\p{L}{1,4}/\p{L}{1,4}"
    r"|(?:[kKMGTmµμnc]?(?:[mglswvabjnΩ]|wh|ah|hz|pa|db)|min|lb|oz|ft|in|rpm)"
    r"|(?:second|minute|hour|day|week|month|year)s?"
)
_QUANTITY = (
    rf"{_START}(?<!\.)(?:[±≈≥≤<>~]\s?)?(?:[+−-]\s?(?=[\p{{Sc}}\d]))?(?:\p{{Sc}}\s?)?{_NUMBER}"
    rf"(?:(?:\s?[-–—−/×]\s?|\s(?:to|x)\s)(?:\p{{Sc}}\s?)?{_NUMBER})*(?:\s?(?i:{_UNIT})|\p{{L}}{{1,4}})?{_STOP}"
)
# Letters with digits (E-47, AX310, v2.4.1), inner capitals (HomeHub, USB-C), C++ and C#.
_NAME = (
    rf"{_START}(?:(?=[\w./_-]{{0,60}}\d)\p{{L}}\w{{0,60}}(?:[-./_]\w{{1,60}}){{0,8}}"
    rf"|\p{{L}}{{0,60}}\p{{Ll}}\p{{Lu}}\p{{L}}{{0,60}}|\p{{Lu}}{{2,60}}(?:-\p{{Lu}}{{1,60}}){{1,8}}|\p{{Lu}}(?:\+\+|\#)){_STOP}"
)
_CONTRACTED = r"(?:do|does|did|is|was|are|were|has|have|had|would|could|should|must|need|might|ca|wo|sha|ai)n"
_NEGATION = (
    rf"{_START}(?i:not|no|nor|never|none|nothing|nobody|nowhere|neither|without|cannot|unless|except"
    rf"|{_CONTRACTED}['’]?t){_STOP}"
)
_ADDRESSES = regex.compile(_ADDRESS)
#: What no step may split, correct or drop.
GUARDED = regex.compile("|".join([_ADDRESS, _QUANTITY, _NAME, _NEGATION]))

_words = str.split  # a list of words reads best as one line
#: Words on the usual list that carry a condition, a limit or a direction; they are kept, as every negation is.
KEPT = frozenset(
    _words("about above after again against all any because before below between both but by down during each few from")
    + _words("if more most off once only other out over own same some than through too under until up very while")
)
_WORD = regex.compile(rf"\w+(?:{_MARK}\w+)*+")
_BLANKS = r"[^\S\r\n\f]++"  # on one line: form feeds end pages, and stay

_VERBS = _words("do does did is was are were has have had would could should")
#: Contractions that stand for one thing only. 's after a noun (Alice's pump) and 'd (had, would) do not.
CONTRACTIONS: Mapping[str, str] = {
    **{f"{verb}n't": f"{verb} not" for verb in (*_VERBS, "must", "need", "might")},
    "can't": "cannot",
    "won't": "will not",
    "shan't": "shall not",
    "ain't": "is not",
    # without its apostrophe, as customers type it; "wont" and "cant" are words
    **{f"{verb}nt": f"{verb} not" for verb in _VERBS},
    **{f"{who}'s": f"{who} is" for who in _words("it he she that there here what where who how")},
    **{f"{who}'re": f"{who} are" for who in _words("you we they")},
    **{f"{who}'ve": f"{who} have" for who in _words("i you we they")},
    **{f"{who}'ll": f"{who} will" for who in _words("i you he she it we they that")},
    "i'm": "i am",
    "let's": "let us",
}

#: Abbreviations with their full stop. ``#`` stands for "only before a number": the answer may be "no".
ABBREVIATIONS: Mapping[str, str] = {
    "e.g.": "for example", "i.e.": "that is", "approx.": "approximately", "vs.": "versus", "incl.": "including",
    "excl.": "excluding", "max.": "maximum", "w/o": "without", "w/": "with",
    "No. #": "number", "Nos. #": "numbers", "Fig. #": "figure", "fig. #": "figure", "p. #": "page", "min. #": "minimum",
}  # fmt: skip


def clean(text: str, *steps: Step) -> str:
    """Repair the Unicode, then take the steps in their order; without steps, repair only.

    >>> clean("There was a cat. The cat sat. The cat sat on a mat.", *KEYWORD_STEPS)
    'cat cat sat cat sat mat'
    """
    for step in (repair_unicode, *steps):
        text = step(text)
    return text


def repair_unicode(text: str) -> str:
    """Undo wrong decodings, put accents together (NFC), drop control characters and soft hyphens.

    Quotes, line ends, form feeds and full-width characters stay. A lone surrogate becomes U+FFFD. Needs: ftfy.

    >>> repair_unicode("The caf\\u00c3\\u00a9 closes; cafe\\u0301 is the same word, like war\\u00adranty.")
    'The café closes; café is the same word, like warranty.'
    """
    with needs("ftfy"):
        import ftfy

    if not isinstance(text, str):
        raise TypeError(f"text is {type(text).__name__}; it must be str (decode bytes, or pass document.text)")
    kept = ftfy.TextFixerConfig(
        unescape_html=False, uncurl_quotes=False, fix_line_breaks=False, fix_character_width=False
    )
    return _settled(lambda now: ftfy.fix_text(now.replace("\u00ad", ""), kept), text)


def lower_case(text: str) -> str:
    """Every letter in lower case. But: ``US`` and ``us``, ``mW`` and ``MW`` become one."""
    return text.lower()


def expand_contractions(text: str) -> str:
    """``doesn't`` becomes ``does not``, whichever apostrophe it has; possessives and ``'d`` stay.

    >>> expand_contractions("It’s Alice's pump. DON'T open it, it doesnt leak.")
    "It is Alice's pump. DO NOT open it, it does not leak."
    """

    def expanded(found: regex.Match[str]) -> str:
        short = found[0].replace("’", "'")
        whole = CONTRACTIONS[short.lower()]
        if short.isupper():
            return whole.upper()
        if "i" in whole.split()[:1]:  # the pronoun
            return str(short[0] + whole[1:])
        return whole[0].upper() + whole[1:] if short[0].isupper() else whole

    return _outside(_ADDRESSES, _contractions(), expanded, text)


def expand_abbreviations(text: str, *, table: Mapping[str, str] = ABBREVIATIONS) -> str:
    """``approx.`` becomes ``approximately``, and so on by the table; a ``#`` in a key asks for a number after it.

    Keys are matched as they are written, case and all: "No. 5" is a number, "no. Five" is an answer. A word of the
    table must not be a key of it. Take this step before `lower_case`.

    >>> expand_abbreviations("See Fig. 3, approx. 4.5 h. Faulty? No. Ask us.")
    'See figure 3, approximately 4.5 h. Faulty? No. Ask us.'
    """
    found = regex.compile(
        "|".join(
            rf"(?<![\w.]){regex.escape(key.removesuffix('#').strip())}(?!\w)" + (r"(?=\s?\d)" if "#" in key else "")
            for key in sorted(table, key=len, reverse=True)
        )
    )
    whole = {key.removesuffix("#").strip(): value for key, value in table.items()}
    return _outside(_ADDRESSES, found, lambda match: whole[match[0]], text) if table else text


def correct_spelling(text: str, *, protected: Collection[str] = frozenset()) -> str:
    """Replace a word that no dictionary knows by the most frequent known one at one edit from it.

    Left alone: what is guarded, words of less than five letters or with a capital, ``protected`` ones (in lower case;
    see `domain_words`), and those whose only neighbours start with another letter, so that ``uncovered`` is never made
    of ``covered``. But: it does not read the sentence; the most frequent word need not be the right one. Needs:
    symspellpy, whose dictionary holds 82,765 English words.

    >>> correct_spelling("The warrenty of the AX310 is in the homehub app.")
    'The warranty of the AX310 is in the homehub app.'
    """

    def corrected(found: regex.Match[str]) -> str:
        word = found[0]
        if len(word) < 5 or not (word.isascii() and word.isalpha() and word.islower()) or word in protected:
            return str(word)
        from symspellpy import Verbosity

        options = _dictionary().lookup(word, Verbosity.CLOSEST, max_edit_distance=1)
        return next((str(o.term) for o in options if o.term[0] == word[0] and o.term.isalpha()), word)

    return _outside(GUARDED, _WORD, corrected, text)


def domain_words(texts: Iterable[str], *, least: int = 3) -> frozenset[str]:
    """Words, in lower case, that stand at least ``least`` times in your own texts: names that no dictionary knows.

    A slip of the pen is rarely made three times. Hand them to `correct_spelling`.

    >>> sorted(domain_words(["HomeHub app. The homehub.", "homehub, app, warrenty"]))
    ['homehub']
    """
    counts = Counter(word.lower() for text in texts for word in _WORD.findall(text))
    return frozenset(word for word, times in counts.items() if times >= least)


def remove_stop_words(text: str) -> str:
    """Drop words that say little: ``the``, ``was``, ``you``. Negations, conditions and limits (`KEPT`) stay.

    Words in capitals (``IT``, ``WHO``) and single letters other than "a" and "I" stay, too. Needs: nltk's list.

    >>> remove_stop_words("Do not open the valve before draining; use no more than 5 ml.")
    'not open valve before draining; use no more than 5 ml.'
    """
    dropped = stop_words()

    def kept(found: regex.Match[str]) -> str:
        word = found[1]
        capitals = len(word) > 1 and word.isupper()
        return "" if word.lower().replace("’", "'") in dropped and not capitals else found[0]

    return _settled(lambda now: _outside(GUARDED, _WORD_AND_BLANK, kept, now), text)


def remove_symbols(text: str) -> str:
    """Punctuation, bullets, pipes and other marks become one blank; what is guarded and marks inside words stay.

    Mathematical signs beyond ASCII (``≥``, ``×``) and currencies stay everywhere, line ends and form feeds as well.

    >>> remove_symbols("– **5–7** days, −5 °C; €4.90 (R&D's log-in).")
    "5–7 days −5 °C €4.90 R&D's log-in"
    """

    def removed(now: str) -> str:
        now = _outside(GUARDED, _SYMBOLS, lambda found: found[0] if found[1] else " ", now)
        return str(_RIMS.sub("", regex.sub(r" {2,}+", " ", now)))

    return _settled(removed, text)


_WORD_AND_BLANK = regex.compile(rf"({_WORD.pattern})(?:{_BLANKS})?")
# Group 1: a word with the marks inside it, which is kept.
_SYMBOLS = regex.compile(
    rf"({_WORD.pattern})|(?:(?![\p{{Sc}}[\p{{Sm}}--[\x00-\x7f]]])[\p{{P}}\p{{S}}][\u200d\ufe0e\ufe0f]*+)", regex.V1
)
_RIMS = regex.compile(rf"(?m)^{_BLANKS}|{_BLANKS}(?=[\r\n\f]|\Z)|(?<=\f){_BLANKS}")

#: For keyword search. Abbreviations come before lower case, which they need.
KEYWORD_STEPS: tuple[Step, ...] = (
    expand_contractions,
    expand_abbreviations,
    remove_stop_words,
    remove_symbols,
    lower_case,
)


def _settled(step: Step, text: str) -> str:
    """Take a step until it changes nothing more: what is dropped may have been what guarded its neighbour."""
    before = None
    while before != text:
        before, text = text, step(text)
    return text


def _outside(
    guard: regex.Pattern[str], wanted: regex.Pattern[str], change: Callable[[regex.Match[str]], str], text: str
) -> str:
    """Change what is wanted wherever the guard does not stand, in one pass from left to right."""
    parts, done, guarded = [], 0, guard.search(text)
    at = 0
    while found := wanted.search(text, at):
        while guarded and guarded.end() <= found.start():
            guarded = guard.search(text, guarded.end())
        if guarded and guarded.start() < found.end():
            at = max(guarded.end(), found.end())  # a word of which a part is guarded stays whole
            continue
        parts += [text[done : found.start()], change(found)]
        done = at = max(found.end(), found.start() + 1)
    return "".join([*parts, text[done:]])


@cache
def _contractions() -> regex.Pattern[str]:
    words = "|".join(sorted((key.replace("'", "['’]") for key in CONTRACTIONS), key=len, reverse=True))
    return regex.compile(rf"(?<![\w'’])(?i:{words})(?![\w'’])")


@cache
def stop_words() -> frozenset[str]:
    """English words that say little, by nltk's list, without `KEPT`, negations, and single letters but "a" and "i"."""
    from nltk.corpus import stopwords

    listed = {word for word in stopwords.words("english") if len(word) > 1 or word in "ai"}
    stems = {word for word in listed if f"{word}'t" in listed}  # "won", "don": halves of contractions, or words
    return frozenset(listed - KEPT - stems - {word for word in listed if GUARDED.fullmatch(word)})


@cache
def _dictionary() -> Any:
    from importlib.resources import files

    with needs("symspellpy"):
        from symspellpy import SymSpell

    dictionary = SymSpell(max_dictionary_edit_distance=1)
    dictionary.load_dictionary(str(files("symspellpy") / "frequency_dictionary_en_82_765.txt"), 0, 1, encoding="utf-8")
    return dictionary
