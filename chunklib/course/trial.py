# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: numpy, an encoder, qdrant-client; matplotlib for the chart.
"""Every technique of the course on documents of your own, side by side, and what to choose on that evidence.

When to use it: once per collection, before an index is built, and again with questions of your own.

But: without questions only the form of the chunks is compared. With a few dozen, most differences are ties; the
recommendation says so, and is a place to start from, no more.

Cost: the encoder reads the documents about five times, in different pieces (its vectors are kept); all else is seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from statistics import median
from typing import NamedTuple

import numpy as np

from chunklib.core.document import Chunk, Document, chunk_document
from chunklib.core.measure import count
from chunklib.core.span import Span, Splitter
from chunklib.course.charts import Figure, chart_style, figure
from chunklib.enrichment import add_context
from chunklib.fixed_size import split_fixed_size
from chunklib.recursive import split_recursive
from chunklib.search.audit import DUPLICATE, MID_SENTENCE, Finding, audit
from chunklib.search.evaluation import (
    Question,
    Scores,
    Searcher,
    Values,
    boundary_stability,
    evaluate,
    paired_difference,
    unread_share,
)
from chunklib.search.parents import ParentChildIndex
from chunklib.search.retrieval import Index
from chunklib.semantic import split_optimal, split_semantic
from chunklib.sentence import split_sentences
from chunklib.structure import split_at, split_markdown, split_paragraphs

Build = Callable[[Sequence[Document], Sequence[Chunk]], Searcher]
ADDED = "One more sentence."


class Technique(NamedTuple):
    """How a document is cut, and how the chunks of all are searched; by default by the vectors of text and context."""

    split: Callable[[Document], Splitter]
    build: Build = lambda documents, chunks: Index(chunks)


@dataclass(frozen=True, eq=False)
class Trial:
    """What one technique did: its chunks, with context; what the audit says of them; and how it compares.

    ``whole``: share of the sentences that one chunk holds whole. ``stable``: share of the chunks that are there again
    after a sentence was put in near the top of each document. ``unread``: share of the text that the encoder does not
    read. ``scores``: those of the questions, if there were any.
    """

    name: str
    chunks: tuple[Chunk, ...]
    findings: tuple[Finding, ...]
    tokens: tuple[int, ...]
    whole: float
    stable: float
    unread: float
    scores: Scores | None = None

    @property
    def faulty(self) -> float:
        """Share of the chunks with a finding; a copy of another chunk is the documents' fault, not the technique's."""
        faulty = {id(finding.chunk) for finding in self.findings if finding.kind != DUPLICATE}
        return len(faulty) / len(self.chunks) if self.chunks else 0.0


class Recommendation(NamedTuple):
    """A technique by its name, why it was chosen, and how sure that is."""

    name: str
    reasons: tuple[str, ...]
    doubts: tuple[str, ...]


def techniques(chunk_size: int = 200) -> dict[str, Technique]:
    """The techniques of the course at one ``chunk_size`` in tokens, the simplest first.

    >>> list(techniques())
    ['fixed', 'fixed with overlap', 'recursive', 'sentences', 'structure', 'semantic', 'similarity', 'parent-child']
    """
    plain: dict[str, Splitter] = {
        "fixed": partial(split_fixed_size, chunk_size=chunk_size),
        "fixed with overlap": partial(split_fixed_size, chunk_size=chunk_size, chunk_overlap=chunk_size // 10),
        "recursive": partial(split_recursive, chunk_size=chunk_size),
        "sentences": partial(split_sentences, chunk_size=chunk_size),
    }
    meaning: dict[str, Splitter] = {
        "semantic": partial(split_semantic, min_chunk_size=chunk_size // 5, max_chunk_size=chunk_size),
        "similarity": partial(split_optimal, chunk_size=chunk_size),
    }
    return {
        **{name: Technique(partial(_same, splitter)) for name, splitter in plain.items()},
        "structure": Technique(partial(by_structure, chunk_size=chunk_size)),
        **{name: Technique(partial(_same, splitter)) for name, splitter in meaning.items()},
        "parent-child": Technique(partial(_same, plain["recursive"]), partial(_families, chunk_size=chunk_size)),
    }


def _same(splitter: Splitter, document: Document) -> Splitter:
    return splitter


def _families(documents: Sequence[Document], chunks: Sequence[Chunk], *, chunk_size: int) -> Searcher:
    index = ParentChildIndex(
        parent_splitter=partial(split_recursive, chunk_size=chunk_size),
        child_splitter=partial(split_recursive, chunk_size=max(1, chunk_size // 4)),
        own_weight=0.5,
        enrich=add_context,
    )
    for document in documents:
        index.add(document)
    return index


def by_structure(document: Document, chunk_size: int = 200) -> Splitter:
    """What the kind of document offers: Markdown's sections and blocks, headings, pages, else paragraphs."""
    if document.media_type == "text/markdown":
        return partial(split_markdown, chunk_size=chunk_size)
    if starts := [heading.start for heading in document.headings] or list(document.pages):
        return partial(split_at, starts=starts, chunk_size=chunk_size)
    return partial(split_paragraphs, chunk_size=chunk_size)


def try_out(
    name: str,
    technique: Technique,
    documents: Sequence[Document],
    questions: Sequence[Question] = (),
    *,
    budget: int = 4000,
) -> Trial:
    """Cut, audit and measure; with ``questions`` that have an answer, search as well.

    Parameters
    ----------
    name: what the rows of the tables and the recommendation call it; each name once.
    technique: a `Technique`, such as one of `techniques`, or ``Technique(lambda document: my_splitter)``.
    budget: characters read when an answer counts as found.

    Raises ``TypeError`` for a technique that is a bare splitter, and what `chunk_document` raises.
    """
    if not isinstance(technique, Technique):
        raise TypeError(f"technique={technique!r} must be a Technique, such as Technique(lambda document: my_splitter)")
    cut = [(document, chunk_document(document, technique.split(document))) for document in documents]
    chunks = [add_context(chunk, document) for document, its in cut for chunk in its]
    findings = audit(chunks, documents)
    sentences = sum(len(split_sentences(document.text)) for document in documents)
    lost = sum(finding.kind == MID_SENTENCE for finding in findings)
    kept = sum(_stability(technique, document) * len(its) for document, its in cut)
    asked = [question for question in questions if question.gold]
    return Trial(
        name=name,
        chunks=tuple(chunks),
        findings=tuple(findings),
        tokens=tuple(count(chunk.text) for chunk in chunks),
        whole=1 - lost / sentences if sentences else 1.0,
        stable=kept / len(chunks) if chunks else 1.0,
        unread=unread_share(chunks),
        scores=evaluate(technique.build(documents, chunks), asked, budget=budget) if asked and chunks else None,
    )


def _stability(technique: Technique, document: Document) -> float:
    new = edited(document)

    def splitter(text: str) -> Sequence[tuple[int, int]]:
        known = document if text == document.text else new
        return technique.split(known)(known.text)

    return boundary_stability(splitter, document.text, lambda text: new.text)


def edited(document: Document) -> Document:
    """The document with one more sentence, a paragraph of its own, a tenth down its text; its outline moves along.

    >>> edited(Document.from_markdown("# Fees\\n\\nNone.")).text
    '# Fees\\n\\nOne more sentence.\\n\\nNone.'
    """
    blank = document.text.find("\n\n", len(document.text) // 10)
    place, added = (blank + 2, f"{ADDED}\n\n") if blank >= 0 else (0, f"{ADDED} ")

    def moved(offset: int) -> int:
        return offset + len(added) * (offset >= place)

    def shifted(span: Span) -> Span:
        return Span(moved(span.start), moved(span.end))

    return replace(
        document,
        text=document.text[:place] + added + document.text[place:],
        headings=[h._replace(start=moved(h.start), end=moved(h.end)) for h in document.headings],
        pages=[moved(page) if page else 0 for page in document.pages],
        tables=[(shifted(header), shifted(whole)) for header, whole in document.tables],
    )


def recommend(trials: Sequence[Trial]) -> Recommendation:
    """One technique, with reasons and doubts.

    With questions: of those that find about as much as the best (within one standard error of the paired difference),
    the one with the fewest faulty chunks; of equals the most stable, then the simplest. Without: by faults alone.

    Raises ``ValueError`` where there is nothing to choose from.
    """
    if not trials:
        raise ValueError("trials is empty: try_out at least one technique")
    order = {trial.name: place for place, trial in enumerate(trials)}

    def form(trial: Trial) -> tuple[float, float, int]:
        return round(trial.faulty, 2), -round(trial.stable, 2), order[trial.name]

    found = {trial.name: trial.scores.found for trial in trials if trial.scores is not None}
    if not found:
        chosen = min(trials, key=form)
        unasked = "No question was asked: the form of the chunks was compared, not whether answers are found."
        return Recommendation(chosen.name, (_form_of(chosen),), (unasked,))
    best = max(found, key=lambda name: (float(found[name].mean()), -order[name]))
    near = [name for name, values in found.items() if _within_an_error(found[best] - values)]
    chosen = min((trial for trial in trials if trial.name in near), key=form)
    assert chosen.scores is not None
    mean, low, high = chosen.scores.mean("found")
    n = len(chosen.scores.ids)
    reasons = [
        f"It finds {mean:.0%} of {n} answers in {chosen.scores.budget:,} characters read.",
        f"Within one standard error of the best ({best}, {found[best].mean():.0%}) are: {', '.join(near)}.",
        _form_of(chosen),
    ]
    doubts = [f"With {n} questions, its share lies between {low:.0%} and {high:.0%} (95 % interval)."]
    differences = {name: paired_difference(found[chosen.name], its) for name, its in found.items()}
    ties = [name for name, (_, low, high) in differences.items() if name != chosen.name and low <= 0 <= high]
    if ties:
        doubts.append(f"Over these questions it is a tie with: {', '.join(ties)}.")
    if len(found) > 2:
        doubts.append(f"The best of {len(found)} is partly the luckiest: ask it other questions before you trust it.")
    if n < 20:
        doubts.append("Below 20 questions, the interval itself is too narrow.")
    return Recommendation(chosen.name, tuple(reasons), tuple(doubts))


def _within_an_error(difference: Values) -> bool:
    """Whether the mean of paired differences, nought or more, is no larger than its standard error."""
    # mean <= standard error, squared and multiplied out: exact for 0 and 1, so no rounding decides.
    return float(difference.sum()) ** 2 <= float((difference**2).sum())


def _form_of(trial: Trial) -> str:
    return (
        f"Of its {len(trial.chunks)} chunks {trial.faulty:.0%} have a fault; {trial.whole:.1%} of the sentences are "
        f"whole; {trial.stable:.0%} of the chunks survive an edit."
    )


def table(trials: Sequence[Trial]) -> list[list[str]]:
    """The trials as rows of words, under a row of headings."""
    rows = [["technique", "chunks", "tokens", "whole %", "faulty %", "stable %", "unread %", "found %"]]
    for trial in trials:
        tokens = sorted(trial.tokens) or [0]
        share = [trial.whole, trial.faulty, trial.stable, trial.unread]
        shares = [f"{100 * share[0]:.1f}", *(f"{100 * value:.0f}" for value in share[1:])]
        found = "–"
        if trial.scores is not None:
            found = "{:.0f} [{:.0f}, {:.0f}]".format(*(100 * value for value in trial.scores.mean("found")))
        sizes = f"{tokens[0]} / {median(tokens):.0f} / {tokens[-1]}"
        rows.append([trial.name, str(len(trial.chunks)), sizes, *shares, found])
    return rows


def faults(trials: Sequence[Trial]) -> dict[str, dict[str, int]]:
    """For each kind that was found at all, how many findings each technique has."""
    kinds = dict.fromkeys(chain.from_iterable((f.kind for f in trial.findings) for trial in trials))
    return {kind: {t.name: sum(f.kind == kind for f in t.findings) for t in trials} for kind in sorted(kinds)}


def chart(trials: Sequence[Trial]) -> Figure:
    """Tokens of all chunks, a row of dots for each technique, beside the number of findings by kind."""
    from matplotlib import pyplot

    counts: Mapping[str, Mapping[str, int]] = faults(trials)
    with pyplot.rc_context(chart_style()):  # type: ignore[arg-type]
        fig, (left, right) = pyplot.subplots(1, 2, figsize=(10, 0.42 * len(trials) + 1.6), sharey=True)
        shades = pyplot.get_cmap("cividis")(np.linspace(0, 0.95, max(len(counts), 1)))
        for row, trial in enumerate(trials):
            left.plot(trial.tokens, [row] * len(trial.tokens), "|", color="#0072B2", alpha=0.4, markersize=11)
            left.plot(median(trial.tokens or [0]), row, "D", color="#D55E00", markersize=6)
            base = 0
            for (kind, by_name), shade in zip(counts.items(), shades, strict=False):
                right.barh(row, by_name[trial.name], left=base, color=shade, label=None if row else kind)
                base += by_name[trial.name]
        names = ["".join(filter(str.isprintable, trial.name))[:24].replace("$", r"\$") for trial in trials]
        left.set_yticks(range(len(trials)), names)
        left.invert_yaxis()
        medians = [median(trial.tokens or [0]) for trial in trials]
        worst = max(trials, key=lambda trial: len(trial.findings)).name
        left.set(xlabel="tokens of each chunk; diamond: the median")
        left.set_title(f"Median chunks of {min(medians):.0f} to {max(medians):.0f} tokens")
        right.set(xlabel="findings of the audit")
        right.set_title(f"Most findings: {names[[trial.name for trial in trials].index(worst)]}")
        if counts:
            right.legend(fontsize=8, frameon=False)
        fig.tight_layout()
        alt = f"Chunk sizes in tokens and numbers of findings by kind, for each of {len(trials)} techniques"
        return figure(fig, alt=alt)
