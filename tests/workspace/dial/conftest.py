from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from apps.agent.backoff import Backoff
from tests.dial_core import Core, serve_core


@pytest.fixture(autouse=True)
def core_is_asked_again_at_once(monkeypatch) -> None:
    at_once = Backoff(attempts=3, initial_delay=0.0, max_delay=0.0)
    monkeypatch.setattr("apps.workspace.dial.calls.BACKOFF", at_once)


@pytest.fixture
def fake(settings) -> Iterator[Core]:
    """Serve a Core that the settings name. It is on this machine, and on no allowlist."""
    with serve_core() as served:
        settings.DIAL_URL = served.url
        settings.PRIVATE_NETWORK_ALLOWLIST = []
        yield served


@pytest.fixture
def wait(monkeypatch) -> Callable[[float], None]:
    """Let cached data age by some seconds."""
    waited = 0.0

    def wait(seconds: float) -> None:
        nonlocal waited
        waited += seconds
        clock = SimpleNamespace(monotonic=lambda: time.monotonic() + waited)
        monkeypatch.setattr("apps.process_state.time", clock)

    return wait


@pytest.fixture
def unused_port() -> int:
    """Return a port on this machine on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port
