"""Callers of a workspace in tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from apps.accounts.caller import Caller, ClientInfo, Credentials
from apps.workspace.dial.core import Core
from apps.workspace.dial.kept_applications import find_caller
from apps.workspace.dial.workspace import DialWorkspace
from tests.capabilities.service import Answer, Reply, Service, serving
from tests.dial_core import Core as FakeCore
from tests.dial_core.core import KEY
from tests.dial_core.urls import canonical

APPLICATION = "travel"


def workspace(
    url: str,
    *,
    key: str = KEY,
    bearer: str = "",
    metadata_seconds: float = 60.0,
    sign_in_seconds: float = 20.0,
    **client: Any,
) -> DialWorkspace:
    core = Core(url, metadata_seconds=metadata_seconds, sign_in_seconds=sign_in_seconds)
    caller = Caller("", client=ClientInfo(**client), credentials=Credentials(bearer, key))
    return DialWorkspace(caller, core)


@contextmanager
def called(
    fake: FakeCore, application: str = APPLICATION, *, key: str = KEY, **fields: Any
) -> Iterator[DialWorkspace]:
    """Return the caller while Core calls that application for the project with that key."""
    user = fake.keys.holder(key)
    assert user is not None
    with fake.keys.minted(canonical(application), user, "trace") as made:
        yield workspace(fake.url, key=made.value, **fields)


@asynccontextmanager
async def vouched(
    fake: FakeCore, application: str = APPLICATION, key: str = KEY, **fields: Any
) -> AsyncIterator[DialWorkspace]:
    """Return the caller while Core calls that application for the project with that key, and
    confirmed this."""
    with called(fake, application, key=key, **fields) as own:
        yield DialWorkspace(await find_caller(own.calls), own.core)


@asynccontextmanager
async def scripted(
    settings: Any, *replies: Reply, answer: Answer | None = None, **fields: Any
) -> AsyncIterator[tuple[Service, DialWorkspace]]:
    """A Core with the responses of the test."""
    async with serving(*replies, answer=answer) as service:
        settings.DIAL_URL = service.url
        yield service, workspace(service.url, **fields)
