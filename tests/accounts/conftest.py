"""Send mail only in tests that request it."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def with_mail(settings: Any) -> None:
    settings.SENDS_MAIL = True
