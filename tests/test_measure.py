# SPDX-License-Identifier: MIT
"""Sizes are exact, whatever counts them: tokenizers of every make as objects, and functions, which are asked rarely."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from chunklib.core.measure import _by_function, _encoding, measure
from chunklib.course.datasets import load_course_documents
from chunklib.course.display import show
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.semantic import split_semantic
from chunklib.sentence import split_sentences
from chunklib.structure import split_at, split_markdown, split_paragraphs
from tests.laws import assert_laws, hard_text


def trained(model: Any, trainer: Any, *, normalizer: Any = None, pre: Any = None) -> Tokenizer:
    made = Tokenizer(model)
    if normalizer:
        made.normalizer = normalizer
    if pre:
        made.pre_tokenizer = pre
    made.train_from_iterator([document.text[:20_000] for document in load_course_documents()], trainer)
    return made


@cache
def tokenizers() -> dict[str, Tokenizer]:
    """One of each make: GPT's, BERT's (cutting and filling up), T5's, Llama's, and one whose tokens are phrases."""
    bytes_ = pre_tokenizers.ByteLevel.alphabet()
    gpt = trained(
        models.BPE(),
        trainers.BpeTrainer(vocab_size=1500, initial_alphabet=bytes_, show_progress=False),
        pre=pre_tokenizers.ByteLevel(add_prefix_space=False),
    )
    bert = trained(
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(vocab_size=1500, special_tokens=["[UNK]", "[PAD]"], show_progress=False),
        normalizer=normalizers.BertNormalizer(),
        pre=pre_tokenizers.BertPreTokenizer(),
    )
    bert.enable_truncation(5)
    bert.enable_padding(length=9, pad_token="[PAD]", pad_id=1)
    t5 = trained(
        models.Unigram(),
        trainers.UnigramTrainer(vocab_size=1500, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False),
        pre=pre_tokenizers.Metaspace(),
    )
    llama = trained(
        models.BPE(unk_token="<unk>"),
        trainers.BpeTrainer(vocab_size=1500, special_tokens=["<unk>"], show_progress=False),
        pre=pre_tokenizers.Metaspace(),
    )
    llama.pre_tokenizer = None
    llama.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    phrases = trained(models.BPE(), trainers.BpeTrainer(vocab_size=1500, show_progress=False))
    return {"gpt": gpt, "bert": bert, "t5": t5, "llama": llama, "phrases": phrases}


def counter(name: str) -> Callable[[str], int]:
    """An independent count: a copy of the tokenizer that neither cuts nor fills up."""
    copy = Tokenizer.from_str(tokenizers()[name].to_str())
    copy.no_truncation()
    copy.no_padding()
    return lambda text: len(copy.encode(text, add_special_tokens=False))


@pytest.mark.parametrize("name", ["gpt", "bert", "t5", "llama", "phrases"])
@given(text=hard_text, ends=st.tuples(st.integers(0, 80), st.integers(0, 80)))
def test_sizes_are_exact(name: str, text: str, ends: tuple[int, int]) -> None:
    text = text.encode("utf-8", "replace").decode()
    start, end = sorted(min(end, len(text)) for end in ends)
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        assert measure(text, tokenizers()[name]).size(start, end) == counter(name)(text[start:end])


@pytest.mark.parametrize("name", ["gpt", "bert", "t5", "llama", "phrases"])
@pytest.mark.parametrize("splitter", [split_fixed_size, split_recursive, split_sentences])
def test_a_tokenizer_s_object_is_a_length(name: str, splitter: Callable[..., list[tuple[int, int]]]) -> None:
    count = counter(name)
    for document in load_course_documents()[::3]:
        for overlap in (0, 12):
            spans = splitter(document.text, chunk_size=60, chunk_overlap=overlap, length=tokenizers()[name])
            assert_laws(document.text, spans, count, 60, overlap)
    assert tokenizers()["bert"].truncation, "what was handed in stays as it was"


def test_only_a_tokenizer_whose_tokens_go_on_beyond_a_word_is_asked_like_a_function() -> None:
    text = load_course_documents("returns-policy.md")[0].text
    tables = {name: len(measure(text, tokenizer).units) for name, tokenizer in tokenizers().items()}
    assert tables.pop("phrases") == len(_by_function(text, len).units)
    assert tables == {name: counter(name)(text) for name in tables}


def test_an_encoding_s_object_is_a_length_and_so_is_what_stands_on_a_tokenizer() -> None:
    text = load_course_documents("faq.txt")[0].text
    encoding = tiktoken.get_encoding("o200k_base")
    assert split_recursive(text, length=encoding) == split_recursive(text, length="o200k_base")

    class Fast:
        """As the fast tokenizers of transformers are: callable, with the tokenizer inside."""

        backend_tokenizer = tokenizers()["bert"]

        def __call__(self, text: str) -> dict[str, list[int]]:
            raise AssertionError("not this way")

    assert split_recursive(text, length=Fast()) == split_recursive(text, length=tokenizers()["bert"])  # type: ignore[arg-type]


class Asked:
    """A function that notes how often it is called, and with how much."""

    def __init__(self) -> None:
        self.calls = self.characters = 0

    def __call__(self, text: str) -> int:
        self.calls, self.characters = self.calls + 1, self.characters + len(text)
        return len(text.encode()) // 4


@pytest.mark.parametrize(
    ("splitter", "overlap", "calls", "times"),
    [
        (split_recursive, 0, 3, 4.5),
        (split_recursive, 40, 7, 6.5),
        (split_fixed_size, 0, 8, 9),
        (split_fixed_size, 40, 12, 12.5),
        (split_sentences, 0, 3, 4.5),
    ],
)
def test_a_function_is_asked_rarely(
    splitter: Callable[..., list[tuple[int, int]]], overlap: int, calls: float, times: float
) -> None:
    """So many calls a chunk at most, and so many characters for each of the text's."""
    text = "\n\n".join(document.text for document in load_course_documents())
    asked = Asked()
    spans = splitter(text, chunk_size=200, chunk_overlap=overlap, length=asked)
    assert (asked.calls / len(spans) <= calls, asked.characters / len(text) <= times) == (True, True), (
        asked.calls / len(spans),
        asked.characters / len(text),
    )


@pytest.mark.parametrize("length", [lambda text: len(text) % 7, lambda text: len(set(text.split()))])
@pytest.mark.parametrize("splitter", [split_fixed_size, split_recursive, split_sentences])
@given(text=hard_text, size=st.integers(1, 12), overlap=st.integers(0, 11))
def test_a_length_that_does_not_grow_with_the_text_keeps_the_limit(
    length: Callable[[str], int],
    splitter: Callable[..., list[tuple[int, int]]],
    text: str,
    size: int,
    overlap: int,
) -> None:
    spans = splitter(text, chunk_size=size, chunk_overlap=min(overlap, size - 1), length=length)
    for start, end in spans:
        assert length(text[start:end]) <= size or end - start == 1
    if text.strip() and length(text.strip()) <= size:
        assert len(spans) == 1


def test_no_tokenizer_file_is_needed_where_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(name: str) -> None:
        raise OSError("no network")

    monkeypatch.setattr(tiktoken, "get_encoding", unreachable)
    _encoding.cache_clear()
    text = "# Cats\n\nThe cat sat. The cat ran."
    assert len(split_markdown(text)) == len(split_paragraphs(text)) - 1 == 1
    assert len(split_at(text, starts=[8])) == 2
    assert len(split_sentences(text)) == 3
    assert split_semantic(text, embed=lambda texts: [[1.0] for _ in texts])
    assert split_recursive("", chunk_size=5) == []
    assert '"The cat sat." ? tokens' in repr(show(text, [(8, 20)]))
    for length in ("words", "characters"):
        assert split_recursive(text, chunk_size=50, length=length) == [(0, len(text))]
    with pytest.raises(OSError, match="the tokenizer file of cl100k_base is neither"):
        split_recursive(text)
    with pytest.raises(ValueError, match="length='pages' is unknown"):
        split_markdown(text, length="pages")
    _encoding.cache_clear()
