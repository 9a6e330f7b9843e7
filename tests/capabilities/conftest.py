from collections.abc import Iterator
from typing import Any

import pytest

from tests.dial_core import Core, serve_core


@pytest.fixture
def core(settings: Any) -> Iterator[Core]:
    """Serve a Core that the settings name. It is on this machine, and on no allowlist."""
    with serve_core() as served:
        settings.DIAL_URL = served.url
        settings.PRIVATE_NETWORK_ALLOWLIST = []
        yield served
