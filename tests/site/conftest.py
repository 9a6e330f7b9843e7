"""Sites for tests that change no settings and stop no process."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.databases.postgresql import shared_services
from tests.services import absence
from tests.site.house import House
from tests.sites.serving import Site, serve, serve_process

PAGE = "https://app.example"
"""The origin whose pages may use the shared site."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve a site with the built-in content. Its Redis is unavailable, so it uses its own
    counters."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nothing listens there, now or later
        with serve_process(
            tmp_path_factory.mktemp("site"),
            "tests.site.quick_demo_site",
            REDIS_URL=f"redis://127.0.0.1:{closed.getsockname()[1]}/0",
            CORS_ALLOWED_ORIGINS=f"{PAGE}, http://localhost:3000",
        ) as (served, _):
            served.manage("import_content")
            yield served


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Site]]:
    """Serve two processes that share PostgreSQL and Redis."""
    for needed in ("postgres", "redis"):
        if reason := absence(needed):
            pytest.skip(reason)
    folder = tmp_path_factory.mktemp("pair")
    with (
        shared_services() as shared,
        serve_process(folder, **shared) as (here, _),
        serve_process(folder, **shared) as (there, _),
    ):
        yield here, there


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with serve(tmp_path_factory.mktemp("house")) as served:
        yield House(served)
