from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from httpx2 import ConnectError, Request, TransportError

from apps.workspace.egress.guard import Trust
from apps.workspace.egress.transport import StreamTransport

pytestmark = pytest.mark.usefixtures("loopback")

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Plain:
    """A server in a thread, which continues while the event loop is blocked."""

    def __init__(self, listener: socket.socket, *connections: list[bytes]) -> None:
        self.listener = listener
        self.connections = connections
        self.requests = 0
        self.thread = threading.Thread(target=self.serve)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/"

    def serve(self) -> None:
        """Send each connection its answers. b"" means that one more request is read."""
        for answers in self.connections:
            client, _ = self.listener.accept()
            with client:
                for answer in answers:
                    if not client.recv(65_536):
                        break
                    self.requests += 1
                    client.sendall(answer)


@contextmanager
def plain(*connections: list[bytes]) -> Iterator[Plain]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Plain(listener, *connections)
        server.thread.start()
        yield server
        server.thread.join(60)


async def post(transport: StreamTransport, url: str) -> bytes:
    response = await transport.handle_async_request(Request("POST", url, content=b"question"))
    try:
        return await response.aread()
    finally:
        await response.aclose()


async def test_a_kept_connection_that_was_closed_is_seen_before_anything_is_written():
    transport = StreamTransport(Trust.OPERATOR)

    with plain([OK]) as first:
        await post(transport, first.url)
        first.thread.join(60)  # closed by now, although the event loop could not notice it
        first.connections = ([OK],)
        first.thread = threading.Thread(target=first.serve)
        first.thread.start()
        said = await post(transport, first.url)
    await transport.aclose()

    assert (said, first.requests) == (b"ok", 2)


async def test_a_kept_connection_on_which_something_was_said_is_not_used():
    transport = StreamTransport(Trust.OPERATOR)

    with plain([OK + OK], [OK]) as server:
        said = [await post(transport, server.url) for _ in range(2)]
    await transport.aclose()

    assert (said, server.requests) == ([b"ok", b"ok"], 2)


@pytest.mark.parametrize("kept", [0, 1, 3])
async def test_a_request_that_was_read_is_sent_once(kept):
    transport = StreamTransport(Trust.OPERATOR)

    with plain([*[OK] * kept, b""]) as server:
        for _ in range(kept):
            await post(transport, server.url)
        with pytest.raises(TransportError):
            await post(transport, server.url)
    await transport.aclose()

    assert server.requests == kept + 1


async def test_a_service_that_does_not_listen_is_asked_once():
    transport = StreamTransport(Trust.OPERATOR)

    with plain() as server:
        url = server.url
    with pytest.raises(ConnectError):
        await post(transport, url)
    await transport.aclose()
