from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sites.gateway import Gateway, serve_gateway


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serve_gateway(tmp_path_factory.mktemp("gateway")) as served:
        yield served
