# SPDX-License-Identifier: MIT
"""Scripts that look after the course; no part of the package chunklib."""
