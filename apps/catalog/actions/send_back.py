"""Returns a publishing request to its author with a comment."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from apps.catalog.actions.go_live import lock_application
from apps.catalog.models import Application, PublishingRequest
from apps.catalog.versions.drafts import draft_of
from apps.catalog.versions.publishing_requests import open_request, record_event

LONGEST_WORDS = 2000


def check(words: str) -> None:
    """Raise `ValidationError` if the comment is empty or too long."""
    if not words:
        raise ValidationError({"words": "Enter what needs to change."})
    if len(words) > LONGEST_WORDS:
        raise ValidationError(
            {"words": (f"The text is too long; the limit is {LONGEST_WORDS} characters.")}
        )


def execute(row: Application, words: str, user: User, *, address: str = "") -> PublishingRequest:
    """Send the application's open publishing request back to its author with the comment `words`.
    Raises `ValidationError` if the comment is invalid or no request is open.
    """
    said = words.replace("\0", "").strip()
    check(said)
    with transaction.atomic():
        row = lock_application(row)
        found = open_request(draft_of(row))
        if found is None:
            raise ValidationError("The request to publish this draft was withdrawn.")
        found.returned_name, found.returned_words = user.get_username(), said
        found.returned_at = timezone.now()
        found.save()
        record_event("publishing.returned", row, user, address)
    return found
