"""Which test proves which section of the contract: `@proves("D-06")`; `python -m tests.contract` lists them."""

from __future__ import annotations

import pytest

proves = pytest.mark.proves
"""Takes the sections that would be broken if the test failed."""
