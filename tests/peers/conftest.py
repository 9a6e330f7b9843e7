from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving import Gateway, serve_gateway


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process runs all tests with third-party clients: they share a site."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("peers"))


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serve_gateway(tmp_path_factory.mktemp("gateway")) as served:
        yield served
