# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library until a module is used.
"""Reference implementations behind the course Chunk by Chunk: text in, spans out.

Importing the package loads none of its modules. It only points tiktoken and NLTK at the files that installed packages
carry, so that nothing is fetched at run time; a variable that is already set is left alone.
"""

from chunklib.core.offline import point_to_packages

__version__ = "0.1.0"

point_to_packages()
