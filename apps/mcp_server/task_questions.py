"""Converts a task's open questions to input requests, and the client's responses to answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter, ValidationError

from apps.capabilities.questions.answers import question_answer
from apps.capabilities.wrappers.approval import approval_answer
from apps.conversations.interactions.answer_frames import Answer, AnswerFrame
from apps.live.models import Interaction, Run
from apps.mcp_server.interactions import (
    WaitingCall,
    answer_of,
    check_content,
    form_schema,
    takes_text,
)
from apps.runs.asking_ledger import CARDS

FRAME: TypeAdapter[AnswerFrame] = TypeAdapter(Answer)
ANSWERS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "approval": approval_answer,
    "question": question_answer,
}
UNANSWERABLE = {"elicitation": {"outcome": "declined"}, "sign_in": {"outcome": "skipped"}}
"""The answers to questions that clients can only decline."""


def open_questions(run: Run) -> list[Interaction]:
    """Return the open questions of the run that the client can answer."""
    rows = Interaction.objects.filter(run=run, answer__isnull=True).order_by("pk")
    if run.status == Run.Status.WAITING:
        return list(rows.filter(kind__in=(*ANSWERS, *UNANSWERABLE)))
    # Elicitations come from a running call. Other questions are answered once the run is waiting.
    return list(rows.filter(kind="elicitation")) if run.status == Run.Status.RUNNING else []


def waiting_call(question: Interaction) -> WaitingCall:
    kind: Any = question.kind
    return WaitingCall([], kind, question.asked)


def input_requests(questions: Sequence[Interaction]) -> dict[str, Any]:
    requests = {one.key: types.ElicitRequest(params=form_of(one)) for one in questions}
    return {
        key: request.model_dump(by_alias=True, mode="json", exclude_none=True)
        for key, request in requests.items()
    }


def form_of(question: Interaction) -> types.ElicitRequestFormParams:
    if question.kind in UNANSWERABLE:
        about = str(question.asked.get("message") or question.asked.get("title") or question.kind)
        empty = {"type": "object", "properties": {}}
        return types.ElicitRequestFormParams(
            message=f"{about}\n\nThis cannot be answered here. The run continues without it.",
            requested_schema=empty,
        )
    waiting = waiting_call(question)
    card = CARDS[waiting.kind](waiting.asked)
    return types.ElicitRequestFormParams(
        message=card.text, requested_schema=form_schema(card, has_text=takes_text(waiting))
    )


def answer_frames(
    run: Run, questions: Sequence[Interaction], responses: Mapping[str, Any]
) -> Iterator[AnswerFrame]:
    """Yield an answer for each question that has a response. Raises `MCPError` if a response does
    not match the question's form.
    """
    for one in questions:
        if one.key in responses:
            answer = read_answer(one, responses[one.key])
            frame = {"type": "answer", "kind": one.kind, "run": run.pk, "key": one.key}
            yield FRAME.validate_python({**frame, "answer": answer})


def read_answer(question: Interaction, response: Any) -> dict[str, Any]:
    try:
        given = types.ElicitResult.model_validate(response)
    except ValidationError as error:
        place = f"inputResponses.{question.key}"
        raise MCPError(
            types.INVALID_PARAMS, f"{place} is not a form result (`ElicitResult`)."
        ) from error
    if question.kind in UNANSWERABLE:
        return UNANSWERABLE[question.kind]
    waiting = waiting_call(question)
    if given.action == "accept":
        check_content(waiting, given.content or {})
    text, value = answer_of(waiting, given)
    return ANSWERS[question.kind](question.asked, text, value)
