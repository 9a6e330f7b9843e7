"""Publishing by two people: whoever changed a draft asks, and somebody else publishes it."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone

from apps.accounts import audit
from apps.accounts.buckets import bucket_of
from apps.catalog.models import Application, ApplicationDraft, PublishingRequest
from apps.catalog.versions.drafts import (
    WRITTEN,
    DraftOvertaken,
    digest_of_draft,
    draft_of,
    save_draft,
)
from apps.catalog.versions.version_notes import read_note

LONGEST_WORDS = 2000
TWO_PEOPLE = "needs_second_publisher"
"""The column of the option."""

AT_ONCE = (
    "Two people publish this application. Save your change as a draft and request publishing; "
    "somebody else publishes it."
)


class SecondPublisherRequired(ValidationError):
    """Another person has to publish, or nobody has asked for it yet."""


def is_required(row: Application) -> bool:
    return settings.REQUIRE_SECOND_PUBLISHER or row.needs_second_publisher


def refuse_at_once(row: Application) -> None:
    """Raise `SecondPublisherRequired` if saving the row would publish it, and that takes two people.

    The stored row counts as well, so that one save cannot lift the rule and publish.
    """
    stored = Application.objects.filter(pk=row.pk).first() if row.pk else None
    if not (is_required(row) or (stored is not None and is_required(stored))):
        return
    if stored is None or any(getattr(stored, name) != getattr(row, name) for name in WRITTEN):
        raise SecondPublisherRequired(AT_ONCE)


def request_of(draft: ApplicationDraft) -> PublishingRequest | None:
    """The request of a draft, open or sent back."""
    if not draft.pk:
        return None
    return PublishingRequest.objects.filter(draft=draft.pk).first()


def open_request(draft: ApplicationDraft) -> PublishingRequest | None:
    found = request_of(draft)
    is_meant = found is not None and found.is_open and found.digest == digest_of_draft(draft)
    return found if is_meant else None


def is_editor(draft: ApplicationDraft, user: Any) -> bool:
    """Whether somebody has changed the draft since what is live."""
    return draft.author_id == user.pk or draft.editors.filter(pk=user.pk).exists()


def publishing_refusal(row: Application, draft: ApplicationDraft, user: Any) -> str:
    """Why this person cannot publish the draft where two people are needed; "" if they can."""
    if not is_required(row):
        return ""
    found = open_request(draft)
    if found is None:
        return (
            "Two people publish this application. Nobody has requested publishing of the draft as "
            "it is now: request it first."
        )
    if user is None or found.person_id == user.pk or is_editor(draft, user):
        return (
            "Two people publish this application. You changed this draft or requested its "
            "publishing, so somebody else has to publish it."
        )
    return ""


def request_publishing(
    row: Application, note: str, user: User, *, seen: int | None = None, address: str = ""
) -> PublishingRequest:
    """Ask somebody else to publish the draft; without one, what is live with the content of now.

    `seen` is the version of the draft that was looked at. Raises `ValidationError`, and
    `DraftOvertaken`.
    """
    said = read_note(note)
    with transaction.atomic():
        row = Application.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if not is_required(row):
            raise ValidationError("One person publishes this application; nobody has to ask.")
        draft = draft_of(row)
        if seen is not None and seen != draft.version:
            raise DraftOvertaken(draft if draft.pk else None, user)
        if not draft.pk:
            draft = save_draft(row, {}, None, user)
        PublishingRequest.objects.filter(draft=draft).delete()
        found = PublishingRequest.objects.create(
            draft=draft,
            person=user,
            person_name=user.get_username(),
            note=said,
            digest=digest_of_draft(draft),
        )
        record("publishing.requested", row, user, address)
    return found


def send_back(row: Application, words: str, user: User, *, address: str = "") -> PublishingRequest:
    """Answer an open request with words instead of a version. Raises `ValidationError`."""
    said = words.replace("\0", "").strip()
    if not said:
        raise ValidationError({"words": "Say what has to change first."})
    if len(said) > LONGEST_WORDS:
        raise ValidationError({"words": f"Write at most {LONGEST_WORDS} characters."})
    with transaction.atomic():
        row = Application.objects.select_for_update(of=("self",)).get(pk=row.pk)
        found = open_request(draft_of(row))
        if found is None:
            raise ValidationError("Nobody requests publishing of this draft any more.")
        found.returned_name, found.returned_words = user.get_username(), said
        found.returned_at = timezone.now()
        found.save()
        record("publishing.returned", row, user, address)
    return found


def waiting_for(user: Any) -> models.Q:
    """Limits requests to those that this person could answer: others asked and changed the draft."""
    own = models.Q(person=user) | models.Q(draft__author=user)
    edited = ApplicationDraft.editors.through.objects.filter(user=user).values("applicationdraft")
    return models.Q(returned_at=None) & ~own & ~models.Q(draft__in=edited)


def record(
    event: audit.Event, row: Application, user: Any, address: str, subject: str = ""
) -> None:
    actor = bucket_of(user.pk) if user is not None else ""
    audit.record(audit.AuditEvent(event, actor, address, row.slug, subject=subject))


def audit_rule(row: Application, user: Any, address: str) -> None:
    """Write down that the option of an application is another one now."""
    subject = "two people" if row.needs_second_publisher else "one person"
    record("publishing.rule_changed", row, user, address, subject)
