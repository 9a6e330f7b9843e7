"""Reset all counters, and send mail only in tests that request it."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def nothing_is_counted_yet() -> None:
    cache.clear()


@pytest.fixture
def with_mail(settings: Any) -> None:
    settings.SENDS_MAIL = True
