"""The marker of a test that proves a section of the contract: `@proves("D-06")`.

`python -m tests.contract` lists the sections with their tests.
"""

from __future__ import annotations

import pytest

proves = pytest.mark.proves
"""Its arguments are the sections that are violated if the test fails."""
