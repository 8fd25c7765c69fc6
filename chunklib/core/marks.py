# SPDX-License-Identifier: MIT
# Part of Chunk by Chunk. Needs: nothing outside the standard library.
"""What certain characters mean, in every script: one place for it, read by all that look for them."""

from __future__ import annotations

import re

#: Half a character, as a broken decoder leaves it; in no text that can be encoded.
SURROGATE = re.compile("[\ud800-\udfff]")
#: What no file in UTF-8 and no page may hold.
UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
#: What could steer a terminal, or turn the direction of a line: controls, and marks of direction.
STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
#: What opens an item of a list at the start of a text.
LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
