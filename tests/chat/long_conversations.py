"""Conversations of thousands of messages, as their runs would have stored them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from uuid import UUID, uuid4

from django.utils import timezone

from apps.agent.context.token_estimates import ContextUse
from apps.agent.events import StageClosed, StageDelta, StageOpened, TextDelta
from apps.conversations.asking.questions import question_added
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.context_use import CONTEXT
from apps.live.events import AnswerStored, StatusChanged, StreamEvent
from apps.live.journal.journal import entry_of
from apps.live.models import JournalEntry, Run

TOKENS = {"prompt_tokens": 20, "completion_tokens": 20}


def answer_text(number: int) -> str:
    return f"Answer number {number} with **strong words**.\n\nA second paragraph of it."


def add_turns(
    conversation: Conversation, count: int, text: Callable[[int], str] = answer_text, step: str = ""
) -> list[UUID]:
    """Store `count` answered questions, each with a step if it has one. Return their runs."""
    runs: list[Run] = []
    messages: list[Message] = []
    entries: list[JournalEntry] = []
    first = 1
    for number in range(count):
        run = Run(
            stream=conversation.pk,
            request=uuid4(),
            application=str(conversation.application and conversation.application.slug),
            bucket=conversation.owner,
            status=Run.Status.DONE,
            finished_at=timezone.now(),
        )
        asked = Message(
            conversation=conversation, run=run, role="user", text=f"Question number {number}"
        )
        answered = Message(
            conversation=conversation,
            run=run,
            role="assistant",
            text=text(number),
            finish_reason="stop",
            usage={**TOKENS, CONTEXT: asdict(ContextUse(user=20, assistant=60))},
        )
        for events in events_of(asked, answered, step):
            entries.append(entry_of(conversation.pk, run.pk, first, events))
            first = entries[-1].last + 1
        runs.append(run)
        messages += [asked, answered]
    Run.objects.bulk_create(runs, batch_size=500)
    Message.objects.bulk_create(messages, batch_size=500)
    JournalEntry.objects.bulk_create(entries, batch_size=500)
    return [run.pk for run in runs]


def events_of(asked: Message, answered: Message, step: str) -> list[list[StreamEvent]]:
    """Return the events of a run as the three rows in which it stores them."""
    half = len(answered.text) // 2
    stored = {"id": str(answered.uuid), "role": "assistant", "text": answered.text}
    worked: list[StreamEvent] = [
        StageOpened("1", "Looking", None),
        StageDelta("1", step),
        StageClosed("1", 0.2, False),
    ]
    return [
        [question_added(asked), StatusChanged("running")],
        [*(worked if step else ()), TextDelta(answered.text[:half])],
        [
            TextDelta(answered.text[half:]),
            AnswerStored({**stored, "finish_reason": "stop", "attachments": []}),
            StatusChanged("done"),
        ],
    ]
