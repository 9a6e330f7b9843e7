"""Talks to an agent with the official client, and writes what it has seen as JSON.

The arguments are the agent's URL, a key, the binding, and messages. A message answers the task
before it if that task waits for an answer. `cancel` cancels the task that the next message starts.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
from a2a.client import (  # type: ignore[import-not-found]
    A2ACardResolver,
    Client,
    ClientConfig,
    ClientFactory,
)
from a2a.types import a2a_pb2 as wire  # type: ignore[import-not-found]
from a2a.utils.errors import A2AError  # type: ignore[import-not-found]

PATIENCE = 60.0


class Talk:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.task = wire.Task()
        self.cancels = False
        self.seen: list[dict[str, Any]] = []

    async def say(self, text: str) -> None:
        message = wire.Message(message_id=str(uuid4()), role="ROLE_USER")
        if text.startswith("{"):
            part = message.parts.add(filename="note.txt", media_type="text/plain")
            part.raw = json.loads(text)["raw"].encode()
            text = json.loads(text)["text"]
        message.parts.add(text=text)
        if self.task.status.state == wire.TASK_STATE_INPUT_REQUIRED:
            message.task_id = self.task.id
        message.context_id = self.task.context_id
        events = self.client.send_message(wire.SendMessageRequest(message=message))
        self.seen.append(await self.follow(events))

    async def follow(self, events: AsyncIterator[wire.StreamResponse]) -> dict[str, Any]:
        kinds: list[str] = []
        id = ""
        async for event in events:
            kind = event.WhichOneof("payload")
            kinds += [kind] if kind not in kinds[-1:] else []
            told = getattr(event, kind)
            id = told.id if kind == "task" else told.task_id
            if self.cancels:
                self.cancels = False
                await self.client.cancel_task(wire.CancelTaskRequest(id=id))
        self.task = await self.client.get_task(wire.GetTaskRequest(id=id))
        status = self.task.status
        return {
            "kinds": kinds,
            "state": wire.TaskState.Name(status.state),
            "text": texts(part for one in self.task.artifacts for part in one.parts),
            "told": texts(status.message.parts),
        }


def texts(parts: Any) -> str:
    return "".join(part.text for part in parts)


async def main(url: str, key: str, binding: str, *said: str) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        is_streaming, _, protocol = binding.rpartition("+")
        config = ClientConfig(
            streaming=bool(is_streaming),
            httpx_client=http,
            supported_protocol_bindings=[protocol.replace("HTTP", "HTTP+JSON")],
        )
        talk = Talk(ClientFactory(config).create(card))
        error = ""
        try:
            for text in said:
                if text == "cancel":
                    talk.cancels = True
                else:
                    await talk.say(text)
            listed = await talk.client.list_tasks(wire.ListTasksRequest())
            tasks = [wire.TaskState.Name(one.status.state) for one in listed.tasks]
        except A2AError as failure:
            error, tasks = f"{type(failure).__name__}: {failure.message}", []
        return {"name": card.name, "seen": talk.seen, "tasks": tasks, "error": error}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(*sys.argv[1:]))))
