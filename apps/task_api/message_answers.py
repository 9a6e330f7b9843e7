"""Answers a waiting run's question with a client's message."""

from __future__ import annotations

from dataclasses import dataclass

from channels.db import database_sync_to_async
from django.db.models import Q

from apps.accounts.caller import Caller
from apps.capabilities.questions.answers import question_problem
from apps.conversations.access import find_open
from apps.conversations.ask import Ask
from apps.conversations.asking.questions import read_question
from apps.conversations.interactions.answer_frames import QuestionResponse, misfit
from apps.conversations.models import QueuedMessage
from apps.errors import Refused
from apps.live.hub import Hub
from apps.live.interactions import submit_answer
from apps.live.models import Interaction, Run

OVER = frozenset({"answered", "run_going"})
"""If answering fails with one of these error codes, the message is sent as a new question."""


@dataclass(frozen=True, slots=True)
class WaitingQuestion:
    """A question from a waiting run."""

    row: Interaction
    answer: QuestionResponse
    is_answered: bool = False
    """True if the message is a repeat that has already answered the question."""


async def answer_question(hub: Hub, caller: Caller, slug: str, sent: Ask) -> Interaction | None:
    """Answer the conversation's open question with the message, and return the question. Return
    None if the message is not an answer. Raises `Refused` if the answer is invalid.
    """
    found: WaitingQuestion | None = await database_sync_to_async(claim_question)(caller, slug, sent)
    if found is None or found.is_answered:
        return None if found is None else found.row
    row, given = found.row, found.answer.model_dump(mode="json")
    try:
        await submit_answer(hub, row.run, row.key, "question", given, caller.bucket)
    except Refused as error:
        await Interaction.objects.filter(pk=row.pk, request=sent.id).aupdate(request=None)
        if error.code not in OVER:
            raise
        return None
    return row


def claim_question(caller: Caller, slug: str, sent: Ask) -> WaitingQuestion | None:
    """Return the question that the message answers or has answered, or None. Raises `Refused` if
    the answer is invalid.
    """
    if sent.conversation is None:
        return None
    conversation = find_open(caller, sent.conversation, slug)
    given = QuestionResponse(outcome="answered", text=read_question(sent))
    rows = Interaction.objects.filter(run__stream=conversation.pk).select_related("run")
    before = rows.filter(request=sent.id, answer__isnull=False).first()
    if before is not None:
        return WaitingQuestion(before, given, is_answered=True)
    if sent.attachments or sent.while_running == "stop" or was_submitted(caller, sent):
        return None
    # If several questions are open, the message answers none of them, as on the page.
    open_now = list(rows.filter(run__status=Run.Status.WAITING, answer__isnull=True)[:2])
    if len(open_now) != 1 or not accepts_text(question := open_now[0]):
        return None
    if problem := question_problem(question.asked, given.model_dump()):
        raise misfit(problem)
    mine = Interaction.objects.filter(Q(request=None) | Q(request=sent.id), pk=question.pk)
    return WaitingQuestion(question, given) if mine.update(request=sent.id) else None


def was_submitted(caller: Caller, sent: Ask) -> bool:
    """Return True if the message has already been sent as a new question."""
    waiting = QueuedMessage.objects.filter(conversation=sent.conversation, request=sent.id)
    return waiting.exists() or Run.objects.filter(bucket=caller.bucket, request=sent.id).exists()


def accepts_text(question: Interaction) -> bool:
    return question.kind == "question" and bool(question.asked["freeform"])
