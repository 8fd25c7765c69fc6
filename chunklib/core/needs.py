# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""What to install for a part of the package that wants more than the core."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs(package: str) -> Iterator[None]:
    """Around an import: a missing package is told with the line that installs it, as an ``ImportError``.

    >>> with needs("no-such-package"):
    ...     import no_such_package
    Traceback (most recent call last):
    ImportError: no_such_package is not installed: pip install no-such-package
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(f"{error.name} is not installed: pip install {package}") from None
