"""Scripted models with the wire format of DIAL models.

A script is a list of answers; an answer is a list of steps, each an object with one key:

text, reasoning        a text, sent word by word
tool_calls             a list of {"name", "arguments"}; the name "*" is the request's first tool
attachment, state      of the answer
delta, chunk           sent unchanged
wait                   seconds
usage, finish          at the end; a missing finish reason is derived
error                  {"status", "message", …}: an HTTP error at the beginning, otherwise an
                       error event
raw                    text that is sent unchanged
"""

from __future__ import annotations

import asyncio
import itertools
import json
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from aidial_sdk.utils.merge_chunks import cleanup_indices, merge_chat_completion_chunks

Step = Mapping[str, Any]
Answer = Sequence[Step]
Body = dict[str, Any]
DONE = b"data: [DONE]\n\n"
CREATED = 1672534800
CALL = "scripted-"
"""The prefix of the ids of a script's tool calls."""
SYNTHETIC = "synth"
"""The prefix of the ids that our applications inject into a conversation."""


class Failed(Exception):
    """The model answers with an error instead."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error.get("message"))
        self.status = int(error.get("status", 500))
        shown = {name: value for name, value in error.items() if name != "status"}
        self.body: Body = {"error": {"code": str(self.status), **shown}}


@dataclass
class Model:
    """`echo` repeats the last message, `record` returns the whole request as JSON. The answers of a
    `script` are used one by one unless `is_repeated`. An answer may be an object {"steps": […]}
    with conditions: `after` is the role of the last message (without injected ones), `called`
    whether a script called a tool in this turn. A function computes the answer from the request.
    `asked` are the requests so far."""

    kind: Literal["echo", "script", "record"] = "echo"
    answers: list[Answer | Mapping[str, Any]] = field(default_factory=list)
    is_repeated: bool = False
    make: Callable[[Body], Answer] | None = None
    asked: list[Body] = field(default_factory=list)

    def steps(self, body: Body) -> Answer:
        self.asked.append(body)
        if self.make is not None:
            return self.make(body)
        if self.kind == "record":
            return [{"text": json.dumps(body)}]
        if self.kind == "echo":
            return [{"text": last_text(body)}]
        for number, answer in enumerate(self.answers):
            conditions, steps = unfolded(answer)
            if all(CONDITIONS[name](body, value) for name, value in conditions.items()):
                if not self.is_repeated:
                    del self.answers[number]
                return steps
        return [{"error": {"status": 500, "message": "The script has no more answers."}}]


def unfolded(answer: Answer | Mapping[str, Any]) -> tuple[Mapping[str, Any], Answer]:
    """Return the conditions and the steps."""
    if not isinstance(answer, Mapping):
        return {}, answer
    return {name: value for name, value in answer.items() if name != "steps"}, answer["steps"]


def has_called(body: Body) -> bool:
    """Return True if a script called a tool since the last question."""
    turn = itertools.takewhile(lambda one: one.get("role") != "user", reversed(body["messages"]))
    calls = [call for message in turn for call in message.get("tool_calls") or ()]
    return any(call["id"].startswith(CALL) for call in calls)


def last_role(body: Body) -> str:
    """Return the role of the last message that was not injected."""
    roles = [one.get("role") for one in body["messages"] if not is_synthetic(one)]
    return str(roles[-1]) if roles else ""


def is_synthetic(message: Body) -> bool:
    """Return True for an injected call or its result."""
    ids = [call["id"] for call in message.get("tool_calls") or ()]
    return any(id.startswith(SYNTHETIC) for id in (*ids, message.get("tool_call_id") or ""))


CONDITIONS: dict[str, Callable[[Body, Any], bool]] = {
    "after": lambda body, role: last_role(body) == role,
    "called": lambda body, value: has_called(body) == value,
}


def last_text(body: Body) -> str:
    """Return the last text that was not injected."""
    messages = [one for one in body["messages"] if not is_synthetic(one)] or body["messages"]
    content = messages[-1].get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part["text"] for part in content if part.get("type") == "text")


@dataclass
class Speech:
    """One answer in progress. Raises `Failed` at an error in the script."""

    name: str
    body: Body
    steps: Answer
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    usage: Mapping[str, int] | None = None
    finish: str | None = None

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the answer as server-sent events, without the last `[DONE]`."""
        is_begun = False
        try:
            async for chunk in self.chunks():
                is_begun = True
                yield chunk.encode() if isinstance(chunk, str) else event(chunk)
        except Failed as failure:
            if not is_begun:
                raise
            yield event(failure.body)

    async def whole(self) -> Body:
        chunks = [chunk async for chunk in self.chunks() if not isinstance(chunk, str)]
        merged = merge_chat_completion_chunks(*chunks)
        for choice in merged["choices"]:
            choice["message"] = cleanup_indices(choice.pop("delta"))
        return {**merged, "object": "chat.completion"}

    async def chunks(self) -> AsyncIterator[Body | str]:
        if next(iter(self.steps), {}).keys() != {"error"}:
            yield self.chunk({"role": "assistant"})
        for step in self.steps:
            ((kind, value),) = step.items()
            if kind == "wait":
                await asyncio.sleep(value)
            elif kind == "error":
                raise Failed(value)
            elif kind in ("raw", "chunk"):
                yield value
            else:
                for delta in self.deltas(kind, value):
                    yield self.chunk(delta)
        yield self.chunk({}, self.finish or "stop") | {"usage": self.usage or self.counted()}

    def deltas(self, kind: str, value: Any) -> Iterator[Body]:
        if kind in ("usage", "finish"):
            setattr(self, kind, value)
        elif kind == "delta":
            yield value
        elif kind in ("text", "reasoning"):
            name = "content" if kind == "text" else "reasoning_content"
            yield from ({name: word} for word in value.replace(" ", " \0").split("\0"))
        elif kind == "tool_calls":
            self.finish = self.finish or "tool_calls"
            for index, call in enumerate(value):
                yield from self.call(index, call)
        elif kind == "attachment":
            yield {"custom_content": {"attachments": [{"index": 0, **value}]}}
        elif kind == "state":
            yield {"custom_content": {"state": value}}
        else:
            raise ValueError(f"A script has no step {kind!r}.")

    def call(self, index: int, call: Mapping[str, Any]) -> Iterator[Body]:
        name, arguments = call["name"], call.get("arguments", {})
        if name == "*":
            name = self.body["tools"][0]["function"]["name"]
        words = arguments if isinstance(arguments, str) else json.dumps(arguments)
        head = {"index": index, "id": call.get("id", f"{CALL}{uuid.uuid4().hex[:8]}")}
        opened = {**head, "type": "function", "function": {"name": name, "arguments": ""}}
        yield {"content": None, "tool_calls": [opened]}
        yield {"content": None, "tool_calls": [{"index": index, "function": {"arguments": words}}]}

    def chunk(self, delta: Body, finish: str | None = None) -> Body:
        return {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": self.name,
            "choices": [{"index": 0, "finish_reason": finish, "delta": delta}],
            "usage": None,
        }

    def counted(self) -> dict[str, int]:
        """Return constant usage numbers."""
        asked = len(json.dumps(self.body.get("messages", ""))) // 4
        return {"prompt_tokens": asked, "completion_tokens": 2, "total_tokens": asked + 2}


def event(document: Any) -> bytes:
    return f"data: {json.dumps(document, separators=(',', ':'))}\n\n".encode()
