# SPDX-License-Identifier: MIT
"""The package inside other libraries and on many machines."""
