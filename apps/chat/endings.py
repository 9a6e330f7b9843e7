"""The end of an answer: the events that viewers see, and the message that is stored with them."""

from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone, translation

from apps.agent.progress import Progress
from apps.chat.context_use import context_to_dict
from apps.chat.figures import figures_of, usage_of
from apps.chat.languages import language_of_kept
from apps.chat.left_out import left_out_of
from apps.chat.memory_notes import memory_notes
from apps.chat.mirror import mirror
from apps.chat.models import Conversation, Message
from apps.chat.read_files import files_read
from apps.chat.todo import todo_of
from apps.chat.transcript import Transcript
from apps.errors import RunAbandoned
from apps.live import helpers, journal, leases, summaries
from apps.live.commits import Ending
from apps.live.events import AnswerStored, RunFailed, StatusChanged, StreamEvent
from apps.live.models import Run
from apps.live.summaries import RunFigures
from apps.live.supervisor import RunOutcome
from apps.runs.failures import failure

REASONS = {Run.Status.STOPPED: "stopped", Run.Status.FAILED: "error"}
"""The finish reason of an answer that the model did not finish."""


def conclude(run: Run, transcript: Transcript, progress: Progress, outcome: RunOutcome) -> Ending:
    """The ending of a run, with as much of its answer as there is."""
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
        **usage_of(run, transcript, answer.created_at),
        **context_to_dict(progress),
    }
    events: list[StreamEvent] = [*transcript.close_stages()]
    reference = ""
    if outcome.error is not None:
        with translation.override(language_of_kept(run.caller)):
            failed = run_failed(outcome.error)
        reference = failed.reference
        events.append(failed)
    events += answer_stored(answer), StatusChanged(outcome.status)
    figures = summaries.figures_of(run, outcome.status, progress, reference)
    return Ending(outcome.status, tuple(events), partial(store, answer, figures))


def end_lost(run: Run) -> bool:
    """End a run that nobody goes on with, and store what is in the journal: it fails, unless it was
    to be stopped. False when another process was quicker.
    """
    outcome = RunOutcome(Run.Status.FAILED, RunAbandoned())
    if run.is_stop_requested:
        outcome = RunOutcome(Run.Status.STOPPED)
    return end_row(run, leases.free(), outcome)


def stop_waiting(conversation: UUID) -> bool:
    """Stop a run that no process works on; False when there is none."""
    resting = leases.resting().filter(stream=conversation)
    run = resting.first()
    return run is not None and end_row(run, resting, RunOutcome(Run.Status.STOPPED))


@transaction.atomic
def end_row(run: Run, rows: QuerySet[Run], outcome: RunOutcome) -> bool:
    """End a run that is still among `rows`."""
    transcript = gathered(run)
    ending = conclude(run, transcript, summaries.recorded_progress(run), outcome)
    if not leases.close(rows.filter(pk=run.pk), ending.status):
        return False
    journal.add(run.stream, run.pk, ending.events, gap=journal.GAP)
    ending.store()
    transaction.on_commit(partial(mirror, run.stream))
    return True


def gathered(run: Run) -> Transcript:
    """What the journal has of the answer."""
    transcript = Transcript()
    for event in journal.read_run(run.pk):
        transcript.take(event)
    transcript.first_text_at = 0.0
    return transcript


def store(answer: Message, figures: RunFigures) -> None:
    """Save an answer and the row that stays of its run, in the transaction that ends the run."""
    summaries.write([figures])
    helpers.end_all(figures.id, figures.status)
    answer.pk = None  # a repeated transaction inserts it anew
    answer.parent = Message.objects.filter(run=figures.id, role=Message.Role.USER).first()
    answer.save(force_insert=True)
    row = Conversation.objects.filter(pk=answer.conversation_id)
    row.update(updated_at=timezone.now(), is_unread=True, leaf=answer)


def run_failed(error: BaseException) -> RunFailed:
    found = failure(error)
    # The page shows the reference beside the text.
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
