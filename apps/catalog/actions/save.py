"""Saves an application without a draft. Changes to its definition are published immediately."""

from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.versions.definitions import definition_of
from apps.catalog.versions.publishing_requests import AT_ONCE, SecondPublisherRequired, is_required
from apps.catalog.versions.version_recorder import save_live


def check(row: Application) -> None:
    """Raise `SecondPublisherRequired` if saving would publish an application that needs a second
    publisher.

    The rule applies if either the stored or the new values require it. Otherwise, a user could
    disable it and publish in a single save.
    """
    stored = Application.objects.filter(pk=row.pk).first() if row.pk else None
    if not (is_required(row) or (stored is not None and is_required(stored))):
        return
    if stored is None or definition_of(stored) != definition_of(row):
        raise SecondPublisherRequired(AT_ONCE)


def execute(row: Application) -> ApplicationVersion | None:
    """Save an application that has passed its checks. Return the new version, or None if only
    properties changed that are not part of a version.

    Raises `SecondPublisherRequired` under the same conditions as `check`.
    """
    check(row)
    return save_live(row)
