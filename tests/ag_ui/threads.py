"""Requests for runs, and the events of their answers."""

from __future__ import annotations

import json
from typing import Any

from channels.routing import URLRouter
from django.urls import re_path

from apps.ag_ui.routing import AgUiConsumer
from tests.gateway.scripts import Answer, Client, ScriptedWorkspace, add_application, unrecorded

QUESTION = {"id": "m1", "role": "user", "content": "Hi"}


def run_input(**fields: Any) -> dict[str, Any]:
    return {"threadId": "t", "runId": "r", "messages": [QUESTION], **fields}


async def ask(workspace: ScriptedWorkspace, slug: str = "", **fields: Any) -> Answer:
    """Ask an application, by default a new one."""
    slug = slug or (await add_application()).slug
    return await post(workspace, slug, json.dumps(run_input(**fields)).encode())


async def post(workspace: ScriptedWorkspace, slug: str, body: bytes) -> Answer:
    consumer = AgUiConsumer.as_asgi(open_workspace=workspace, recorded=unrecorded)
    router = URLRouter([re_path("^ag-ui/(?P<slug>[^/]+)$", consumer)])
    client = Client(router, f"/ag-ui/{slug}", method="POST")
    await client.send(body)
    return await client.read()


def events_in(content: bytes) -> list[dict[str, Any]]:
    lines = filter(None, content.decode().split("\n\n"))
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def named(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return the events of a type, without the type and without ids that are new each time."""
    left_out = ("type", "messageId", "threadId", "runId")
    return [
        {name: value for name, value in event.items() if name not in left_out}
        for event in events
        if event["type"] == kind
    ]


def thread_after(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the assistant messages of a run as a client stores them, without other roles."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        match event:
            case {"type": "TEXT_MESSAGE_START", "messageId": key}:
                found[key] = {"id": key, "role": "assistant", "content": ""}
            case {"type": "TEXT_MESSAGE_CONTENT", "messageId": key, "delta": text}:
                found[key]["content"] += text
            case {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": name}:
                key = event.get("parentMessageId", call)
                message = found.setdefault(key, {"id": key, "role": "assistant"})
                function = {"name": name, "arguments": ""}
                message.setdefault("toolCalls", []).append({"id": call, "function": function})
            case {"type": "TOOL_CALL_RESULT", "toolCallId": call, "content": text}:
                key = event["messageId"]
                found[key] = {"id": key, "role": "tool", "toolCallId": call, "content": text}
            case {"type": "REASONING_ENCRYPTED_VALUE", "entityId": key, "encryptedValue": value}:
                found[key]["encryptedValue"] = value
            case _:  # the client does not store the others
                pass
    return list(found.values())
