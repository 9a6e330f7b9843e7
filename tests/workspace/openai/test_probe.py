from __future__ import annotations

import asyncio

import pytest

from apps.workspace.openai.model import make_openai_model
from apps.workspace.services.probe import ProbeResult, probe
from tests.servers.closing import close_server
from tests.workspace.openai.service import (
    CHUNKED,
    DONE,
    ENDLESS,
    HOLD,
    answer,
    chunked,
    finish,
    frame,
    service,
    text,
)

pytestmark = pytest.mark.usefixtures("loopback")


async def probed(url: str, seconds: float = 5.0) -> ProbeResult:
    async with asyncio.timeout(60):
        model = make_openai_model(
            base_url=url, api_key="secret-key", model="m", idle_seconds=seconds
        )
        return await probe(model, seconds)


async def test_a_model_that_answers_is_told_with_its_time():
    async with service(chunked(text("ready"), finish(), DONE)) as running:
        result = await probed(running.url)

    assert result.failed is None
    assert result.seconds is not None
    assert result.text.startswith(f"The model answers; first token after {result.seconds:.2f}")


@pytest.mark.parametrize(
    ("status", "step"),
    [
        ("401 Unauthorized", "key"),
        ("403 Forbidden", "key"),
        ("404 Not Found", "model"),
        ("500 Oops", "answer"),
        ("301 Moved", "answer"),
    ],
)
async def test_a_refusal_names_what_to_check_and_shows_no_secret(status, step):
    body = b'{"error": {"message": "key secret-key of https://internal is wrong"}}'

    async with service(answer(status, body)) as running:
        result = await probed(running.url)

    assert (result.failed, result.seconds) == (step, None)
    assert "secret-key" not in result.text
    assert "internal" not in result.text


@pytest.mark.parametrize(
    ("pieces", "step"),
    [
        (answer("200 OK", b"<html>", "text/html"), "answer"),
        (chunked(DONE), "answer"),
        ([b"SSH-2.0-OpenSSH\r\n"], "connection"),
        ([HOLD], "time"),
        ([CHUNKED, HOLD], "time"),
        ([CHUNKED, frame(b": ping\n\n"), ENDLESS], "time"),
    ],
)
async def test_what_is_no_model_is_told_apart(pieces, step):
    async with service(pieces) as running:
        result = await probed(running.url, 0.1 if step == "time" else 10.0)

    assert result.failed == step


async def test_a_port_where_nothing_listens_is_told():
    async with service() as running:
        pass

    assert await probed(running.url) == ProbeResult(
        "connection",
        "Nothing listens at this host and port. Check the base URL, and that the service runs.",
    )


async def test_a_service_without_encryption_is_told():
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    result = await probed(f"https://127.0.0.1:{port}/v1")
    await close_server(server)

    assert result.failed == "encryption"


async def test_a_name_that_nobody_has_is_told():
    result = await probed("http://no-such-host.invalid/v1")

    assert result == ProbeResult(
        "name", "The host 'no-such-host.invalid' is unknown; check its name."
    )


async def test_a_private_address_is_told_with_the_remedy(settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = []

    result = await probed("http://127.0.0.1:9/v1")

    assert result.failed == "address"
    assert "add 127.0.0.1 to the setting PRIVATE_NETWORK_ALLOWLIST" in result.text


@pytest.mark.parametrize("url", ["", "nonsense", "ftp://a/v1"])
async def test_an_address_that_is_none_is_told(url):
    assert (await probed(url)).failed == "address"
