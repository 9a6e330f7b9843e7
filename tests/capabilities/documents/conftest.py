from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.capabilities.documents.cache import cache
from tests.capabilities.documents.agents import Desk


@pytest.fixture
def desk(settings: Any, tmp_path: Path, db: None) -> Iterator[Desk]:
    settings.MEDIA_ROOT = tmp_path
    cache.clear()
    yield Desk()
    cache.clear()
