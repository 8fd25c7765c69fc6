# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library until a name is used.
"""Reference implementations behind the course Chunk by Chunk: text in, spans out.

``from chunklib import split_recursive, Document, chunk_document`` gives what most programs want; ``dir(chunklib)``
lists it. Everything else is reached through its room, as in ``from chunklib.search.keywords import keyword_tokens``.

Importing the package loads none of its modules. It only points tiktoken and NLTK at the files that installed packages
carry, so that nothing is fetched at run time; a variable that is already set is left alone.
"""

import re
from importlib import import_module
from pathlib import Path

from chunklib.core.offline import point_to_packages

__version__ = "0.1.0"

#: Name -> the module where it lives, as the type stub beside this file has it.
_HOMES = {
    name: home
    for home, name in re.findall(r"^from (\S+) import (\w+) as", Path(__file__ + "i").read_text("utf-8"), re.MULTILINE)
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """A name of the face, loaded when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"chunklib has no {name!r}; dir(chunklib) lists what it has, its rooms hold the rest")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


point_to_packages()
