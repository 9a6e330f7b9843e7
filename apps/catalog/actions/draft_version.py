"""Starts a draft with the content of an earlier version."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from apps.catalog.actions import save_draft
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion
from apps.catalog.versions.definitions import definition_of


def check(row: Application) -> None:
    """Raise `ValidationError` if the application already has a draft."""
    if ApplicationDraft.objects.filter(application=row.pk).exists():
        raise ValidationError("A draft already exists. Publish or discard it first.")


def execute(row: Application, version: ApplicationVersion, user: User | None) -> ApplicationDraft:
    """Store a draft with the content of the version. Raises `ValidationError`."""
    check(row)
    return save_draft.execute(row, definition_of(version).columns, 0, user, is_current=True)
