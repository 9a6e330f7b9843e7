from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.capabilities.documents.cache import cache
from tests.catalog.corpora.library import Process


@pytest.fixture
def process(settings: Any, tmp_path: Path, db: None) -> Iterator[Process]:
    settings.MEDIA_ROOT = tmp_path
    settings.ENABLE_PREVIEW_FEATURES = True  # folders are one too
    cache.clear()
    yield Process()
    cache.clear()
