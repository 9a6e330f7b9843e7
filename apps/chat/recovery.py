"""End the answers of processes that are gone, with what they had written down."""

from __future__ import annotations

from uuid import UUID

from apps.chat.endings import conclude
from apps.chat.transcript import Transcript
from apps.errors import RunAbandoned
from apps.live import journal
from apps.live.models import Run
from apps.live.supervisor import RunOutcome


def end_abandoned(conversation: UUID) -> bool:
    """Mark the conversation's run as failed if its process is gone; False when there is none."""
    run = journal.abandoned(conversation).first()
    if run is None:
        return False
    transcript = Transcript()
    transcript.replay(journal.read_run(conversation, run.pk))
    ending = conclude(run, transcript, RunOutcome(Run.Status.FAILED, RunAbandoned()))
    return journal.finish_abandoned(run, ending)
