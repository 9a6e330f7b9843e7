"""Both stores of memories, for tests that apply to both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from apps.workspace.local.memories.memories import LocalMemories
from apps.workspace.memories.port import MemoryStore
from tests.dial_core import serve_core
from tests.workspace.dial.callers import called
from tests.workspace.memories.stores import OpenStore


@asynccontextmanager
async def of_rows() -> AsyncIterator[MemoryStore]:
    yield LocalMemories("user-7", "travel")


@pytest.fixture(params=["rows", "core"])
def open_store(request, settings) -> Iterator[OpenStore]:
    if request.param == "rows":
        yield of_rows
        return
    settings.PRIVATE_NETWORK_ALLOWLIST = []
    with serve_core() as core:
        settings.DIAL_URL = core.url

        @asynccontextmanager
        async def of_core() -> AsyncIterator[MemoryStore]:
            with called(core) as workspace:
                store = await workspace.memories()
                assert store is not None
                yield store

        yield of_core
