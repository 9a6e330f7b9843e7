from collections.abc import Iterator

import pytest

from apps.workspace.local.tools import mcp_servers
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
def loopback_may_be_contacted(settings) -> Iterator[None]:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    mcp_servers.forget_servers()
    yield
    mcp_servers.forget_servers()
