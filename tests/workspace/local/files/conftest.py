from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import seaweedfs
from tests.servers.seaweedfs import KEY_ID, SECRET, SeaweedFs


@pytest.fixture(scope="session")
def server() -> Iterator[SeaweedFs]:
    with seaweedfs.served() as found:
        yield found


@pytest.fixture
def bucket(server: SeaweedFs, settings: Any) -> str:
    """Return the address of an empty prefix in a bucket, which the settings name."""
    settings.FILES_URL = server.new_address()
    settings.FILES_ACCESS_KEY_ID, settings.FILES_SECRET_ACCESS_KEY = KEY_ID, SECRET
    return str(settings.FILES_URL)
