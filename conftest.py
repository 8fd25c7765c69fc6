# SPDX-License-Identifier: MIT
"""What all tests share: the kernels' environment, Hypothesis profiles, a loud word when no notebook was checked."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from tools.notebooks import ENVIRONMENT, ROOT

# The kernels that nbval starts inherit this, and so do the tests' own subprocesses.
os.environ.update(ENVIRONMENT)

# The same examples on every machine, and no deadline on busy cores. To look for new faults:
# pytest --hypothesis-profile=explore
settings.register_profile("checks", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=2000)
settings.load_profile("checks")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say so when there was nothing for nbval to do."""
    if not any((ROOT / "notebooks").glob("*.ipynb")):
        terminalreporter.section("NO NOTEBOOKS", sep="!", red=True, bold=True)
        terminalreporter.line("notebooks/ holds no notebook: no lesson was run or checked.")
