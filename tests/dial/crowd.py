"""The Core that many users call, in the separate process of `tests.dial_core.apart`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.dial.installation import TYPE, helpers, manifest, register, text_of
from tests.dial_core import Core
from tests.dial_core.models import CALL, Answer

APPLICATION, TOOLSET = "crowded", "crowd-desk"
ADDED = 1_000_000
MCP = f"/v1/toolset/{TOOLSET}/mcp"
INTERACT = "/v1/ops/client-channel/interact"
HEARTBEAT_SECONDS = 5.0
TOOL_SECONDS = 300


def open(core: Core, door: str, desk: str) -> None:
    """Configure Core with the site behind that door, an application and its deployments."""
    core.channels.heartbeat_seconds = HEARTBEAT_SECONDS
    register(core, door)
    core.add_toolset(TOOLSET, desk, authSettings={"authenticationType": "OAUTH"})
    core.add_model("crowd", answer)
    core.add_model("reader", read, inputAttachmentTypes=["*/*"])
    tool_sets = ({"type": "dial-mcp", "deployment_id": TOOLSET}, helpers("reader"))
    # Timeouts are not tested here, because a machine may be slow.
    written = manifest("crowd", *tool_sets, tool_defaults={"timeout_seconds": TOOL_SECONDS})
    core.add_application(APPLICATION, None, written, TYPE)


def answer(body: Mapping[str, Any]) -> Answer:
    """Pass the mark of the question to both tools. The answer consists of their results."""
    results = [
        message["content"]
        for message in body["messages"]
        if message["role"] == "tool" and message["tool_call_id"].startswith(CALL)
    ]
    if results:
        return [{"text": " ".join(results)}]
    [question] = [message for message in body["messages"] if message["role"] == "user"]
    mark, url = text_of(question["content"]).split()[:2]
    names = [tool["function"]["name"] for tool in body["tools"]]
    [adding] = [name for name in names if "add" in name]
    [reading] = [name for name in names if "reader" in name]
    return [
        {
            "tool_calls": [
                {"name": adding, "arguments": {"a": int(mark[1:-1]), "b": ADDED}},
                {"name": reading, "arguments": {"query": mark, "attachment_urls": [url]}},
            ]
        }
    ]


def read(body: Mapping[str, Any]) -> Answer:
    """Answer with the received mark and the file."""
    message = body["messages"][-1]
    [file] = message["custom_content"]["attachments"]
    return [{"text": f"{text_of(message['content'])} {file['url']}"}]


def report(core: Core) -> dict[str, Any]:
    """Return the number of requests so far, and what is left of them. `opened` counts the sessions
    that the MCP server was asked for, including refused ones; `ended` counts the ends that reached
    it, and `late` the requests with expired keys."""
    asked = list(core.requests)
    sent = [hop for hop in list(core.sent) if hop.method == "DELETE"]
    return {
        "prompts": sum(hop.path == INTERACT for hop in asked),
        "opened": sum(hop.path == MCP and b'"initialize"' in hop.body for hop in asked),
        "ended": len(sent),
        "late": [f"{hop.method} {hop.path}" for hop in core.late],
        "keys": len(core.keys.live),
        "channels": len(core.channels.open),
    }


def wait_for_keys(core: Core, seconds: float) -> bool:
    """Wait. Return True if no per-request key is valid any more."""
    return core.keys.wait_until_none_lives(seconds)
