"""Requests that another user publish a draft, for applications that two users must publish."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from apps.catalog.actions import save_draft
from apps.catalog.actions.go_live import lock_application, read_note
from apps.catalog.models import Application, PublishingRequest
from apps.catalog.versions.definitions import definition_of
from apps.catalog.versions.drafts import check_seen, draft_of
from apps.catalog.versions.publishing_requests import is_required, record_event


def check(row: Application) -> None:
    """Raise `ValidationError` if a single user may publish the application."""
    if not is_required(row):
        raise ValidationError(
            "This application does not require a second user to publish it. Publish it directly."
        )


def execute(
    row: Application, note: str, user: User, *, seen: int | None = None, address: str = ""
) -> PublishingRequest:
    """Store a request that another user publish the draft. Without a draft, request that the live
    version be published again with the current predefined content.

    `seen` is the version of the draft that the user reviewed. Raises `DraftOvertaken` if the draft
    has changed since, and `ValidationError` if the note is invalid or no request is needed.
    """
    said = read_note(note)
    with transaction.atomic():
        row = lock_application(row)
        check(row)
        draft = draft_of(row)
        check_seen(draft, seen, user)
        if not draft.pk:
            draft = save_draft.execute(row, {}, None, user)
        PublishingRequest.objects.filter(draft=draft).delete()
        found = PublishingRequest.objects.create(
            draft=draft,
            person=user,
            person_name=user.get_username(),
            note=said,
            digest=definition_of(draft).digest,
        )
        record_event("publishing.requested", row, user, address)
    return found
