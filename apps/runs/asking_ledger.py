"""Asks users questions in runs that are not stored, by adding the waiting calls to the answer's
state.

The state contains these calls in signed form, with the application, its manifest, the caller and
the time limit. The client's next message answers the question.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.core import signing
from msgspec import structs

from apps.accounts.caller import Caller
from apps.agent.events import Emit
from apps.agent.ledger import NO_LEDGER, InteractionKind, InteractionRequest, Ledger, UnstoredLedger
from apps.agent.messages import ModelMessage, from_dict, to_dict
from apps.agent.progress import Progress
from apps.capabilities.questions.answers import question_answer, question_card
from apps.capabilities.wrappers.approval import approval_answer, approval_card
from apps.capabilities.wrappers.numbered_cards import NumberedCard
from apps.catalog.resolved_application import ResolvedApplication
from apps.runs.requests import RunRequest
from apps.runs.turns import as_parts

PENDING = "pending_calls"
"""The key under which the answer's state stores the waiting calls."""
SALT = "quickapps.pending-calls"
DAY = 86_400.0
"""The default time limit for an answer, in seconds. It is a day, because users may not read a
message until the next morning.
"""
LONGEST = 30 * DAY
"""The maximum time limit for an answer, in seconds. It also applies if a manifest allows unlimited
time. The IDs of answered calls are stored for this long.
"""

CARDS: Mapping[InteractionKind, Callable[[Mapping[str, Any]], NumberedCard]] = {
    "approval": approval_card,
    "question": question_card,
}
ANSWERS: Mapping[InteractionKind, Callable[..., dict[str, Any]]] = {
    "approval": approval_answer,
    "question": question_answer,
}
_waiting = re.compile(r"Waiting for your answer until [0-9: -]{19} UTC\.\s*\Z")

LONGEST_LINE = 100

NOT_BROUGHT = "the client did not send back the state of the last answer"
CHANGED = "the state of the last answer was changed"
FOREIGN = "the question belongs to another application or user"
OUTDATED = "the application has been changed since then"
LATE = "the time to answer had run out"
REPLAYED = "it was already answered"

Claim = Callable[[str, float], Awaitable[bool]]
"""A function that records that the calls with the given ID have been answered, and stores this
until the given Unix time. It returns False if the calls had already been answered.
"""


@dataclass(frozen=True, slots=True)
class Scope:
    """The application, the digest of its manifest, and the caller for which waiting calls are
    valid.
    """

    application: str
    manifest: str
    caller: str


def scope_of(application: ResolvedApplication, caller: Caller) -> Scope:
    return Scope(application.slug, application.digest, f"{caller.kind}:{caller.bucket}")


class AskingLedger(UnstoredLedger):
    """The ledger of a run that is not stored and asks its question in the answer."""

    can_ask: Set[InteractionKind] = frozenset(CARDS)

    def __init__(self, answered: InteractionRequest | None = None) -> None:
        self.answered = answered
        """The user's answer to the first waiting call, or None. The run begins with this call."""
        self.asked: InteractionRequest | None = None
        """The question that ends the run, or None."""

    def interaction(self, key: str, kind: InteractionKind) -> InteractionRequest | None:
        """Return the user's answer if it belongs to this call, otherwise None. The calls with which
        a run begins belong to turn 0.
        """
        answered = self.answered
        is_answered = answered is not None and answered.kind == kind and key.startswith("t:0:0:")
        return answered if is_answered else None

    def ask(self, interaction: InteractionRequest) -> None:
        self.asked = interaction


def ask_person(
    ledger: Ledger,
    application: ResolvedApplication,
    caller: Caller,
    progress: Progress,
    emit: Emit,
) -> dict[str, Any]:
    """Append the run's question, if there is one, to the answer's text. Return the state that
    contains the waiting calls, or {}.
    """
    asked = ledger.asked if isinstance(ledger, AskingLedger) else None
    if asked is None or progress.conversation.waiting is None:
        return {}
    due = time.time() + seconds_for(asked)
    text = f"{CARDS[asked.kind](asked.asked).markdown}\n\n{waiting_line(due)}"
    progress.answer.append(text, emit)
    return {
        PENDING: sign_state(
            scope_of(application, caller), progress.conversation.waiting, asked, due
        )
    }


def seconds_for(asked: InteractionRequest) -> float:
    if not asked.is_time_set:
        return DAY
    return LONGEST if asked.seconds is None else min(asked.seconds, LONGEST)


def waiting_line(due: float) -> str:
    return (
        f"Waiting for your answer until {datetime.fromtimestamp(due, UTC):%Y-%m-%d %H:%M:%S} UTC."
    )


def sign_state(scope: Scope, waiting: ModelMessage, asked: InteractionRequest, due: float) -> str:
    content = {
        "id": uuid4().hex,
        "application": scope.application,
        "manifest": scope.manifest,
        "caller": scope.caller,
        "due": due,
        "message": to_dict(waiting),
        "kind": asked.kind,
        "asked": asked.asked,
    }
    return signing.dumps(content, salt=SALT, compress=True)


@dataclass(frozen=True, slots=True)
class WaitingCalls:
    """Tool calls that are waiting for the user's answer."""

    id: str
    due: float
    """The deadline as a Unix timestamp."""
    message: ModelMessage
    """The message that contains the calls."""
    asked: InteractionRequest
    """The question of the first call."""


async def take_answer(
    request: RunRequest, application: ResolvedApplication, caller: Caller, claim: Claim
) -> tuple[RunRequest, Ledger]:
    """Return the request and its ledger. If the client's last message answers the question of
    waiting calls, the run begins with these calls.

    An invalid answer denies all waiting calls, and the reason is passed to the model.
    """
    if caller.client.chain:  # The model of another application must not approve calls.
        return request, NO_LEDGER
    token = find_token(request.messages)
    if token is None:
        return request, AskingLedger()
    waiting = read_token(token, scope_of(application, caller))
    if isinstance(waiting, WaitingCalls) and not await claim(waiting.id, waiting.due):
        waiting = REPLAYED
    if isinstance(waiting, str):
        return with_note(request, waiting), AskingLedger()
    said, asked, calls = request.messages[-1], waiting.asked, waiting.message.tool_calls
    answer = ANSWERS[asked.kind](asked.asked, said.text, request.form_answer)
    # The user's reason must reach the model before it makes another call.
    made = calls[:1] if "reason" in answer else calls
    answered = replace(asked, answer=answer, answered_by=caller.bucket)
    unanswered = replace(waiting.message, tool_calls=made)
    return structs.replace(request, unanswered=unanswered), AskingLedger(answered)


def find_token(messages: Sequence[ModelMessage]) -> Any:
    """Return the signed calls in the last answer's state. Return "" if the client did not send them
    back, or None if the last answer asked no question.
    """
    if len(messages) < 2 or messages[-1].role != "user" or messages[-2].role != "assistant":
        return None
    last = messages[-2]
    token = last.state.get(PENDING)  # Sealed state is never text.
    return "" if token is None and _waiting.search(last.text[-LONGEST_LINE:]) else token


def read_token(token: Any, scope: Scope) -> WaitingCalls | str:
    """Verify a signed text, and return the waiting calls in it, or the reason why they must not be
    executed.
    """
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
    return waiting_calls(content)


def read_question(state: Mapping[str, Any]) -> WaitingCalls | None:
    """Return the waiting calls in an answer's state, for an API that shows them. Return None if
    there are none, or the state was changed.

    The function does not check whether the user may answer them.
    """
    try:
        content = signing.loads(str(state.get(PENDING, "")), salt=SALT)
    except signing.BadSignature:
        return None
    return waiting_calls(content)


def waiting_calls(content: Mapping[str, Any]) -> WaitingCalls:
    asked = InteractionRequest("", content["kind"], content["asked"])
    return WaitingCalls(content["id"], content["due"], from_dict(content["message"]), asked)


def with_note(request: RunRequest, reason: str) -> RunRequest:
    """Return the request with a note in its last message. The note explains to the model why the
    message does not count as an answer to the question.
    """
    note = (
        f"[The last answer asked the user something. What follows does not count as the answer: "
        f"{reason}. The tool calls that waited for it were denied and not made.]"
    )
    last = request.messages[-1]
    content = last.content
    noted = f"{note}\n\n{content}" if isinstance(content, str) else (*as_parts(note), *content)
    return structs.replace(request, messages=(*request.messages[:-1], replace(last, content=noted)))
