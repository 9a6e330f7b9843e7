"""If a service never ends its answer, the call of a REST tool still ends."""

import asyncio
from typing import Any

import pytest

from apps.capabilities.rest.capability import rest
from tests.capabilities.manifests import manifest, opened, stage_text, tool, tool_set, use
from tests.tables import each_row
from tests.workspace.openai.service import CHUNKED, ENDLESS, HEAD, RESET, answer, frame, service

pytestmark = pytest.mark.usefixtures("loopback")

BLOCK = b"x-more: " + b"x" * 10_000 + b"\r\n"


@each_row(
    ("pieces", "pause", "told"),
    [
        ([HEAD, b"x-more: a\r\n", ENDLESS], 0.02, "timed out after 0.1 seconds"),
        ([b"HTTP/1.1 102 Processing\r\n\r\n", ENDLESS], 0.02, "timed out after 0.1 seconds"),
        ([CHUNKED, frame(b"x"), ENDLESS], 0.02, "timed out after 0.1 seconds"),
        ([CHUNKED, frame(b"x"), b"0\r\na: ", b"b", ENDLESS], 0.02, "timed out after 0.1 seconds"),
        ([HEAD, BLOCK, ENDLESS], 0.0, "disconnected before the end"),
        ([CHUNKED, frame(b"x"), b"0\r\n", BLOCK, ENDLESS], 0.0, "disconnected before the end"),
        (
            [CHUNKED, frame(b"x" * 100_000), ENDLESS],
            0.0,
            "is too large; the limit is 10485760 bytes",
        ),
        ([CHUNKED, frame(b"x"), RESET], 0.0, "disconnected before the end"),
    ],
)
async def test_what_never_ends_is_cut_off(pieces, pause, told):
    async with service(pieces) as running, asyncio.timeout(60):
        running.pause = pause
        seconds = 0.1 if pause else 20
        written = manifest(
            tool_set(tool(f"{running.url}/")), tool_defaults={"timeout_seconds": seconds}
        )
        async with opened(rest, written) as contribution:
            result = await use(contribution.tools[0])

    assert told in result.content


async def test_half_of_a_character_in_an_answer_reaches_no_stage():
    events: list[Any] = []
    async with service(answer("200 OK", b'{"a": "\\ud800"}')) as running:
        written = manifest(tool_set(tool(f"{running.url}/")))
        async with opened(rest, written) as contribution:
            result = await use(contribution.tools[0], events.append)

    assert '"a": "\ufffd"' in stage_text(events)
    assert result.content == '{"a": "\\ud800"}'
