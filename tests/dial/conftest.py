from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dial.installation import Installation, serve_installation
from tests.dial_core import Core


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group the tests, because they share a site and its Core, which are slow to start."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(240))


@pytest.fixture(scope="session")
def dial_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with serve_installation(tmp_path_factory.mktemp("dial")) as served:
        yield served


@pytest.fixture
def installation(dial_site: Installation) -> Iterator[Installation]:
    core = dial_site.core
    core.requests.clear()
    core.sent.clear()
    core.channels.auto_answer = None
    yield dial_site
    core.faults.clear()
    core.troubles.clear()


@pytest.fixture
def core(installation: Installation) -> Core:
    return installation.core
