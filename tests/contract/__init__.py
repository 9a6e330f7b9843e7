"""The markers of tests that prove a section of the contract, or a feature of a door.

`@proves("D-06")` names sections, and `@proves_feature("a2a", "cancel")` a door and its features.
`python -m tests.contract` lists both with their tests.
"""

from __future__ import annotations

import pytest

proves = pytest.mark.proves
"""Its arguments are the sections that are violated if the test fails."""
proves_feature = pytest.mark.proves_feature
"""Its arguments are a door and the features that do not work there if the test fails."""
