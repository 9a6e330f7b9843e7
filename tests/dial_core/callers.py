"""An application written in a test that can call Core while it answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.dial_core.core import PATIENCE_SECONDS, Core
from tests.dial_core.serving import served


def client_of(core: Core, key: str) -> httpx.Client:
    return httpx.Client(
        base_url=core.url, headers={"Api-Key": key}, timeout=PATIENCE_SECONDS, verify=False
    )


@dataclass
class Call:
    """Core's request, and Core itself with the key of the request."""

    request: Request
    body: Any
    core: httpx.AsyncClient


Answer = Callable[[Call], Awaitable[Response]]


@contextmanager
def serve_application(core_url: str, answer: Answer) -> Iterator[str]:
    """Serve it. Yields its address. The function answers every path."""

    async def endpoint(request: Request) -> Response:
        content = await request.body()
        headers = {"Api-Key": request.headers.get("api-key", "")}
        async with httpx.AsyncClient(
            base_url=core_url, headers=headers, timeout=PATIENCE_SECONDS, verify=False
        ) as core:
            return await answer(Call(request, json.loads(content) if content else None, core))

    methods = ["GET", "POST", "PUT", "DELETE"]
    with served(Starlette(routes=[Route("/{path:path}", endpoint, methods=methods)])) as url:
        yield url


def told(value: Any, **content: Any) -> Response:
    """Return a complete answer with a value as JSON, and with attachments and other fields."""
    message = {"role": "assistant", "content": json.dumps(value), "custom_content": content}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return JSONResponse({"id": "a", "object": "chat.completion", "choices": [choice]})


def heard(content: bytes) -> Any:
    """Return the value that `told` wrote."""
    return json.loads(json.loads(content)["choices"][0]["message"]["content"])


def said(events: list[dict[str, Any]]) -> str:
    """Return the text of a stream."""
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)
