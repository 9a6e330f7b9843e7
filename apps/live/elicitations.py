"""Asks the user questions during a running tool call, and waits for the answers.

The process that receives an answer stores it in the database. The process that executes the call
then adds the answer to the journal, because only that process writes the run's journal.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

from channels.db import database_sync_to_async
from django.utils import timezone

from apps.agent.events import InteractionRequested
from apps.agent.ledger import InteractionRequest as Asked
from apps.live.events import InteractionResolved, storable_value
from apps.live.journal.notifications import watch_answers
from apps.live.journal.run_record import RunRecord
from apps.live.models import LONGEST_KEY, Interaction, Run

CHECK_SECONDS = 2.0
"""The interval in seconds at which a waiting call checks the database. Checks are needed because
the notification about an answer can be lost.
"""
TIMEOUT: Mapping[str, Any] = {"outcome": "timeout"}
LOST: Mapping[str, Any] = {"outcome": "lost"}
YOU = "you"
"""The name that a conversation shows next to answers from its owner."""
BY = "by"
"""The key for the answering user's name in a stored answer."""


async def ask_during_call(record: RunRecord, question: Asked) -> Mapping[str, Any]:
    """Show the question to the user, and return the answer. Afterwards, only the outcome of the
    answer remains stored. If the call is canceled or the process ends, the outcome is `lost`.
    """
    row = question_row(record, question)
    await database_sync_to_async(row.save)(force_insert=True)
    due = None if row.due_at is None else row.due_at.timestamp()
    shown = replace(question, key=row.key, asked=row.asked)
    record.say(InteractionRequested(shown, due))
    answer = LOST
    try:
        async with watch_answers(record.log.run) as heard:
            answer = await await_answer(row, heard)
    finally:
        outcome = {"outcome": answer["outcome"]}
        by = str(answer.get(BY, ""))
        record.say(InteractionResolved(row.key, row.kind, outcome, by, time.time()))
        await database_sync_to_async(close)(row, outcome)
    return answer


def question_row(record: RunRecord, question: Asked) -> Interaction:
    # A call can ask several questions, and ask them again when another process repeats it.
    key = f"{storable_value(question.key)[: LONGEST_KEY - 20]}/e:{uuid4().hex[:12]}"
    return Interaction(
        run_id=record.log.run,
        key=key,
        kind=question.kind,
        asked=storable_value(question.asked),
        due_at=timezone.now() + timedelta(seconds=question.seconds or 0),
    )


async def await_answer(row: Interaction, heard: asyncio.Event) -> Mapping[str, Any]:
    while True:
        heard.clear()
        found: Mapping[str, Any] | None = await database_sync_to_async(read_answer)(row)
        if found is not None:
            return found
        left = (
            CHECK_SECONDS if row.due_at is None else (row.due_at - timezone.now()).total_seconds()
        )
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, min(left, CHECK_SECONDS))):
                await heard.wait()


def read_answer(row: Interaction) -> Mapping[str, Any] | None:
    """Return the stored answer, `TIMEOUT` or `LOST`, or None while the question is open."""
    rows = Interaction.objects.filter(pk=row.pk)
    if row.due_at is not None and timezone.now() >= row.due_at:
        rows.filter(answer__isnull=True).update(answer=TIMEOUT)
    found = rows.first()
    # The row no longer exists if the conversation was deleted.
    answer: Mapping[str, Any] | None = LOST if found is None else found.answer
    return answer


def close(row: Interaction, outcome: Mapping[str, Any]) -> None:
    """Close a question. Only the outcome is stored, because the rest of the answer is only for the
    MCP server.
    """
    Interaction.objects.filter(pk=row.pk).update(answer=outcome, due_at=None)


def end_lost_questions(run: Run) -> list[InteractionResolved]:
    """Close the open questions of a run whose process has ended, because answers can no longer
    reach the calls that asked. Return the events that report this to viewers.
    """
    rows = Interaction.objects.filter(run=run, kind="elicitation", due_at__isnull=False)
    keys = list(rows.values_list("key", flat=True))
    rows.update(answer=LOST, due_at=None)
    now = time.time()
    return [InteractionResolved(key, "elicitation", LOST, "", now) for key in keys]
