"""The peer: a DIAL application on aidial-sdk that calls its model through AsyncOpenAI.

It follows the SDK's documentation: a loop of at most four turns, one tool of its own, and a
streamed answer.
"""

from __future__ import annotations

import os
from typing import Any

from aidial_sdk import DIALApp
from aidial_sdk.chat_completion import ChatCompletion, Choice, Request, Response
from openai import AsyncOpenAI

TOOL = os.environ["BENCH_TOOL"]
PARAMETERS = {"type": "object", "properties": {"timezone": {"type": "string"}}}
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {"name": TOOL, "description": "Tells the time.", "parameters": PARAMETERS},
    }
]
client = AsyncOpenAI(
    base_url=os.environ.get("BENCH_UPSTREAM", "http://none.invalid"), api_key="key", max_retries=0
)


class Peer(ChatCompletion):
    async def chat_completion(self, request: Request, response: Response) -> None:
        await answer(client, "fake-model", request, response)


async def answer(client: AsyncOpenAI, model: str, request: Request, response: Response) -> None:
    messages: list[Any] = [message.dict(exclude_none=True) for message in request.messages]
    with response.create_single_choice() as choice:
        for _ in range(4):
            calls = await turn(client, model, messages, choice, response)
            if not calls:
                return
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            for call in calls:
                with choice.create_stage("Current time") as stage:
                    stage.append_content("12:00")
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": "12:00"})


async def turn(
    client: AsyncOpenAI, model: str, messages: list[Any], choice: Choice, response: Response
) -> list[Any]:
    calls: dict[int, Any] = {}
    stream = await client.chat.completions.create(
        model=model,
        messages=messages,
        tools=TOOLS,
        stream=True,
        stream_options={"include_usage": True},
    )
    async for chunk in stream:
        if chunk.usage:
            response.set_usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        for item in chunk.choices:
            if item.delta.content:
                choice.append_content(item.delta.content)
            for piece in item.delta.tool_calls or ():
                collect(calls, piece)
    return list(calls.values())


def collect(calls: dict[int, Any], piece: Any) -> None:
    empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    call = calls.setdefault(piece.index, empty)
    call["id"] += piece.id or ""
    call["function"]["name"] += piece.function.name or ""
    call["function"]["arguments"] += piece.function.arguments or ""


app = DIALApp()
app.add_chat_completion("bench", Peer())
