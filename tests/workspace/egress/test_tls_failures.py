"""A TLS connection that is refused is not retried, and its reason is reported."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from apps.errors import ModelFailed, ServiceFailed
from apps.workspace.dial import failures as core_failures
from apps.workspace.dial.calls import may_repeat
from apps.workspace.egress.clients import ConnectError, find_client
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.guarded_transports import Httpx2Transport
from apps.workspace.egress.sdk_clients import HTTPError, make_sdk_client
from apps.workspace.egress.session_transport import LIMITS, failure_text
from apps.workspace.egress.tls_failures import tls_problem
from apps.workspace.egress.transport import ConnectionPool, Origin
from apps.workspace.embeddings.service import is_transient
from apps.workspace.openai import embeddings
from apps.workspace.services.failures import failure_of_connection
from apps.workspace.services.probe import ProbeResult, explain_connection
from tests.servers.closing import close_server
from tests.servers.tls import serve_tls

pytestmark = pytest.mark.usefixtures("loopback")
REFUSED = "The TLS connection failed: its certificate was refused (unable to get local issuer certificate)."
NO_TLS = (
    "The TLS connection failed: the other side does not speak TLS as expected; use http:// if the "
    "service has no TLS."
)


async def failure_at(port: int) -> Exception:
    """Return the error of the connection that model services, embeddings and DIAL Core use."""
    with pytest.raises(HTTPError) as caught:
        await ConnectionPool(Trust.OPERATOR).connect(Origin("https", "127.0.0.1", port), 10)
    return caught.value


@asynccontextmanager
async def serving(answer: bytes) -> AsyncIterator[int]:
    """Serve these bytes at once to each connection, and close it."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        await close_server(server)


async def test_a_refused_certificate_is_explained_and_no_reason_for_a_retry(tmp_path: Path):
    with serve_tls(tmp_path) as (url, _):
        error = await failure_at(int(url.rpartition(":")[2]))
        with pytest.raises(ConnectError) as own:
            await find_client(Trust.OPERATOR).get(url)
        async with make_sdk_client(Httpx2Transport(Trust.OPERATOR, LIMITS)) as client:
            with pytest.raises(HTTPError) as sdk:
                await client.get(url)

    model = failure_of_connection(error)
    core = core_failures.connection_failure(error, 5)
    embedder = embeddings.connection_failure(error)
    embedder.__cause__ = error
    assert [tls_problem(one) for one in (error, own.value, sdk.value)] == [REFUSED] * 3
    assert (str(model), model.is_transient) == (
        f"The model's service cannot be reached. {REFUSED}",
        False,
    )
    assert (str(core), may_repeat(core, is_safe=True)) == (
        f"DIAL Core cannot be reached. {REFUSED}",
        False,
    )
    assert (str(embedder), is_transient(embedder)) == (
        f"The embeddings service cannot be reached. {REFUSED}",
        False,
    )
    assert failure_text(sdk.value) == REFUSED
    model.__cause__ = error
    assert explain_connection(model) == ProbeResult("encryption", REFUSED)


async def test_a_server_without_tls_is_not_asked_again_and_an_interrupted_one_is():
    async with serving(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        plain = failure_of_connection(await failure_at(port))
    async with serving(b"") as port:
        ended = failure_of_connection(await failure_at(port))

    assert (str(plain), plain.is_transient) == (
        f"The model's service cannot be reached. {NO_TLS}",
        False,
    )
    assert ended.is_transient


def test_other_failures_have_no_tls_problem():
    interrupted = ModelFailed("x")
    interrupted.__cause__ = ssl.SSLEOFError(8, "EOF occurred in violation of protocol")

    assert [tls_problem(one) for one in (interrupted, ServiceFailed("y"))] == ["", ""]
