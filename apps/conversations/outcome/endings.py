"""Ends an answer: emits its last events, and stores it in the same transaction."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone, translation

from apps.accounts.languages import language_of_stored_caller
from apps.agent.progress import Progress
from apps.capabilities.todo.capability import TODO
from apps.conversations.branches import path
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.context_use import context_to_dict
from apps.conversations.outcome.figures import answer_usage, figures_of
from apps.conversations.outcome.memory_notes import memory_notes
from apps.conversations.outcome.read_files import files_read
from apps.conversations.outcome.transcript import Transcript
from apps.conversations.spoken import left_out_of
from apps.errors import QuickAppError, gettext_noop
from apps.live import leases, subagents
from apps.live.events import AnswerStored, RunFailed, StatusChanged, StreamEvent
from apps.live.history import run_rows
from apps.live.history.run_rows import RunFigures
from apps.live.journal import journal
from apps.live.journal.commits import Ending
from apps.live.models import Run
from apps.live.supervisor import RunOutcome
from apps.runs.failures import failure
from apps.runs.history import unseal

REASONS = {Run.Status.STOPPED: "stopped", Run.Status.FAILED: "error"}
"""The finish reasons of answers that the model did not complete, by the status of the run."""


class RunAbandoned(QuickAppError):
    code = "run_abandoned"
    text = gettext_noop("The server stopped while it was answering. Ask again.")


def conclude(run: Run, transcript: Transcript, progress: Progress, outcome: RunOutcome) -> Ending:
    """Return the run's `Ending`: its status, its last events, and a function that stores the
    answer.
    """
    answer = Message(
        conversation_id=run.stream,
        run=run,
        role=Message.Role.ASSISTANT,
        text=transcript.text,
        attachments=transcript.attachments,
        state=transcript.state,
        finish_reason=(REASONS.get(outcome.status) or transcript.finish_reason or "stop")[:50],
    )
    answer.usage = {
        **answer_usage(run, transcript, answer.created_at),
        **context_to_dict(progress),
    }
    events: list[StreamEvent] = [*transcript.close_stages()]
    reference = ""
    if outcome.error is not None:
        with translation.override(language_of_stored_caller(run.caller)):
            failed = run_failed(outcome.error)
        reference = failed.reference
        events.append(failed)
    events += answer_stored(answer), StatusChanged(outcome.status)
    figures = run_rows.figures_of(run, outcome.status, progress, reference)
    return Ending(outcome.status, tuple(events), partial(store, answer, figures))


def end_lost(run: Run) -> bool:
    """End a run that no process can resume, and store its answer so far.

    The run's status becomes failed or, if a user has requested a stop, stopped. Return False if
    another process ended the run first.
    """
    outcome = RunOutcome(Run.Status.FAILED, RunAbandoned())
    if run.is_stop_requested:
        outcome = RunOutcome(Run.Status.STOPPED)
    return end_row(run, leases.free(), outcome)


def stop_waiting(conversation: UUID) -> bool:
    """Stop the conversation's run if it is queued or waiting for a user, so that no process
    executes it. Return False if there is no such run.
    """
    resting = leases.waiting_or_queued().filter(stream=conversation)
    run = resting.first()
    return run is not None and end_row(run, resting, RunOutcome(Run.Status.STOPPED))


@transaction.atomic
def end_row(run: Run, rows: QuerySet[Run], outcome: RunOutcome) -> bool:
    """End the run and store its answer, if the query `rows` still selects the run. Otherwise,
    return False.
    """
    transcript = gather_transcript(run)
    ending = conclude(run, transcript, run_rows.recorded_progress(run), outcome)
    if not leases.close(rows.filter(pk=run.pk), ending.status):
        return False
    journal.add(run.stream, run.pk, ending.events, gap=journal.GAP)
    ending.store()
    transaction.on_commit(partial(mirror, run.stream))
    return True


def gather_transcript(run: Run) -> Transcript:
    """Rebuild the transcript of the run's answer so far from the journal."""
    transcript = Transcript()
    for event in journal.read_run(run.pk):
        transcript.apply(event)
    transcript.first_text_at = 0.0
    return transcript


def store(answer: Message, figures: RunFigures) -> None:
    """Store an answer and the summary row of its run, in the transaction that ends the run."""
    run_rows.write([figures])
    subagents.end_all(figures.id, figures.status)
    answer.pk = None  # If the transaction is retried, it must insert the row again.
    answer.parent = Message.objects.filter(run=figures.id, role=Message.Role.USER).first()
    answer.save(force_insert=True)
    row = Conversation.objects.filter(pk=answer.conversation_id)
    row.update(updated_at=timezone.now(), is_unread=True, leaf=answer)


def run_failed(error: BaseException) -> RunFailed:
    found = failure(error)
    # The page shows the reference separately.
    text = found.text.removesuffix(f" (error reference: {found.reference})")
    return RunFailed(text, found.reference)


def answer_stored(answer: Message) -> AnswerStored:
    return AnswerStored(
        {
            "id": str(answer.uuid),
            "role": answer.role,
            "text": answer.text,
            "attachments": answer.attachments,
            "finish_reason": answer.finish_reason,
            **figures_of(answer.usage),
            **({"left_out": names} if (names := left_out_of(answer.state)) else {}),
            **({"memories": notes} if (notes := memory_notes(answer.state)) else {}),
            **({"files_read": read} if (read := files_read(answer.state)) else {}),
            **({"todo": todo} if (todo := todo_of(answer.state)) else {}),
        }
    )


def todo_of(state: Mapping[str, Any]) -> str:
    """Return the to-do list in an answer's state, or "" if there is none."""
    found = unseal(state).get(TODO)
    return found if isinstance(found, str) else ""


def current_todo(conversation: Conversation) -> str:
    answers = (row for row in reversed(path(conversation)) if row.role == "assistant")
    return next((todo_of(row.state) for row in answers if row.state), "")
