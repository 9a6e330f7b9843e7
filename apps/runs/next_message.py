"""The message that answers what the last answer asked."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core import signing
from msgspec import structs

from apps.accounts.caller import Caller
from apps.agent.ledger import NO_LEDGER, Interaction, Ledger
from apps.agent.messages import Message, from_dict
from apps.catalog.resolved_application import ResolvedApplication
from apps.runs.asking_ledger import ANSWERS, PENDING, SALT, AskingLedger, Scope, scope_of
from apps.runs.requests import RunRequest
from apps.runs.turns import as_parts
from apps.workspace.dial.headers import read_chain

FORM_FIELD = "answer"
"""The property of a card's form."""
_waiting = re.compile(r"Waiting for your answer until [0-9: -]{19} UTC\.\s*\Z")

LONGEST_LINE = 100

NOT_BROUGHT = "the client did not bring back the state of the last answer"
CHANGED = "the state of the last answer was changed on its way"
FOREIGN = "it was asked in another application, or of somebody else"
OUTDATED = "the application has been changed since then"
LATE = "the time to answer was over"
REPLAYED = "it was answered before"

Claim = Callable[[str, float], Awaitable[bool]]
"""Notes that the calls of this id, which end at a time, are answered; False if they were before."""


@dataclass(frozen=True, slots=True)
class WaitingCalls:
    """The calls of the `message` are as the model wrote them; the first one asks."""

    id: str
    due: float
    message: Message
    asked: Interaction


async def take_answer(
    request: RunRequest, application: ResolvedApplication, caller: Caller, claim: Claim
) -> tuple[RunRequest, Ledger]:
    """The request, which begins with the calls that waited if it answers them, and its ledger.

    An answer that does not count denies all of them, and the model is told why.
    """
    if read_chain(caller.headers):  # the model of another application may not approve calls
        return request, NO_LEDGER
    token = pending_token(request.messages)
    if token is None:
        return request, AskingLedger()
    waiting = read_token(token, scope_of(application, caller))
    if isinstance(waiting, WaitingCalls) and not await claim(waiting.id, waiting.due):
        waiting = REPLAYED
    if isinstance(waiting, str):
        return with_note(request, waiting), AskingLedger()
    said, asked, calls = request.messages[-1], waiting.asked, waiting.message.tool_calls
    given = ANSWERS[asked.kind](asked.asked, said.text, form_value(said))
    # Who says something else is heard before anything else is done.
    made = calls[:1] if "reason" in given else calls
    answered = replace(asked, answer=given, answered_by=caller.bucket)
    unanswered = replace(waiting.message, tool_calls=made)
    return structs.replace(request, unanswered=unanswered), AskingLedger(answered)


def pending_token(messages: Sequence[Message]) -> Any:
    """What the last answer left for the last message; "" if it asked and nothing came back, None if
    it did not ask."""
    if len(messages) < 2 or messages[-1].role != "user" or messages[-2].role != "assistant":
        return None
    last = messages[-2]
    token = last.state.get(PENDING)  # text is never sealed
    return "" if token is None and _waiting.search(last.text[-LONGEST_LINE:]) else token


def read_token(token: Any, scope: Scope) -> WaitingCalls | str:
    """The calls, or why they may not be made."""
    if token == "":
        return NOT_BROUGHT
    try:
        content = signing.loads(str(token), salt=SALT)
    except signing.BadSignature:
        return CHANGED
    if (content["application"], content["caller"]) != (scope.application, scope.caller):
        return FOREIGN
    if content["manifest"] != scope.manifest:
        return OUTDATED
    if content["due"] <= time.time():
        return LATE
    asked = Interaction("", content["kind"], content["asked"])
    return WaitingCalls(content["id"], content["due"], from_dict(content["message"]), asked)


def form_value(message: Message) -> Any:
    """The value of the card's form, None if the message brings none."""
    form = message.extra.get("form_value")
    return form.get(FORM_FIELD) if isinstance(form, Mapping) else None


def with_note(request: RunRequest, reason: str) -> RunRequest:
    """The request, its last message behind a note for the model."""
    note = (
        f"[The last answer asked the user something. What follows does not count as the answer: "
        f"{reason}. The tool calls that waited for it were denied and not made.]"
    )
    last = request.messages[-1]
    content = last.content
    noted = f"{note}\n\n{content}" if isinstance(content, str) else (*as_parts(note), *content)
    return structs.replace(request, messages=(*request.messages[:-1], replace(last, content=noted)))
