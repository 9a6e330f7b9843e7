"""Publishes a definition as a new version, for the actions that publish, republish and restore."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from apps.catalog.actions.save_rules import Circumstances, check_row
from apps.catalog.extraction import extract
from apps.catalog.history.actors import ChangeNote, noting
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.versions.definitions import ApplicationDefinition
from apps.catalog.versions.models import ContentSnapshot
from apps.catalog.versions.version_recorder import save_live
from apps.listeners import Listeners

LONGEST_NOTE = 300
NOTE_MISSING = "Enter a note that describes the changes."

checks = Listeners[[Application], Sequence[str]]("the publication of an application")
"""Each listener returns sentences that explain why an application must not be published."""


def go_live(
    row: Application,
    definition: ApplicationDefinition,
    note: str,
    user: User | None,
    *,
    snapshot: ContentSnapshot | None = None,
) -> ApplicationVersion:
    """Publish the definition as the application's next version. The caller must have locked the
    application's row. Raises `ValidationError` if a check fails.
    """
    live, skills = row.manifest, definition.skills
    for name, value in definition.columns.items():
        setattr(row, name, value)
    check_row(row, Circumstances(skills=skills, is_published=True))
    if problems := [problem for found in checks.call(row) for problem in found]:
        raise ValidationError({"__all__": problems})
    row.manifest = extract(row.manifest, [live], user=user).document
    row.is_enabled = row.is_enabled or row.live_number == 0
    with noting(ChangeNote(note)):
        version = save_live(row, note=note, skills=skills, snapshot=snapshot)
    assert version is not None  # noqa: S101 with a note there is one
    return version


def lock_application(row: Application) -> Application:
    return Application.objects.select_for_update(of=("self",)).get(pk=row.pk)


def read_note(note: str) -> str:
    """Return the note about a version or publishing request, with all whitespace collapsed. Raises
    `ValidationError` if the note is empty or too long.
    """
    said = " ".join(note.replace("\0", " ").split())
    if not said:
        raise ValidationError({"note": NOTE_MISSING})
    if len(said) > LONGEST_NOTE:
        raise ValidationError(
            {"note": (f"The note is too long; the limit is {LONGEST_NOTE} characters.")}
        )
    return said
