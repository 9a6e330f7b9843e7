"""The end of an answer: the events that viewers see, and the message that is stored with them."""

from functools import partial
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.agent.events import Usage
from apps.chat.models import Conversation, Message
from apps.chat.protocol import run_status, storable
from apps.chat.transcript import Transcript
from apps.errors import RunAbandoned
from apps.live import journal
from apps.live.journal import Ending
from apps.live.models import Run
from apps.live.supervisor import RunOutcome
from apps.runs.failures import failure

REASONS = {Run.Status.STOPPED: "stopped", Run.Status.FAILED: "error"}
"""The finish reason of an answer that the model did not finish."""


def conclude(run: Run, transcript: Transcript, outcome: RunOutcome) -> Ending:
    """The ending of a run, with as much of its answer as there is."""
    answer = Message(
        conversation_id=run.stream,
        run=run,
        role=Message.Role.ASSISTANT,
        text=transcript.text,
        attachments=transcript.attachments,
        state=storable(transcript.state),
        usage=usage_to_dict(transcript.usage),
        finish_reason=(REASONS.get(outcome.status) or transcript.finish_reason or "stop")[:50],
    )
    events = [*transcript.close_stages()]
    if outcome.error is not None:
        events.append(run_error(outcome.error))
    events += message_complete(run, answer), run_status(outcome.status)
    return Ending(outcome.status, tuple(events), partial(store, answer))


def end_abandoned(conversation: UUID) -> bool:
    """Fail the conversation's run if its process is gone, and store what is in the journal.

    False when there is no such run.
    """
    run = journal.abandoned(conversation).first()
    if run is None:
        return False
    transcript = Transcript()
    for event in journal.read_run(conversation, run.pk):
        transcript.take(event)
    ending = conclude(run, transcript, RunOutcome(Run.Status.FAILED, RunAbandoned()))
    return journal.finish_abandoned(run, ending)


def store(answer: Message) -> None:
    """Save an answer in the transaction that ends its run."""
    answer.pk = None  # a repeated transaction inserts it anew
    answer.save(force_insert=True)
    Conversation.objects.filter(pk=answer.conversation_id).update(updated_at=timezone.now())


def run_error(error: BaseException) -> dict[str, Any]:
    found = failure(error)
    # The page shows the reference beside the text.
    text = found.text.removesuffix(f" (error reference: {found.reference})")
    return {"type": "run.error", "text": text, "reference": found.reference}


def message_complete(run: Run, answer: Message) -> dict[str, Any]:
    seconds = (answer.created_at - run.started_at).total_seconds()
    return {
        "type": "message.complete",
        "message": {
            "id": str(answer.uuid),
            "role": answer.role,
            "text": answer.text,
            "attachments": answer.attachments,
            "finish_reason": answer.finish_reason,
            "usage": {
                "prompt_tokens": answer.usage["prompt_tokens"],
                "completion_tokens": answer.usage["completion_tokens"],
            },
            "seconds": round(max(seconds, 0.0), 3),
        },
    }


def usage_to_dict(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "per_model": [
            {
                "model": item.model,
                "prompt_tokens": item.input,
                "completion_tokens": item.output,
            }
            for item in usage.per_model
        ],
    }
