"""Converts a run's question or approval request to an input request for the client, and reads the
answer.

The run ends with its question. The client calls the tool again with the run's state
(`requestState`) and the user's answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types as types
import msgspec
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from apps.agent.ledger import InteractionKind, InteractionRequest, Ledger
from apps.agent.messages import ModelMessage, from_dict, to_dict
from apps.capabilities.wrappers.numbered_cards import NumberedCard
from apps.doors.bodies import converted, shorten_text
from apps.json_schemas.checks import SchemaCheck
from apps.mcp_server.answer import GatheredAnswer
from apps.runs.asking_ledger import CARDS, PENDING, AskingLedger

INPUT = "answer"
"""The key of the only input request, because a run asks one question at a time."""
PLACE = f"inputResponses.{INPUT}.content"
CHOICE, TEXT = "choice", "text"
DECLINED: Mapping[InteractionKind, tuple[str, Any]] = {
    "approval": ("", 2),
    "question": ("skip", None),
}
"""The text and the choice that count as the answer if the user declines."""


class WaitingCall(msgspec.Struct, frozen=True):
    """The content of `requestState`: the question, and the messages after the first one."""

    messages: list[dict[str, Any]]
    kind: InteractionKind
    asked: dict[str, Any]

    @property
    def interaction(self) -> InteractionRequest:
        return InteractionRequest("", self.kind, self.asked)


class ResumedCall(msgspec.Struct, frozen=True):
    """The messages of the call after the first one, including the user's answer to the question."""

    messages: tuple[ModelMessage, ...] = ()
    form_answer: Any = None
    """The numbers of the chosen options, or None for a text answer."""


def can_ask(context: ServerRequestContext[Any, Any]) -> bool:
    """Return True if the client supports input requests in results, which need no session on the
    server.
    """
    capabilities = context.session.client_capabilities
    asking = None if capabilities is None else capabilities.elicitation
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS or asking is None:
        return False
    return asking.form is not None or asking.url is None


def question_of(
    ledger: Ledger, answer: GatheredAnswer, messages: Sequence[ModelMessage]
) -> WaitingCall | None:
    """Return the question with which the answer ends, or None if it does not end with a question.
    `messages` are the request's messages.
    """
    asked = ledger.asked if isinstance(ledger, AskingLedger) else None
    if asked is None or PENDING not in answer.state:
        return None
    said = ModelMessage(
        "assistant", answer.text, attachments=tuple(answer.attachments), state=answer.state
    )
    written = [to_dict(message) for message in (*messages[1:], said)]
    return WaitingCall(written, asked.kind, dict(asked.asked))


def input_required(waiting: WaitingCall) -> types.InputRequiredResult:
    card = CARDS[waiting.kind](waiting.asked)
    form = types.ElicitRequestFormParams(
        message=card.text, requested_schema=form_schema(card, has_text=takes_text(waiting))
    )
    return types.InputRequiredResult(
        input_requests={INPUT: types.ElicitRequest(params=form)},
        request_state=msgspec.json.encode(waiting).decode(),
    )


def takes_text(waiting: WaitingCall) -> bool:
    return bool(waiting.asked.get("freeform", False))


def form_schema(card: NumberedCard, *, has_text: bool) -> dict[str, Any]:
    """Return the JSON Schema of a card's form. Options are chosen by number. With `has_text`, the
    form also has a text field.
    """
    properties: dict[str, Any] = {}
    if card.choices:
        options = [
            {"const": str(number), "title": title}
            for number, title in enumerate(card.choices, start=1)
        ]
        properties[CHOICE] = (
            {"type": "array", "title": "Choices", "items": {"anyOf": options}}
            if card.several
            else {"type": "string", "title": "Choice", "oneOf": options}
        )
    if has_text:
        properties[TEXT] = {"type": "string", "title": "Other answer" if card.choices else "Answer"}
    required = [] if len(properties) > 1 else [*properties]
    return {"type": "object", "properties": properties, "required": required}


def read_waiting(state: str) -> WaitingCall:
    """Parse a state that the SDK has verified. Raises `BadRequest` if it is malformed."""
    return converted(msgspec.json.decode(state), WaitingCall, "requestState")


def resume(waiting: WaitingCall, given: types.ElicitResult) -> ResumedCall:
    """Return the conversation with the user's answer. Raises `MCPError` if the answer does not
    match the form. The question then stays open.
    """
    if given.action == "accept":
        check_content(waiting, given.content or {})
    text, number = answer_of(waiting, given)
    earlier = map(from_dict, waiting.messages)
    return ResumedCall((*earlier, ModelMessage("user", text)), number)


def check_content(waiting: WaitingCall, content: Mapping[str, Any]) -> None:
    """Raise `MCPError` if the content does not match the question's form."""
    form = form_schema(CARDS[waiting.kind](waiting.asked), has_text=takes_text(waiting))
    for problem in SchemaCheck.of({**form, "additionalProperties": False}).violations(content):
        place = ".".join(map(str, (PLACE, *problem.absolute_path)))
        raise MCPError(types.INVALID_PARAMS, f"{place}: {shorten_text(problem.message)}.")


def answer_of(waiting: WaitingCall, given: types.ElicitResult) -> tuple[str, Any]:
    """Return the text of the answer, and the numbers of the chosen options, or None if no option
    was chosen.
    """
    content = given.content or {}
    if given.action != "accept":
        return DECLINED[waiting.kind]
    text, chosen = content.get(TEXT), content.get(CHOICE)
    said = text if isinstance(text, str) else ""
    listed = chosen if isinstance(chosen, list) else [chosen]
    numbers = [
        int(one) for one in listed if isinstance(one, str) and one.isascii() and one.isdigit()
    ]
    if numbers:
        return said, numbers
    return (said, None) if said else DECLINED[waiting.kind]
