"""What happens to feedback with its person, its conversation and its answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.accounts.buckets import of_person
from apps.feedback.models import Feedback


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """An answer as its person rates it. `transcript` is what would be sent along."""

    message: UUID
    conversation: UUID
    run: UUID | None
    application: int
    version: int | None
    transcript: Mapping[str, Any]
    is_temporary: bool = False
    """Its conversation is: nothing of what was said is sent along."""


def find(bucket: str, message: UUID) -> Feedback | None:
    return Feedback.objects.filter(bucket=bucket, message=message).first()


def row_of(bucket: str, answer: RatedAnswer) -> Feedback:
    """The row of the person for the answer, to be filled in; it may be a new one."""
    return find(bucket, answer.message) or Feedback(
        message=answer.message,
        conversation=answer.conversation,
        run=answer.run,
        application_id=answer.application,
        application_version=answer.version,
        bucket=bucket,
    )


def keep(row: Feedback, answer: RatedAnswer) -> None:
    """Store what the person has said now; operators find it as new again."""
    row.transcript = dict(answer.transcript) if row.shares_transcript else None
    row.state = Feedback.State.NEW
    row.save()


def remove(bucket: str, message: UUID) -> None:
    Feedback.objects.filter(bucket=bucket, message=message).delete()


def forget_conversation(conversation: UUID) -> None:
    """Delete what a deleted conversation said; ratings, reasons and comments stay."""
    Feedback.objects.filter(conversation=conversation).update(
        conversation=None, transcript=None, shares_transcript=False
    )


def hand_over(bucket: str, heir: str) -> None:
    """Let feedback of a browser be that of the person who signed in with it."""
    Feedback.objects.filter(bucket=bucket).update(bucket=heir)


def delete_of_user(sender: Any, instance: Any, **told: Any) -> None:
    """Receives Django's signal when an account is deleted."""
    Feedback.objects.filter(of_person(instance.pk)).delete()
