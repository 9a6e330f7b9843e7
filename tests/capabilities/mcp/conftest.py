from collections.abc import Iterator

import pytest

from tests.capabilities.mcp.servers import serving_apart


@pytest.fixture(scope="session")
def http_url() -> Iterator[str]:
    with serving_apart("http") as url:
        yield url


@pytest.fixture(scope="session")
def sse_url() -> Iterator[str]:
    with serving_apart("sse") as url:
        yield url


@pytest.fixture(autouse=True)
def loopback_may_be_contacted(settings) -> None:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
