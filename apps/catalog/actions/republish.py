"""Publishes the live version again with the current predefined content."""

from django.contrib.auth.models import User
from django.db import transaction

from apps.catalog.actions.go_live import go_live, lock_application, read_note
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion
from apps.catalog.versions.definitions import definition_of
from apps.catalog.versions.publishing_requests import SecondPublisherRequired, is_required

CONTENT_AT_ONCE = (
    "This application needs a second publisher. Request publishing on its versions page; another "
    "user then publishes it with the current content."
)


def check(row: Application) -> None:
    """Raise `SecondPublisherRequired` if the application needs a second publisher."""
    if is_required(row):
        raise SecondPublisherRequired(CONTENT_AT_ONCE)


def execute(row: Application, note: str, *, user: User | None = None) -> ApplicationVersion:
    """Publish the live version again as a new version, and return it.

    Raises `ValidationError` with the errors in each field, or `SecondPublisherRequired` if the
    application needs a second publisher.
    """
    said = read_note(note)
    with transaction.atomic():
        row = lock_application(row)
        check(row)
        version = go_live(row, definition_of(row), said, user)
        drafts = ApplicationDraft.objects.filter(application=row.pk)
        drafts.filter(based_on=version.number - 1).update(based_on=version.number)
    return version
