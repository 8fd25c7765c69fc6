# SPDX-License-Identifier: MIT
"""Finding and judging: encoder, indexes, stores, evaluation, audit, citations."""
