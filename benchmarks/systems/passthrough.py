"""A pass-through of chat completions as engineers write it: FastAPI, pydantic and `AsyncOpenAI`."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.responses import StreamingResponse
from openai import AsyncOpenAI
from pydantic import BaseModel, ConfigDict

KEY = os.environ["BENCH_KEY"]
client = AsyncOpenAI(base_url=os.environ["BENCH_UPSTREAM"], api_key="key", max_retries=0)
app = FastAPI()


class Message(BaseModel):
    model_config = ConfigDict(extra="allow")

    role: str
    content: str | list[dict[str, Any]] | None = None


class Completion(BaseModel):
    model_config = ConfigDict(extra="allow")

    model: str
    messages: list[Message]
    stream: bool = False


def check_key(api_key: Annotated[str, Header()]) -> None:
    if not secrets.compare_digest(api_key, KEY):
        raise HTTPException(401, "Unknown key.")


@app.post("/v1/chat/completions", dependencies=[Depends(check_key)])
async def complete(asked: Completion) -> StreamingResponse:
    fields = asked.model_dump(exclude_none=True)
    given: dict[str, Any] = {**fields, "model": "fake-model", "stream": True}
    return StreamingResponse(events(given), media_type="text/event-stream")


async def events(given: dict[str, Any]) -> AsyncIterator[str]:
    stream = await client.chat.completions.create(**given)
    async for chunk in stream:
        yield f"data: {chunk.model_dump_json(exclude_unset=True)}\n\n"
    yield "data: [DONE]\n\n"
