"""A toolset named "desk", opened for one run, and scripted servers for it."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from apps.accounts.caller import Caller
from apps.agent.tools import Tool
from apps.capabilities.mcp.capability import mcp
from apps.capabilities.registry import Contribution
from tests.capabilities.manifests import CALLER, Files, manifest, opened
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.capabilities.service import Answer, Reply, Seen, json_reply, serving


@asynccontextmanager
async def opened_desk(
    *tool_sets: Mapping[str, Any],
    caller: Caller = CALLER,
    files: Files | None = None,
    seconds: float = 60.0,
    **rest: Any,
) -> AsyncIterator[Contribution]:
    document = manifest(*tool_sets, tool_defaults={"timeout_seconds": seconds}, **rest)
    async with opened(mcp, document, caller, files) as contribution:
        yield contribution


@asynccontextmanager
async def desk_before(
    *replies: Reply, answer: Answer | None = None, **rest: Any
) -> AsyncIterator[Contribution]:
    """Open the desk of a scripted server, and check that nothing is left over."""
    async with (
        nothing_left_over(),
        serving(*replies, answer=answer) as service,
        opened_desk(over_http(service.url, **rest)) as contribution,
    ):
        yield contribution


def named(contribution: Contribution, name: str) -> Tool:
    return next(tool for tool in contribution.tools if tool.spec.name == name)


def messages(contribution: Contribution) -> list[str]:
    return [issue.message for issue in contribution.issues]


def answering(call: Reply) -> Answer:
    """Serve over HTTP, with that reply to every call."""
    tool = {"name": "act", "inputSchema": {"type": "object"}}

    async def answer(seen: Seen) -> Reply:
        if seen.method != "POST":
            return Reply(405)
        message = json.loads(seen.body)
        match message["method"]:
            case "initialize":
                info = {"name": "x", "version": "1"}
                version = message["params"]["protocolVersion"]
                result: dict[str, Any] = {"protocolVersion": version, "serverInfo": info}
                result["capabilities"] = {"tools": {}}
            case "tools/list":
                result = {"tools": [tool]}
            case "tools/call":
                return call
            case _:
                return Reply(202)
        return json_reply(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))

    return answer
