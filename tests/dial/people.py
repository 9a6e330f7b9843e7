"""Users with DIAL clients: each attaches a file, listens to a channel, and signs in when asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.dial.crowd import APPLICATION, TOOLSET
from tests.dial_core.channel import HEADER
from tests.dial_core.core import Reply

SIGN_IN = {
    "url": TOOLSET,
    "code": "test",
    "authentication_type": "OAUTH",
    "credentials_level": "USER",
}


AT_A_TIME = 40
"""How many ask, and later sign in, at the same time: a session must end within seconds."""


class Crowd:
    """The answer of each user stays open until all users were asked to sign in."""

    def __init__(self, size: int) -> None:
        self.everybody = asyncio.Barrier(size)
        self.turns = asyncio.Semaphore(AT_A_TIME)

    async def wait_for_others(self) -> None:
        self.turns.release()
        try:
            await self.everybody.wait()
        finally:
            await self.turns.acquire()


@dataclass
class Person:
    """A user. `asked` are the questions that arrived over the channel."""

    number: int
    client: httpx.AsyncClient
    crowd: Crowd
    asked: list[dict[str, Any]] = field(default_factory=list)
    reply: Reply = field(default_factory=lambda: Reply(0, {}, b""))

    @property
    def mark(self) -> str:
        return f"m{self.number}x"

    async def ask(self) -> None:
        url = await self.bring_file()
        async with self.channel() as headers:
            file = {"type": "text/plain", "title": "x", "url": url}
            question = {
                "role": "user",
                "content": f"{self.mark} {url}",
                "custom_content": {"attachments": [file]},
            }
            response = await self.client.post(
                f"/openai/deployments/{APPLICATION}/chat/completions",
                json={"stream": True, "messages": [question]},
                headers=headers,
            )
        self.reply = Reply(response.status_code, response.headers, response.content)

    async def bring_file(self) -> str:
        bucket = (await self.client.get("/v1/bucket")).json()["bucket"]
        url = f"files/{bucket}/{self.mark}.txt"
        content = {"file": (f"{self.mark}.txt", b"x", "text/plain")}
        (await self.client.put(f"/v1/{url}", files=content)).raise_for_status()
        return url

    @asynccontextmanager
    async def channel(self) -> AsyncIterator[dict[str, str]]:
        """Listen within the block. Yields the header to send."""
        async with self.client.stream("POST", "/v1/ops/client-channel/subscribe") as events:
            headers = {HEADER: events.headers[HEADER]}
            async with asyncio.TaskGroup() as group:
                listening = group.create_task(self.listen(events, headers))
                yield headers
                listening.cancel()
        await self.tell("/v1/ops/client-channel/unsubscribe", None, headers)

    async def listen(self, events: httpx.Response, headers: dict[str, str]) -> None:
        async for line in events.aiter_lines():
            if not line.startswith("data:"):
                continue
            question = json.loads(line.removeprefix("data:"))
            self.asked.append(question)
            await self.crowd.wait_for_others()
            await self.tell("/v1/ops/toolset/signin", SIGN_IN)
            answer = {"jsonrpc": "2.0", "id": question["id"], "result": "success"}
            await self.tell("/v1/ops/client-channel/report", answer, headers)

    async def tell(self, path: str, body: Any, headers: dict[str, str] | None = None) -> None:
        (await self.client.post(path, json=body, headers=headers)).raise_for_status()


async def all_at_once(core_url: str, numbers: range, seconds: float) -> list[Person]:
    """Run all of them at the same time. Raises TimeoutError."""
    crowd = Crowd(len(numbers))

    async def one(number: int) -> Person:
        # Each has a pool, because the work of one pool grows with the square of its connections.
        async with (
            crowd.turns,
            httpx.AsyncClient(
                base_url=core_url,
                headers={"Authorization": f"Bearer person{number}"},
                timeout=seconds,
                trust_env=False,
                verify=False,
            ) as client,
        ):
            person = Person(number, client, crowd)
            await person.ask()
            return person

    async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(number)) for number in numbers]
    return [task.result() for task in tasks]
