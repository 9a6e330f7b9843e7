"""Stores questions from API clients that send the whole conversation with each request, such as
clients of the Responses API.

The messages are stored only for the chat page. The run reads the client's request instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import lock, own, reference_of
from apps.conversations.ask import Ask
from apps.conversations.asking.question_position import QuestionPosition, branching
from apps.conversations.asking.questions import (
    NewQuestion,
    StartedAnswer,
    create,
    question_added,
    store_manifest,
    store_question,
)
from apps.conversations.client_requests import store_request
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation, Message, question_title
from apps.conversations.outcome.endings import answer_stored
from apps.conversations.outcome.transcript import Transcript
from apps.insights.budgets.budget_usage import check_start
from apps.insights.prices import PRICES
from apps.live import leases
from apps.live.events import StatusChanged, storable_value
from apps.live.journal import journal
from apps.live.limits import queue
from apps.live.limits.quotas import counted_name
from apps.live.models import Run
from apps.runs.requests import RunRequest

UNTITLED = "Request"
"""The title of a conversation whose first question is empty."""


@dataclass(frozen=True, slots=True)
class ClientQuestion:
    """A question from an API client. The page shows `text` and `attachments`."""

    caller: Caller
    application: ResolvedApplication
    door: str
    request: RunRequest
    text: str
    attachments: Sequence[dict[str, str]] = ()
    after: UUID | None = None
    """The ID of the previous answer's run, or None."""
    begin: UUID = field(default_factory=uuid4)
    """The ID for a new conversation."""
    run: UUID = field(default_factory=uuid4)


def begin_client_answer(question: ClientQuestion, holder: str) -> StartedAnswer:
    """Store a question and the run that answers it, in the current transaction. `holder` is the
    name of this process, or "" to queue the run. Raises `BudgetSpent`, or `Refused` if a limit is
    reached.
    """
    check_start(question.caller, question.door, question.application.slug, "")
    PRICES.refresh()
    conversation, position = locate_question(question)
    run = run_of(question, conversation)
    queue.admit(run, holder)
    asked = NewQuestion(
        question.caller,
        question.application,
        Ask(id=question.run, text=question.text),
        storable_value(question.text),
        holder,
    )
    started = store_question(
        conversation, run, asked, position, storable_value([*question.attachments]), None
    )
    store_request(run, question.request)
    return replace(started, request=question.request)


def store_client_answer(
    question: ClientQuestion, transcript: Transcript, started_at: datetime
) -> StartedAnswer:
    """Store a question with its complete answer and an ended run, in the current transaction."""
    conversation, position = locate_question(question)
    now = timezone.now()
    run = run_of(question, conversation)
    run.status, run.started_at, run.finished_at = Run.Status.DONE, started_at, now
    run.save(force_insert=True)
    asked = Message.objects.create(
        conversation=conversation,
        run=run,
        role=Message.Role.USER,
        text=storable_value(question.text),
        attachments=storable_value([*question.attachments]),
        parent_id=position.parent,
        created_at=started_at,
    )
    answer = Message.objects.create(
        conversation=conversation,
        run=run,
        role=Message.Role.ASSISTANT,
        text=transcript.text,
        attachments=transcript.attachments,
        state=transcript.state,
        finish_reason=(transcript.finish_reason or "stop")[:50],
        parent=asked,
    )
    events = question_added(asked), answer_stored(answer), StatusChanged(run.status)
    journal.add(conversation.pk, run.pk, events, is_new=position.parent is None)
    changes = {"leaf": answer, "updated_at": now, "is_unread": True}
    Conversation.objects.filter(pk=conversation.pk).update(**changes)
    transaction.on_commit(partial(mirror, conversation.pk))
    return StartedAnswer(conversation, run, is_new=True)


def run_of(question: ClientQuestion, conversation: Conversation) -> Run:
    caller, application = question.caller, question.application
    return Run(
        id=question.run,
        stream=conversation.pk,
        request=question.run,
        application=application.slug,
        application_pk=application.id,
        application_number=application.number,
        manifest=store_manifest(application),
        bucket=caller.bucket,
        counted_as=counted_name(caller),
        caller=reference_of(caller),
        door=question.door,
    )


def locate_question(question: ClientQuestion) -> tuple[Conversation, QuestionPosition]:
    """Lock and return the question's conversation, with the question's position in it. Create a new
    conversation if `after` does not identify a stored answer from this application, or if another
    answer is running.
    """
    before = answer_before(question)
    if before is not None:
        conversation = lock(before.conversation)
        if leases.open_run(conversation.pk) is None:
            return conversation, position_after(conversation, before)
    title = question_title(storable_value(question.text)) or UNTITLED
    ask = Ask(id=question.run, text="")
    # This process chose the ID, so it is unused.
    conversation = create(question.begin, question.caller, question.application, ask, title)
    return conversation, QuestionPosition()


def answer_before(question: ClientQuestion) -> Message | None:
    if question.after is None:
        return None
    rows = own(question.caller).filter(application=question.application.id)
    answers = Message.objects.filter(run=question.after, role=Message.Role.ASSISTANT)
    return answers.filter(conversation__in=rows).select_related("conversation").first()


def position_after(conversation: Conversation, answer: Message) -> QuestionPosition:
    if conversation.leaf_id == answer.pk:
        return QuestionPosition(answer.pk)
    branching(conversation)
    return QuestionPosition(answer.pk, is_branch=True)
