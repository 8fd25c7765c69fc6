# SPDX-License-Identifier: MIT
"""What only the lessons need: data, pictures, exercises, the scoreboard, the published libraries."""
