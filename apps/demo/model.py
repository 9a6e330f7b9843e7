"""Defines the built-in demo model, which imitates a language model without a key or network access.

The model calls the tools that a question suggests, and shows their results. It always gives the
same answer to the same conversation.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import msgspec

from apps.agent.events import TextDelta, Usage
from apps.agent.messages import ModelMessage, ToolCall, to_dicts
from apps.agent.meter import SentRequest
from apps.agent.model import Delta, Finish, ModelRequest, ToolCallDelta
from apps.agent.todo_list import is_todo_message
from apps.demo.calls import CallPlan, PlannedCall, plan_calls
from apps.demo.clues import all_clues
from apps.demo.documents import documents_of, operator_documents, quotations
from apps.demo.known_tools import (
    STORE,
    DemoQuestion,
    asks,
    fixed_answer,
    next_calls,
    rule_calls,
)
from apps.demo.lead import LEADS, TODO, lead_calls
from apps.demo.reminders import NAMES, reminders, ringing
from apps.demo.results import READ_SKILL, render, without_attachments
from apps.demo.talk import greeting, long_text, small_talk
from apps.manifest.narrative import without_narrative

CALL_PREFIX = "demo_call_"
"""The prefix of the demo model's call IDs. The model ignores the results of calls with other IDs.
"""
MOST_CHARACTERS = 4_000
"""The model reads only this many characters of each question."""
MOST_QUESTIONS = 6
"""The model reads this many of the newest questions, so that "and in Lima?" can refer to an earlier
one.
"""
CHARACTERS_PER_TOKEN = 4
"""The assumed number of characters per token. The demo model has no tokenizer."""
ARGUMENT_CHUNK = 12
"""The number of argument characters per delta. Tool call arguments arrive in several deltas, as
from other models.
"""
WORD_SECONDS = 0.02
"""The pause in seconds after each word, so that users see the answer stream."""
SUPPORTED_PARAMETERS = frozenset({"max_completion_tokens", "max_tokens"})
CLOSING = "*The built-in demo model only repeats what the tools returned.*"

_words = re.compile(r"\S+\s*|\s+")
_skill_names = re.compile(r"<name>([a-z0-9-]{1,64})</name>")


class DemoModel:
    def write(self, request: ModelRequest) -> bytes:
        """Return the request as JSON, as a service would receive it."""
        tools = [spec.written for spec in request.tools]
        written = {"messages": to_dicts(request.messages), **({"tools": tools} if tools else {})}
        return msgspec.json.encode({**written, **request.parameters}, enc_hook=dict)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Yield the answer word by word, with a pause after each word, and then the estimated token
        counts.
        """
        if request.meter.keeps_requests:
            body, prompt = self.write(request), tuple(request.prompt)
            request.meter.request_sent(SentRequest("demo-model", body, prompt, request.private))
        answer = answer_to(request)
        calls = answer if isinstance(answer, list) else []
        text, reason = limit_text("" if calls else str(answer), request.parameters)
        for word in _words.findall(text):
            yield [TextDelta(word)]
            await asyncio.sleep(WORD_SECONDS)
        said = len(text)
        for index, call in enumerate(calls):
            id = f"{CALL_PREFIX}{len(request.messages)}_{index}"
            yield [ToolCallDelta(index, id, call.tool)]
            arguments = msgspec.json.encode(call.arguments).decode()
            said += len(call.tool) + len(arguments)
            for start in range(0, len(arguments), ARGUMENT_CHUNK):
                chunk = arguments[start : start + ARGUMENT_CHUNK]
                yield [ToolCallDelta(index, arguments=chunk)]
                await asyncio.sleep(0)
        asked = sum(len(message.text) for message in request.messages)
        asked += sum(len(memoryview(spec.written)) for spec in request.tools)
        yield [Finish("tool_calls" if calls else reason), Usage(tokens(asked), tokens(said))]


def answer_to(request: ModelRequest) -> str | list[PlannedCall]:
    """Return the text of the answer, or the tool calls that come before it."""
    said = [m for m in request.messages if not is_todo_message(m)]
    asked = [m for m in said if m.role == "user"] or [ModelMessage("user")]
    (question, attached), *earlier = (
        without_attachments(without_narrative(message.text[:MOST_CHARACTERS]))
        for message in reversed(asked[-MOST_QUESTIONS:])
    )
    if not request.tools and (quoted := quotations(asked[-1].text)):
        return quoted
    choice = request.parameters.get("tool_choice")
    made = own_results(said)
    if choice in (None, "auto") and (calls := plan_lead_calls(question, request, said)):
        return calls
    if (
        not made
        and choice in (None, "auto", "none")
        and (text := long_text(question) or fixed_answer(demo_question(question, request)))
    ):
        return text
    before = [] if greeting(question) else [text for text, _ in earlier]
    plan = plan_for(question, request, choice, before)
    if calls := web_search(question, request) if choice in (None, "auto") else []:
        return calls
    if made:
        return "\n\n".join([*made, *plan.missing, CLOSING])
    if plan.missing and not plan.calls:
        return "\n\n".join([*plan.missing, "Say it in your question, and I will call it."])
    files = attached or len(asked[-1].attachments)
    rung = ringing(asked[-1].text, question)
    return plan.calls or rung or small_talk(question, request.tools, files)


def plan_lead_calls(
    question: str, request: ModelRequest, said: Sequence[ModelMessage]
) -> list[PlannedCall]:
    """Return the next calls that start sub-agents or change the to-do list, or []."""
    return lead_calls(question, request.messages, request.tools, own_calls(said))


def own_results(messages: Sequence[ModelMessage]) -> list[str]:
    """Return the results of the model's own calls since the newest question, as Markdown."""
    calls = own_calls(messages)
    # The page shows the to-do list next to the answer.
    others = [pair for pair in calls if pair[0].name != TODO]
    return [render(call, result) for call, result in others or calls]


def own_calls(messages: Sequence[ModelMessage]) -> list[tuple[ToolCall, ModelMessage | None]]:
    """Return the model's own calls since the newest question, each with its result or None."""
    start = max((index for index, m in enumerate(messages) if m.role == "user"), default=0)
    results = {m.tool_call_id: m for m in messages[start:] if m.role == "tool"}
    calls = [call for message in messages[start:] for call in message.tool_calls]
    return [(c, results.get(c.id)) for c in calls if c.id.startswith(CALL_PREFIX)]


def web_search(question: str, request: ModelRequest) -> list[PlannedCall]:
    """Return a web search call if memories were searched and the question also needs a web search,
    otherwise [].
    """
    made = own_calls([m for m in request.messages if not is_todo_message(m)])
    texts = [result.text for _, result in made if result is not None]
    return next_calls(demo_question(question, request), [call.name for call, _ in made], texts)


def demo_question(question: str, request: ModelRequest) -> DemoQuestion:
    tools = {spec.name: spec for spec in request.tools}
    files, listed = documents_of(request.messages), operator_documents(request.messages)
    return DemoQuestion(question, files, tools, listed)


def plan_for(
    question: str, request: ModelRequest, choice: object, earlier: Sequence[str]
) -> CallPlan:
    """Plan the calls for a question. If the question names a skill, only read this skill."""
    tools = request.tools
    if choice in (None, "auto", "required"):
        if calls := skill_reads(question, request):
            return CallPlan(calls)
        is_small_talk = bool(question.strip() and greeting(question))
        known = [] if is_small_talk else rule_calls(demo_question(question, request))
        known = list(reminders(question, {spec.name for spec in tools})) or known
        if known:
            return CallPlan(known)
        others = [spec for spec in tools if spec.name not in {READ_SKILL, *LEADS, *NAMES}]
        if asks(question):
            others = [spec for spec in others if not spec.name.endswith(STORE)]
        tools = others if others or choice != "required" else tools
    return plan_calls(question, tools, choice, earlier)


def skill_reads(question: str, request: ModelRequest) -> list[PlannedCall]:
    """Return calls that read the skills in the system prompt that the question names. If the
    question also names files, return calls that read these files from the skills.
    """
    said = set(re.findall(r"[\w-]+", question.casefold()))
    if not said & {"skill", "skills"} or READ_SKILL not in [spec.name for spec in request.tools]:
        return []
    prompt = next((m.text for m in request.messages if m.role == "system"), "")
    files = [{"file_path": clue["file"]} for clue in all_clues(question) if "file" in clue]
    return [
        PlannedCall(READ_SKILL, {"skill_name": name, **file})
        for name in dict.fromkeys(_skill_names.findall(prompt))
        if name in said
        for file in ({}, *files)
    ]


def limit_text(text: str, parameters: Mapping[str, Any]) -> tuple[str, str]:
    """Truncate the text to the request's token limit. Return it with the finish reason."""
    most = next((parameters[n] for n in sorted(SUPPORTED_PARAMETERS) if n in parameters), None)
    if not isinstance(most, int) or not 0 < most * CHARACTERS_PER_TOKEN < len(text):
        return text, "stop"
    return text[: most * CHARACTERS_PER_TOKEN], "length"


def tokens(characters: int) -> int:
    return max(1, characters // CHARACTERS_PER_TOKEN)
