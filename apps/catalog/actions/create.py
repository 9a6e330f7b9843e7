"""Stores a new application that has only a draft. Users can call it after it is published."""

from django.contrib.auth.models import User
from django.db import transaction

from apps.catalog.actions import save_draft
from apps.catalog.models import Application, ApplicationDraft


def check(row: Application) -> None:
    """Raise `ValidationError` if the new application has invalid fields or its slug is in use."""
    row.clean_fields(exclude=["manifest", "owner"])
    row.validate_unique()


def execute(row: Application, user: User | None) -> ApplicationDraft:
    """Store the new application with its draft, and return the draft. Raises `ValidationError` if a
    field is invalid or the slug is in use.
    """
    row.is_enabled = False
    written, row.manifest = row.manifest, {}
    check(row)
    with transaction.atomic():
        row.save()
        return save_draft.execute(row, {"manifest": written}, None, user)
