# SPDX-License-Identifier: MIT
"""Files and texts on their way in: loading, cleaning."""
