"""Starts a draft of an application from one of its earlier versions."""

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
    """Store and return a draft with the content of the version. Raises `ValidationError` if the
    application already has a draft.
    """
    check(row)
    return save_draft.execute(row, definition_of(version).columns, 0, user, is_current=True)
