from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.capabilities.deployment.dial_application import serve as serve_sdk_application
from tests.dial_core import Core, serve_core
from tests.dial_core.callers import client_of
from tests.dial_core.core import KEY


@pytest.fixture
def core() -> Iterator[Core]:
    with serve_core() as served:
        yield served


@pytest.fixture(scope="package")
def sdk_url() -> Iterator[str]:
    """Serve an application made with DIAL's SDK. Append `/chat/completions` to the address."""
    with serve_sdk_application() as url:
        yield url


@pytest.fixture
def client(core: Core) -> Iterator[httpx.Client]:
    """Return a client for Core with the key of the default project."""
    with client_of(core, KEY) as opened:
        yield opened
