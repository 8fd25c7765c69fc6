# SPDX-License-Identifier: MIT
"""What all techniques stand on: spans, documents, measuring, packing, the outline. It knows no technique."""
