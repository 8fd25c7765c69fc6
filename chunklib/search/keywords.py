# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: regex; numpy and bm25s for `Keywords`.
"""Search by words: the tokens that a keyword index should have, and BM25 over them.

When to use it: for names, codes and numbers, which a small encoder hardly tells apart. `E-47` is one token here, so
only chunks with that code score for it.

But: it finds words, not meaning. *Screen went black* does not find *a display that remains dark*. Word forms are not
joined (*refund*, *refunds*), and the stop words are English.

Cost: one pass over the text for the tokens; a search adds up one row of scores for each word of the question.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from chunklib.core.needs import needs

#: English words that stand in nearly every text. No negation is among them.
STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being both but by can could did do does
    doing during each few for from further had has have having he her here hers him his how i i'd i'll i'm i've if in
    into is it it's its itself just me more most my myself of off on once only or other our ours out over own same she
    should so some such than that that's the their theirs them then there these they this those through to too under
    until up very was we were what what's when where which while who whom why will with would you your yours yourself
    """.split()  # noqa: SIM905
)
# Not in, a and s, which are words or letters more often.
_UNITS = "%|°c|°f|mah|k?wh|[gmk]?hz|[gmkt]b|[km]?g|db|km|cm|mm|m|ml|l|k?w|m?v|ma|kpa|pa|lm|lx|h|min|ms"
_HAN = r"\p{Han}\p{Hiragana}\p{Katakana}"
# A token is the first of these that fits. What was taken is not given back, so the time is linear.
_TOKEN = regex.compile(
    rf"""
    (?P<price> [€$£]\s?+(?P<paid>\d++(?:[.,]\d++)*+) | (?P<paid>\d++(?:[.,]\d++)*+)\s?+(?:[€$£]|eur\b|usd\b|gbp\b) )
    | (?P<quantity> (?P<amount>\d++(?:[.,]\d++)*+)\s?+(?P<unit>{_UNITS})(?![\p{{L}}\p{{N}}]) )
    | (?P<name> (?<![\p{{L}}\p{{M}}]) (?P<letters>\p{{Latin}}{{1,6}}+)-?+(?P<digits>\d++\p{{Latin}}?+)
        (?![\p{{L}}\p{{N}}]|\.\d) )
    | (?P<number> (?:(?<![\p{{L}}\p{{M}}])v)?+\d++(?:[.,:]\d++)*+ | \p{{N}}++ )
    | (?P<han> [{_HAN}]++ )
    | (?P<word> (?:(?![{_HAN}])[\p{{L}}\p{{M}}])++(?:'\p{{L}}++)?+ )
    """,
    regex.VERBOSE,
)
_SIGNS = {"eur": "€", "usd": "$", "gbp": "£"}


def keyword_tokens(text: str) -> list[str]:
    """The words of a text as a keyword index wants them: small letters, no stop words, all that names something whole.

    Numbers stay, single digits too. A number and its unit are one token, also a price, a version (without its v), and a
    name of a few letters and digits, which is spelled with a hyphen. Chinese and Japanese, which have no blanks, come
    in overlapping pairs of characters. Cost: linear in the text.

    >>> keyword_tokens("Does the AX310 show E-47 after the 2.4.1 update? It takes 5 to 7 days, 4.5 h, €4.90.")
    ['ax-310', 'show', 'e-47', '2.4.1', 'update', 'takes', '5', '7', 'days', '4.5h', '€4.90']
    >>> keyword_tokens("退货期限")
    ['退货', '货期', '期限']
    """
    text = unicodedata.normalize("NFKC", text).lower().translate(_PLAIN)
    tokens = []
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "han":
            tokens += [token[i : i + 2] for i in range(max(1, len(token) - 1))]
        elif kind == "word":
            tokens += [word for word in (token.removesuffix("'s"),) if not {token, word} & STOP_WORDS]
        elif kind == "name":
            tokens.append(f"{match['letters']}-{match['digits']}")
        elif kind == "price":
            sign = next(sign for sign in ("€", "$", "£", "eur", "usd", "gbp") if sign in token)
            tokens.append(_SIGNS.get(sign, sign) + _number(match["paid"]))
        elif kind == "quantity":
            tokens.append(_number(match["amount"]) + match["unit"])
        else:
            tokens.append(_number(token.removeprefix("v")))
    return tokens


#: Curly apostrophes and the hyphens that are not the one on the keyboard.
_PLAIN = str.maketrans({"’": "'", "‘": "'", "\u2010": "-", "\u2011": "-"})


def _number(digits: str) -> str:
    """A number without commas between thousands, and with a point before its decimals."""
    return re.sub(r",(?=\d{3}(?!\d))", "", digits).replace(",", ".")


class Keywords:
    """Texts and their keyword tokens, scored by BM25.

    For each word of a question that stands in a text: the rarer in all texts, the more often in this one and the
    shorter this one, the higher. Formula and constants are the usual ones (k1 = 1.5, b = 0.75; Robertson and Zaragoza,
    *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009, with an idf that is never negative).

    >>> codes = Keywords(["E-47: moisture in the port", "E-12: no answer", "a dry port"])
    >>> codes.scores("what is e47").round(2).tolist()
    [0.37, 0.0, 0.0]
    """

    def __init__(self, texts: Iterable[str]) -> None:
        with needs("bm25s"):
            import bm25s

        tokens = [keyword_tokens(text) for text in texts]
        self._texts = len(tokens)
        self._bm25: Any = bm25s.BM25(k1=1.5, b=0.75, method="lucene") if any(tokens) else None
        if self._bm25:
            self._bm25.index(tokens, show_progress=False)

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        """The score of each text, shape (n,), 0 or more; 0 where it has no word of the query."""
        tokens = [token for token in keyword_tokens(query) if self._bm25 and token in self._bm25.vocab_dict]
        if not tokens:
            return np.zeros(self._texts)
        return np.asarray(self._bm25.get_scores(tokens), dtype=np.float64)
