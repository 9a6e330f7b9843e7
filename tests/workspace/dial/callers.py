"""Who stands on a workspace in the tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from apps.accounts.caller import Caller
from apps.workspace.dial.core import Core
from apps.workspace.dial.workspace import DialWorkspace
from tests.capabilities.service import Answer, Reply, Service, serving
from tests.dial_core import Core as FakeCore
from tests.dial_core.core import KEY

APPLICATION = "travel"


def workspace(url: str, *, key: str = KEY, **fields: Any) -> DialWorkspace:
    core = Core(
        url,
        metadata_seconds=fields.pop("metadata_seconds", 60.0),
        sign_in_seconds=fields.pop("sign_in_seconds", 20.0),
    )
    return DialWorkspace(Caller("", api_key=key, **fields), core)


@contextmanager
def called(
    fake: FakeCore, application: str = APPLICATION, **fields: Any
) -> Iterator[DialWorkspace]:
    """While Core calls that application for the demo project."""
    user = fake.keys.holder(KEY)
    assert user is not None
    with fake.keys.minted(application, user, "trace") as key:
        yield workspace(fake.url, key=key.value, **fields)


@asynccontextmanager
async def scripted(
    settings: Any, *replies: Reply, answer: Answer | None = None, **fields: Any
) -> AsyncIterator[tuple[Service, DialWorkspace]]:
    """A Core that answers what the test wrote."""
    async with serving(*replies, answer=answer) as service:
        settings.DIAL_URL = service.url
        yield service, workspace(service.url, **fields)
