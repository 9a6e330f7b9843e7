from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.peers.one_application.shop import Shop, serve_shop


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with serve_shop(tmp_path_factory.mktemp("shop")) as served:
        yield served
