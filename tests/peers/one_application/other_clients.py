"""Anthropic's SDK, the SDK of MCP, and the client of AG-UI at their doors."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
from typing import Any

import anthropic
import httpx2
import mcp_types as types
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.judges.ag_ui.test_client import FOLDER as AG_UI
from tests.peers.one_application.shop import (
    FILE_NAME,
    ORDER,
    SELL,
    SLUG,
    Conversation,
    Shop,
    read_files,
)


def converse_with_messages(shop: Shop) -> Conversation:
    source = {"type": "text", "media_type": "text/plain", "data": "Two boxes."}
    document = {"type": "document", "title": FILE_NAME, "source": source}
    messages: Any = [{"role": "user", "content": [{"type": "text", "text": SELL}, document]}]
    texts = []
    with anthropic.Anthropic(base_url=shop.url, api_key=shop.key, max_retries=0) as client:
        for answer in ("1", "Red", ""):
            message = client.messages.create(
                model=SLUG,
                max_tokens=2000,
                thinking={"type": "enabled", "budget_tokens": 1024},
                messages=messages,
            )
            texts.append("".join(block.text for block in message.content if block.type == "text"))
            messages += [
                {"role": "assistant", "content": message.content},
                {"role": "user", "content": answer},
            ]
    return Conversation(tuple(texts))


def converse_with_mcp(shop: Shop) -> Conversation:
    texts: list[str] = []

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        texts.append(params.message)
        return types.ElicitResult(action="accept", content={"choice": "1"})  # Approve, or Red

    async def call() -> types.CallToolResult:
        headers = {"Authorization": f"Bearer {shop.key}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{shop.url}/mcp/{SLUG}", http_client=http)
            async with Client(transport, elicitation_callback=answer) as client:
                file = {"type": "text/plain", "name": FILE_NAME, "data": ORDER}
                return await client.call_tool(SLUG, {"message": SELL, "files": [file]})

    result = asyncio.run(call())
    links = [block.uri for block in result.content if block.type == "resource_link"]
    pictures = [block.data for block in result.content if block.type == "image"]
    text = result.structured_content["text"]
    paths = [str(uri).removeprefix("quickapps://") for uri in links]
    files = (*read_files(shop, paths), *map(base64.b64decode, pictures))
    return Conversation((*texts, text), files)


def converse_with_ag_ui(shop: Shop) -> Conversation:
    source = {"type": "data", "value": ORDER, "mimeType": "text/plain"}
    document = {"type": "document", "source": source, "metadata": {"filename": FILE_NAME}}
    question = json.dumps([{"type": "text", "text": SELL}, document])
    answers = ('{"approved": true}', '{"answer": "Red"}')
    command = ["node", str(AG_UI / "client.mjs"), f"{shop.url}/ag-ui/{SLUG}", shop.key, question]
    done = subprocess.run([*command, *answers], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    assert seen["error"] == ""
    *asked, _ = map(json.dumps, seen["outcomes"])
    _, answer = seen["messages"][-1]
    return Conversation((*asked, answer), read_files(shop, [one["url"] for one in seen["files"]]))
