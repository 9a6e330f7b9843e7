"""An application written in a test, which may call Core back while it answers."""

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

from tests.dial_core.core import Core
from tests.dial_core.serving import served


def client_of(core: Core, key: str) -> httpx.Client:
    return httpx.Client(base_url=core.url, headers={"Api-Key": key}, verify=False)


@dataclass
class Call:
    """What Core sent, and Core itself with the key that came along."""

    request: Request
    body: Any
    core: httpx.AsyncClient


Answer = Callable[[Call], Awaitable[Response]]


@contextmanager
def serve_application(core_url: str, answer: Answer) -> Iterator[str]:
    """Its address; every path is answered by the function."""

    async def endpoint(request: Request) -> Response:
        content = await request.body()
        headers = {"Api-Key": request.headers.get("api-key", "")}
        async with httpx.AsyncClient(base_url=core_url, headers=headers, verify=False) as core:
            return await answer(Call(request, json.loads(content) if content else None, core))

    methods = ["GET", "POST", "PUT", "DELETE"]
    with served(Starlette(routes=[Route("/{path:path}", endpoint, methods=methods)])) as url:
        yield url


def told(value: Any, **content: Any) -> Response:
    """A whole answer that says a value as JSON, with attachments and such."""
    message = {"role": "assistant", "content": json.dumps(value), "custom_content": content}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return JSONResponse({"id": "a", "object": "chat.completion", "choices": [choice]})


def heard(content: bytes) -> Any:
    """What `told` said."""
    return json.loads(json.loads(content)["choices"][0]["message"]["content"])


def said(events: list[dict[str, Any]]) -> str:
    """The words of a stream."""
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)
