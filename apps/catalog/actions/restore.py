"""Publishes an earlier version of an application again. The new version has the same predefined
content as the earlier version.
"""

from django.contrib.auth.models import User
from django.db import transaction

from apps.catalog.actions.go_live import go_live, lock_application, read_note
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.versions.definitions import definition_of
from apps.catalog.versions.publishing_requests import SecondPublisherRequired, is_required

RESTORED_AT_ONCE = (
    "This application needs a second publisher. Make the version the draft, and request publishing."
)


def check(row: Application) -> None:
    """Raise `SecondPublisherRequired` if the application needs a second publisher."""
    if is_required(row):
        raise SecondPublisherRequired(RESTORED_AT_ONCE)


def execute(
    row: Application, number: int, note: str, *, user: User | None = None
) -> ApplicationVersion:
    """Publish version `number` again as a new version, and return it.

    Raises `ValidationError` with the errors in each field, `SecondPublisherRequired` if the
    application needs a second publisher, and `ApplicationVersion.DoesNotExist`.
    """
    said = read_note(note)
    with transaction.atomic():
        row = lock_application(row)
        check(row)
        earlier = row.versions.get(number=number)
        return go_live(row, definition_of(earlier), said, user, snapshot=earlier.snapshot)
