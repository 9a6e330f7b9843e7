"""Converts questions for the user to AG-UI interrupts, and reads the `resume` entries with the
answers.

A run asks one question at a time. The encrypted state of the answer contains the tool calls that
are waiting for the user. The ID of an interrupt is derived from these calls, so a client cannot
forge it.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from apps.ag_ui.content import OWN_CALL
from apps.ag_ui.requests import ResumeEntry
from apps.capabilities.questions.answers import SKIP, question_problem
from apps.capabilities.wrappers.approval import APPROVE, DENY
from apps.doors.bodies import invalid, shorten_text
from apps.doors.client_conversation import ChatMessage
from apps.runs.asking_ledger import WaitingCalls, read_question

APPROVAL_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
}
WRITTEN = 0
"""The form value for a free-text answer."""


class ResumedInterrupt(Struct, frozen=True):
    """An approved or denied call."""

    id: str
    """The call's ID for the model."""
    shown_id: str
    """The call's ID for the client."""
    answer: str
    """The user's answer as text."""


class Resumption(Struct, frozen=True):
    """The answer to an interrupt, as a user message and as a form value."""

    message: ChatMessage
    form_answer: Any
    call: ResumedInterrupt | None = None
    """The approved or denied call, or None if the interrupt was a different kind of question."""


def shown_call(waiting: WaitingCalls) -> str:
    """Return the ID under which clients see the waiting call."""
    return f"{OWN_CALL}{waiting.id}"


def write_interrupt(waiting: WaitingCalls) -> dict[str, Any]:
    asked, kind = waiting.asked.asked, waiting.asked.kind
    expires = datetime.fromtimestamp(waiting.due, UTC).isoformat(timespec="seconds")
    written = {"id": waiting.id, "expiresAt": expires}
    if kind != "approval":
        return {
            **written,
            "reason": "input_required",
            "message": asked["question"],
            "responseSchema": question_schema(asked),
            "metadata": {"options": asked["options"]},
        }
    details = {key: asked[key] for key in ("name", "arguments", "risk", "because") if key in asked}
    return {
        **written,
        "reason": "tool_call",
        "message": asked["title"],
        "toolCallId": shown_call(waiting),
        "responseSchema": APPROVAL_SCHEMA,
        "metadata": details,
    }


def question_schema(asked: Mapping[str, Any]) -> dict[str, Any]:
    labels = [option["label"] for option in asked["options"]]
    text: dict[str, Any] = {"type": "string"}
    if labels:
        text = {"anyOf": [{"enum": labels}, text]} if asked["freeform"] else {"enum": labels}
    if asked["input"] == "multiple":
        text = {"type": "array", "items": text, "minItems": 1}
    return {"type": "object", "properties": {"answer": text}, "required": ["answer"]}


# --- Answers ------------------------------------------------------------------------------------


def read_resume(
    entries: Sequence[ResumeEntry] | None, messages: Sequence[ChatMessage]
) -> Resumption | None:
    """Return the answer to the open interrupt, or None if there are no entries.

    Raises `BadRequest` if the answer is invalid or has expired. The run itself checks whether this
    user may answer.
    """
    if not entries:
        return None
    waiting = newest_question(messages)
    if waiting is None:
        problem = (
            "The last assistant message has no open interrupt. Send the messages of the "
            "interrupted run with their encryptedValue unchanged."
        )
        raise invalid("resume", problem)
    if len(entries) > 1:
        raise invalid(
            "resume",
            f"The list has {len(entries)} entries, but only one interrupt is open. Send one entry.",
        )
    entry = entries[0]
    if entry.interrupt_id != waiting.id:
        raise invalid(
            "resume.0.interruptId",
            f"Unknown interrupt: '{shorten_text(entry.interrupt_id)}'. Use the ID of the open interrupt.",
        )
    if waiting.due <= time.time():
        raise invalid("resume.0", "The interrupt has expired. Ask again in a new message.")
    if waiting.asked.kind != "approval":
        text, form = read_answer(waiting.asked.asked, entry)
        return Resumption(ChatMessage("user", text), form)
    text, form = read_approval(entry)
    call = ResumedInterrupt(waiting.message.tool_calls[0].id, shown_call(waiting), text)
    return Resumption(ChatMessage("user", text), form, call)


def newest_question(messages: Sequence[ChatMessage]) -> WaitingCalls | None:
    answers = (message for message in reversed(messages) if message.role == "assistant")
    custom = getattr(next(answers, None), "custom_content", None)
    return read_question(custom["state"]) if custom else None


def read_approval(entry: ResumeEntry) -> tuple[str, Any]:
    """Return the answer to an approval request as text and as a form value. Raises `BadRequest` if
    it is invalid.
    """
    if entry.status == "cancelled":
        return "Deny", DENY
    match entry.payload:
        case True | {"approved": True}:
            return "Approve", APPROVE
        case {"approved": False, "reason": str(reason)} if reason.strip():
            return reason, WRITTEN
        case False | {"approved": False}:
            return "Deny", DENY
        case _:
            problem = "Use {'approved': true} or {'approved': false, 'reason': …}."
            raise invalid("resume.0.payload", problem)


def read_answer(asked: Mapping[str, Any], entry: ResumeEntry) -> tuple[str, Any]:
    """Return the answer to a question as text and as a form value. Raises `BadRequest` if it is
    invalid.
    """
    if entry.status == "cancelled":
        return SKIP, WRITTEN
    given = entry.payload.get("answer") if isinstance(entry.payload, Mapping) else entry.payload
    values: list[Any] = given if isinstance(given, list) else [given]
    answers = [one for one in values if isinstance(one, str)]
    if not answers or len(answers) < len(values):
        raise invalid("resume.0.payload", "Use {'answer': …} with a string or a list of strings.")
    labels = [option["label"] for option in asked["options"]]
    chosen = [one for one in answers if one in labels]
    written = [one for one in answers if one not in labels]
    answer = {"outcome": "answered", "choices": chosen, "text": "\n".join(written)}
    if problem := question_problem(asked, answer):
        raise invalid("resume.0.payload.answer", problem)
    if written and chosen:
        raise invalid("resume.0.payload.answer", "Choose options or write an answer, not both.")
    return "\n".join(answers), [labels.index(one) + 1 for one in chosen] or WRITTEN
