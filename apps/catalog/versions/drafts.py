"""Reads the draft of an application. The first change creates it, and publishing deletes it."""

from collections.abc import Mapping
from copy import copy
from typing import Any

from django.contrib.auth.models import User

from apps.accounts.persons import display_name
from apps.catalog.models import Application, ApplicationDraft
from apps.catalog.versions.definitions import definition_of
from apps.datetimes import time_ago


class DraftOvertaken(Exception):
    """Raised if another user saved the draft in the meantime. `draft` is the saved draft, or None
    if it was published or discarded.

    The message for `user`, whose edit is rejected, names the user who saved the draft.
    """

    def __init__(self, draft: ApplicationDraft | None, user: User | None = None) -> None:
        super().__init__(last_save(draft, user))
        self.draft = draft


def last_save(draft: ApplicationDraft | None, user: User | None) -> str:
    """Return a sentence for `user`, such as `Anna Berg saved this draft 2 minutes ago.`"""
    author = draft.author if draft is not None else None
    if draft is None or author is None:
        return "Another user saved this draft while you were editing it."
    if author == user:
        return f"You saved this draft {time_ago(draft.updated_at)}, in another tab or program."
    name = display_name(author)
    return f"{name} saved this draft {time_ago(draft.updated_at)}."


def check_seen(draft: ApplicationDraft, seen: int | None, user: User | None) -> None:
    """Raise `DraftOvertaken` if `seen`, the version of the draft that the user edited, is outdated.
    None skips the check.
    """
    if seen is not None and seen != draft.version:
        raise DraftOvertaken(draft if draft.pk else None, user)


def draft_of(row: Application) -> ApplicationDraft:
    """Return the application's draft, or an unsaved draft (version 0) with the live values."""
    stored = ApplicationDraft.objects.filter(application=row.pk).first()
    if stored is not None:
        return stored
    return ApplicationDraft(application=row, based_on=row.live_number, **definition_of(row).columns)


def with_draft(draft: ApplicationDraft) -> Application:
    """Return an unsaved copy of the application with the draft's values, except its skills."""
    return as_written(draft.application, definition_of(draft).columns)


def as_written(row: Application, values: Mapping[str, Any]) -> Application:
    """Return an unsaved copy of the application with new `values` by column."""
    written = copy(row)
    for name, value in values.items():
        setattr(written, name, value)
    return written
