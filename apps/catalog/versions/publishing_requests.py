"""Enforces publishing by two users: one requests publication, and another publishes."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models

from apps.accounts import audit
from apps.accounts.caller import bucket_of
from apps.catalog.models import Application, ApplicationDraft, PublishingRequest
from apps.catalog.versions.definitions import definition_of

TWO_PEOPLE = "needs_second_publisher"
"""The column of an application that stores whether two users must publish it."""

AT_ONCE = (
    "This application needs a second publisher. Save your change as a draft and request publishing; "
    "another user then publishes it."
)


class SecondPublisherRequired(ValidationError):
    """Raised if this user may not publish the application alone: another user must publish it,
    possibly after a publishing request.
    """


def is_required(row: Application) -> bool:
    return settings.REQUIRE_SECOND_PUBLISHER or row.needs_second_publisher


def request_of(draft: ApplicationDraft) -> PublishingRequest | None:
    """Return the open or returned publishing request for the draft, or None."""
    if not draft.pk:
        return None
    return PublishingRequest.objects.filter(draft=draft.pk).first()


def open_request(draft: ApplicationDraft) -> PublishingRequest | None:
    found = request_of(draft)
    is_meant = found is not None and found.is_open and found.digest == definition_of(draft).digest
    return found if is_meant else None


def is_editor(draft: ApplicationDraft, user: Any) -> bool:
    """Return True if the user has changed this draft."""
    return draft.author_id == user.pk or draft.editors.filter(pk=user.pk).exists()


def publishing_refusal(row: Application, draft: ApplicationDraft, user: Any) -> str:
    """Return why this user cannot publish an application that two users must publish, or ""."""
    if not is_required(row):
        return ""
    found = open_request(draft)
    if found is None:
        return "This application needs a second publisher. Request publishing of the current draft first."
    if user is None or found.person_id == user.pk or is_editor(draft, user):
        return (
            "This application needs a second publisher. You changed this draft or requested its "
            "publishing, so another user must publish it."
        )
    return ""


def requests_to_grant(user: Any) -> models.Q:
    """Return a filter for the open publishing requests that this user can grant. It excludes the
    user's own requests, and drafts that the user has changed.
    """
    own = models.Q(person=user) | models.Q(draft__author=user)
    edited = ApplicationDraft.editors.through.objects.filter(user=user).values("applicationdraft")
    return models.Q(returned_at=None) & ~own & ~models.Q(draft__in=edited)


def record_event(
    event: audit.Event, row: Application, user: Any, address: str, subject: str = ""
) -> None:
    actor = bucket_of(user.pk) if user is not None else ""
    audit.record(audit.AuditEvent(event, actor, address, row.slug, subject=subject))


def audit_rule(row: Application, user: Any, address: str) -> None:
    """Record in the audit log whether the application now needs two users to publish it."""
    subject = "two people" if row.needs_second_publisher else "one person"
    record_event("publishing.rule_changed", row, user, address, subject)
