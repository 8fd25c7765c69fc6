# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""What certain characters mean, in every script: one place for it, read by all that look for them."""

from __future__ import annotations

import re

#: Half a character, as a broken decoder leaves it; in no text that can be encoded.
SURROGATE = re.compile("[\ud800-\udfff]")
#: What opens an item of a list at the start of a text.
LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
