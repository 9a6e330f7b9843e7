"""Compare the CPU time per chunk of our decoders of streamed answers with that of the SDKs' typed
streams.

    python -m benchmarks.decoders

Both read the same bytes from memory: a stream of text chunks, like nearly all of an answer. The
best of several runs counts. The SDKs are development dependencies.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import httpx2

from apps.workspace.anthropic.events import MessageEvents
from apps.workspace.responses.events import ResponseEvents
from apps.workspace.services.event_stream import EventDecoder, EventReader

CHUNKS = 20_000
PER_READ = 4
"""The number of chunks in one network read."""
RUNS = 3
KEY = "none"


class Pieces(httpx2.AsyncByteStream):
    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece


def client_of(pieces: list[bytes]) -> httpx2.AsyncClient:
    def answer(request: httpx2.Request) -> httpx2.Response:
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=Pieces(pieces))

    return httpx2.AsyncClient(transport=httpx2.MockTransport(answer))


def best(measure: Callable[[], int]) -> float:
    """Return the best CPU time per chunk in microseconds. The call returns the number of its
    chunks."""
    times = []
    for _ in range(RUNS):
        started = time.process_time()
        count = measure()
        times.append((time.process_time() - started) / count)
    return min(times) * 1e6


def decoded(make: Callable[[], EventReader], pieces: list[bytes]) -> int:
    decoder = EventDecoder(make())
    return sum(len(decoder.feed(piece)) for piece in pieces)


def grouped(events: list[bytes]) -> list[bytes]:
    return [b"".join(events[i : i + PER_READ]) for i in range(0, len(events), PER_READ)]


def compare(
    name: str,
    make: Callable[[], EventReader],
    events: list[bytes],
    ask_sdk: Callable[[list[bytes]], Awaitable[int]],
) -> None:
    pieces = grouped(events)
    ours = best(lambda: decoded(make, pieces))
    theirs = best(lambda: asyncio.run(count(ask_sdk(pieces))))
    print(f"{name:10} ours {ours:6.2f} us   SDK {theirs:6.2f} us   {theirs / ours:5.1f}x")


async def count(asked: Awaitable[int]) -> int:
    return await asked


def named(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def messages() -> Iterator[bytes]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    yield named("message_start", message={**message, "usage": usage})
    yield named("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for number in range(CHUNKS):
        delta = {"type": "text_delta", "text": f"word{number} "}
        yield named("content_block_delta", index=0, delta=delta)
    yield named("content_block_stop", index=0)
    yield named("message_delta", delta={"stop_reason": "end_turn"}, usage=usage)
    yield named("message_stop")


async def ask_anthropic(pieces: list[bytes]) -> int:
    import anthropic

    client = anthropic.AsyncAnthropic(api_key=KEY, http_client=client_of(pieces))
    question: Any = [{"role": "user", "content": "Hi"}]
    stream = await client.messages.create(model="m", max_tokens=1, messages=question, stream=True)
    return sum([event.type == "content_block_delta" async for event in stream])


def responses() -> Iterator[bytes]:
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    begun = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": []}
    response = {**begun, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    yield named("response.created", response={**response, "status": "in_progress"})
    yield named(
        "response.output_item.added", output_index=0, item={**item, "status": "in_progress"}
    )
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "logprobs": []}
    for number in range(CHUNKS):
        text = f"word{number} "
        yield named("response.output_text.delta", **place, delta=text, sequence_number=number)
    yield named("response.output_item.done", output_index=0, item={**item, "status": "completed"})
    yield named("response.completed", response={**response, "status": "completed", "usage": usage})


async def ask_responses(pieces: list[bytes]) -> int:
    import openai

    client = openai.AsyncOpenAI(api_key=KEY, http_client=client_of(pieces))
    stream = await client.responses.create(model="m", input="Hi", stream=True)
    return sum([event.type == "response.output_text.delta" async for event in stream])


def main() -> None:
    compare("anthropic", MessageEvents, list(messages()), ask_anthropic)
    compare("responses", ResponseEvents, list(responses()), ask_responses)


if __name__ == "__main__":
    main()
