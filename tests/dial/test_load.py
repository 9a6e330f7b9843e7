"""Many people at a time, each of whom has to sign in, brings a file and needs two tools."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from tests.dial.installation import Installation, said, text_of
from tests.dial_core import Core
from tests.dial_core.core import Reply
from tests.dial_core.keys import Identity
from tests.dial_core.mcp_server import serve_mcp
from tests.dial_core.models import Answer
from tests.load.processes import connections, memory

PEOPLE = 120
WARM_UP = 30
SECONDS = 150
MOST_GROWTH = 64 * 1024 * 1024
"""Of the memory, from the end of the warm-up: four times as many at once need room for a moment."""
MOST_LATECOMERS = 20
IDLE_CONNECTIONS = 60
"""That a pool may keep."""
MARK = re.compile(r"m\d+x")
TOKEN = "Bearer token-test"


@pytest.fixture(scope="module")
def desk() -> Iterator[str]:
    with serve_mcp("authorization", TOKEN) as url:
        yield url


def crowd(body: Mapping[str, Any]) -> Answer:
    """The mark of the question goes to both tools; the answer is what they bring."""
    results = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    if results:
        return [{"text": " ".join(results)}]
    [question] = [message for message in body["messages"] if message["role"] == "user"]
    mark = text_of(question["content"]).split()[0]
    names = [tool["function"]["name"] for tool in body["tools"]]
    [adding] = [name for name in names if "add" in name]
    [reading] = [name for name in names if "reader" in name]
    url = text_of(question["content"]).split()[1]
    number = int(mark[1:-1])
    return [
        {
            "tool_calls": [
                {"name": adding, "arguments": {"a": number, "b": 1_000_000}},
                {"name": reading, "arguments": {"query": mark, "attachment_urls": [url]}},
            ]
        }
    ]


def read(body: Mapping[str, Any]) -> Answer:
    """Tells the mark that it was sent, and the file."""
    message = body["messages"][-1]
    [file] = message["custom_content"]["attachments"]
    return [{"text": f"{text_of(message['content'])} {file['url']}"}]


async def ask(core: Core, client: httpx.AsyncClient, number: int) -> Reply:
    person = f"person{number}"
    url = f"files/{Identity(person, ('default',), is_user=True).bucket}/m{number}x.txt"
    core.put(url, b"x")
    question = {
        "role": "user",
        "content": f"m{number}x {url}",
        "custom_content": {"attachments": [{"type": "text/plain", "title": "x", "url": url}]},
    }
    response = await client.post(
        "/openai/deployments/crowded/chat/completions",
        json={"stream": True, "messages": [question]},
        headers={
            "Authorization": f"Bearer {person}",
            "X-DIAL-CLIENT-CHANNEL-ID": core.open_channel(person),
        },
    )
    return Reply(response.status_code, response.headers, response.content)


def check(number: int, reply: Reply) -> None:
    assert reply.status == 200, reply.text
    text = said(reply)
    assert text.startswith(f"{1_000_000 + number} m{number}x files/"), reply.text[-2000:]
    assert {*MARK.findall(json.dumps(reply.events()))} == {f"m{number}x"}
    assert reply.events()[-1]["choices"][0]["finish_reason"] == "stop"
    assert reply.text.endswith("data: [DONE]\n\n")


async def all_at_once(core: Core, numbers: range) -> None:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=core.url, timeout=SECONDS, verify=False, limits=limits
    ) as client:
        replies = await asyncio.gather(*(ask(core, client, number) for number in numbers))
    for number, reply in zip(numbers, replies, strict=True):
        check(number, reply)


async def is_quiet(core: Core, pid: int) -> bool:
    """Pools close what was idle for too long when somebody asks next."""
    for number in range(2000, 2000 + MOST_LATECOMERS):
        await all_at_once(core, range(number, number + 1))
        if connections(pid) <= IDLE_CONNECTIONS:
            return True
    return False


async def test_everybody_gets_their_own_and_nothing_is_left_over(
    core: Core, installation: Installation, desk: str
):
    core.channels.auto_answer = "success"
    core.add_toolset("crowd-desk", desk, authSettings={"authenticationType": "OAUTH"})
    core.add_model("crowd", crowd)
    core.add_model("reader", read, inputAttachmentTypes=["*/*"])
    tool_sets: list[dict[str, Any]] = [
        {"type": "dial-mcp", "deployment_id": "crowd-desk"},
        {
            "type": "dial-deployment",
            "name": "",
            "tools": [{"type": "dial-deployment-simple", "deployment_id": "reader"}],
        },
    ]
    installation.add("crowded", "crowd", *tool_sets)
    await all_at_once(core, range(1000, 1000 + WARM_UP))
    before = memory("VmRSS", installation.pid)

    await all_at_once(core, range(PEOPLE))

    assert core.keys.wait_until_none_lives(20)
    assert await is_quiet(core, installation.pid)
    assert memory("VmRSS", installation.pid) - before < MOST_GROWTH
    mcp = [hop for hop in core.requests if hop.path == "/v1/toolset/crowd-desk/mcp"]
    opened = sum(b'"initialize"' in hop.body for hop in mcp)
    asked = [hop for hop in core.requests if hop.path == "/v1/ops/client-channel/interact"]
    assert WARM_UP + PEOPLE < len(asked) <= WARM_UP + PEOPLE + MOST_LATECOMERS
    assert opened - len(asked) == sum(hop.method == "DELETE" for hop in mcp)
