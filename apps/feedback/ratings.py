"""Stores and deletes users' feedback on answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from apps.accounts.caller import Caller, of_person
from apps.feedback.models import Feedback


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """An answer that a user rates. `transcript` is the copy that the user can share with operators."""

    message: UUID
    conversation: UUID
    run: UUID | None
    application: int
    version: int | None
    transcript: Mapping[str, Any]
    is_temporary: bool = False
    """True if the conversation is temporary, so that no transcript may be stored."""


def find(bucket: str, message: UUID) -> Feedback | None:
    return Feedback.objects.filter(bucket=bucket, message=message).first()


def row_of(bucket: str, answer: RatedAnswer) -> Feedback:
    """Return the user's feedback on the answer, or a new unsaved row."""
    return find(bucket, answer.message) or Feedback(
        message=answer.message,
        conversation=answer.conversation,
        run=answer.run,
        application_id=answer.application,
        application_version=answer.version,
        bucket=bucket,
    )


def store_feedback(row: Feedback, answer: RatedAnswer) -> None:
    """Store the feedback, and mark it as new for operators."""
    row.transcript = dict(answer.transcript) if row.shares_transcript else None
    row.state = Feedback.State.NEW
    row.save()


def find_all(caller: Caller) -> QuerySet[Feedback]:
    """Return the caller's feedback on applications that the caller can use."""
    rows = Feedback.objects.filter(bucket=caller.bucket)
    scope = caller.limits.scope
    return rows if scope is None else rows.filter(application__in=scope)


def forget_conversation(sender: Any, instance: Any, **options: Any) -> None:
    """Delete the transcripts of a deleted conversation. Ratings, reasons and comments remain."""
    Feedback.objects.filter(conversation=instance.pk).update(
        conversation=None, transcript=None, shares_transcript=False
    )


def transfer_feedback(bucket: str, heir: str) -> None:
    """Assign a visitor's feedback to the user who has signed in with the same browser."""
    Feedback.objects.filter(bucket=bucket).update(bucket=heir)


def delete_feedback_of_user(sender: Any, instance: Any, **options: Any) -> None:
    Feedback.objects.filter(of_person(instance.pk)).delete()
