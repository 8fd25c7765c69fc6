# SPDX-License-Identifier: MIT
"""Write the glossary: each term of the course with the words of the lesson that defines it.

python -m tools.glossary
"""

from __future__ import annotations

import re
from pathlib import Path

from chunklib.sentence import split_sentences
from tools.notebooks import NOTEBOOKS, ROOT, cells, command

GLOSSARY = ROOT / "docs" / "glossary.md"
#: lesson -> the terms it defines, in bold, where each first appears (a test looks).
TERMS = {
    "00": "token, chunk, retrieval-augmented generation, retrieval, prompt, augmentation, generation, encoder, "
    "embedding, vector, cosine, rank, context window, budget, dilution, word piece, gold, answer found, standard error",
    "01": "overlap, tokenizer, span, byte",
    "02": "separator, recursion, scoreboard",
    "03": "Punkt, distractor, sentence window",
    "04": "fence, heading path, header row",
    "05": "topic turn, distance, percentile, dynamic programming, similarity matrix",
    "06": "stop word, bag of words, metadata, prompt injection",
    "07": "parent-child, manifest",
    "08": "recall, precision, IoU, bootstrap, confidence interval",
    "09": "BM25, fusion, reranking, late chunking",
    "10": "hash, UUID",
    "11": "audit, rule of one standard error",
    "12": "adapter",
    "13": "worker, idempotent, Amdahl's law, shard",
}
#: A sentence that begins so leans on the one before it.
LEANS = re.compile(r"(Such|That|This|These|They|It|Its|Both|What is left)\b|.*\bthem\b")
HEAD = """# Glossary

Each term in the words of the lesson that introduces it. Written by `python -m tools.glossary`.
"""


def defined(term: str, notebook: Path) -> str:
    """The sentence of a lesson that has the term in bold, and the one before it where it leans on that.

    >>> defined("fence", ROOT / "notebooks" / "04_structure.ipynb")
    'Code stands between two lines of three backticks, or of three tildes (`~~~`). Such a block is a **fence**.'
    """
    bold = re.compile(rf"\*\*{re.escape(term)}s?\*\*", re.IGNORECASE)
    for cell in cells(notebook)[1:]:
        for paragraph in cell["source"].split("\n\n") if cell["cell_type"] == "markdown" else ():
            if bold.search(paragraph):
                sentences = [" ".join(span.of(paragraph).split()) for span in split_sentences(paragraph)]
                at = next(i for i, sentence in enumerate(sentences) if bold.search(sentence))
                first = at - 1 if at and LEANS.match(sentences[at]) else at
                return " ".join(sentences[first : at + 1])
    raise LookupError(f"{notebook.name} has no **{term}**")


def written() -> str:
    """The whole page, in alphabetical order."""
    found = {}
    for number, terms in TERMS.items():
        (notebook,) = (path for path in NOTEBOOKS if path.name.startswith(number))
        for term in terms.split(", "):
            link = f"[lesson {number}](../notebooks/{notebook.name})"
            found[term] = f"**{term}** ({link}): {defined(term, notebook).replace('**', '*')}"
    return HEAD + "".join(f"\n{found[term]}\n" for term in sorted(found, key=str.casefold))


if __name__ == "__main__":
    command(__doc__).parse_args()
    GLOSSARY.write_text(written(), encoding="utf-8", newline="\n")
