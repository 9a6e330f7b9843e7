"""The built-in demo model: no key, no network, no language model, and it says so.

It calls the tools that a question points to and shows what they return. The same conversation
always gets the same answer.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django.conf import settings

from apps.agent.events import TextDelta, Usage
from apps.agent.messages import Message, ToolCall
from apps.agent.model import Delta, Finish, ModelRequest, ToolCallDelta
from apps.workspace.demo.arguments import Call
from apps.workspace.demo.plans import MOST_CALLS, Plan, make_plan
from apps.workspace.demo.results import render, without_attachments
from apps.workspace.demo.skills import others, reads
from apps.workspace.demo.texts import is_small_talk, small_talk, special

CALL_PREFIX = "demo_call_"
"""Begins the ids of calls that were made here; calls that others put in are not looked at."""
CHARACTERS_PER_TOKEN = 4
ARGUMENT_PIECE = 12
"""Characters of arguments in one chunk, so that they arrive in pieces as elsewhere."""
SUPPORTED_PARAMETERS = frozenset({"max_completion_tokens", "max_tokens"})
"""The request parameters that change an answer."""
CLOSING = "*The built-in demo model only repeats what the tools returned.*"

_words = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class Answer:
    text: str = ""
    calls: tuple[Call, ...] = ()


class DemoModel:
    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Answer word by word, `DEMO_MODEL_DELAY_SECONDS` apart, and report estimated tokens."""
        delay = settings.DEMO_MODEL_DELAY_SECONDS
        answer = answer_to(request)
        text, is_cut = limited(answer.text, most_tokens(request.parameters))
        for word in _words.findall(text):
            yield [TextDelta(word)]
            await asyncio.sleep(delay)
        for piece in call_deltas(answer.calls, f"{CALL_PREFIX}{len(request.messages)}_"):
            yield [piece]
            await asyncio.sleep(0)
        reason = "tool_calls" if answer.calls else "length" if is_cut else "stop"
        yield [Finish(reason), usage(request, text, answer.calls)]


def most_tokens(parameters: Mapping[str, Any]) -> Any:
    return next(
        (parameters[name] for name in sorted(SUPPORTED_PARAMETERS) if name in parameters), None
    )


def answer_to(request: ModelRequest) -> Answer:
    question, after = latest_question(request.messages)
    text, attached = without_attachments(question.text)
    made = own_calls(after)
    choice = request.parameters.get("tool_choice")
    long_text = special(text) if choice in (None, "auto", "none") else ""
    if long_text and not made:
        return Answer(long_text)
    earlier = () if is_small_talk(text) else earlier_questions(request.messages)
    plan = plan_for(text, request, earlier)
    if made:
        return Answer("\n\n".join([*report(made, after), *plan.missing, CLOSING]))
    if plan.calls:
        return Answer(calls=plan.calls)
    if plan.missing:
        return Answer("\n\n".join([*plan.missing, "Say it in your question, and I will call it."]))
    return Answer(small_talk(text, request.tools, attached or len(question.attachments)))


def plan_for(text: str, request: ModelRequest, earlier: Sequence[str]) -> Plan:
    """A question that names a skill is about that skill alone."""
    choice = request.parameters.get("tool_choice")
    if choice not in (None, "auto", "required"):
        return make_plan(text, request.tools, choice, earlier)
    found = reads(text, request.tools, request.messages)
    if found:
        return Plan(found[:MOST_CALLS])
    tools = others(request.tools)
    if not tools and choice == "required":
        return make_plan(text, request.tools, choice, earlier)
    return make_plan(text, tools, choice, earlier)


def latest_question(messages: Sequence[Message]) -> tuple[Message, Sequence[Message]]:
    """The last message of a person, and what follows it."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "user":
            return messages[index], messages[index + 1 :]
    return Message("user"), messages


def earlier_questions(messages: Sequence[Message]) -> list[str]:
    """What was asked before the latest question, the newest first."""
    asked = [m.text for m in reversed(messages) if m.role == "user"]
    return [without_attachments(text)[0] for text in asked[1:]]


def own_calls(messages: Sequence[Message]) -> list[ToolCall]:
    return [
        call
        for message in messages
        for call in message.tool_calls
        if call.id.startswith(CALL_PREFIX)
    ]


def report(calls: Sequence[ToolCall], messages: Sequence[Message]) -> Iterator[str]:
    results = {m.tool_call_id: m for m in messages if m.role == "tool"}
    for call in calls:
        yield render(call, results.get(call.id))


def call_deltas(calls: Sequence[Call], prefix: str) -> Iterator[ToolCallDelta]:
    for index, call in enumerate(calls):
        yield ToolCallDelta(index, f"{prefix}{index}", call.tool)
        arguments = msgspec.json.encode(call.arguments).decode()
        for start in range(0, len(arguments), ARGUMENT_PIECE):
            piece = arguments[start : start + ARGUMENT_PIECE]
            yield ToolCallDelta(index, arguments=piece)


def limited(text: str, max_tokens: object) -> tuple[str, bool]:
    """The text within the limit of the request, and whether it was cut."""
    if not isinstance(max_tokens, int) or max_tokens < 1:
        return text, False
    most = max_tokens * CHARACTERS_PER_TOKEN
    return text[:most], len(text) > most


def usage(request: ModelRequest, text: str, calls: Sequence[Call]) -> Usage:
    """An estimate: there is no tokenizer where there is no model."""
    asked = sum(
        len(message.text) + sum(len(call.name + call.arguments) for call in message.tool_calls)
        for message in request.messages
    )
    offered = sum(len(memoryview(spec.written)) for spec in request.tools)
    said = len(text) + sum(len(call.tool) + len(str(call.arguments)) for call in calls)
    return Usage(tokens(asked + offered), tokens(said))


def tokens(characters: int) -> int:
    return max(1, characters // CHARACTERS_PER_TOKEN)
