"""Drafts become versions, versions are restored and withdrawn, applications are archived."""

from collections.abc import Callable, Sequence

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.catalog.application_files.parts import save_skills
from apps.catalog.extraction import extract
from apps.catalog.history.actors import Note, noting
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion
from apps.catalog.versions.drafts import WRITTEN, draft_of
from apps.catalog.versions.publishing_requests import (
    SecondPublisherRequired,
    is_required,
    publishing_refusal,
    record,
)
from apps.catalog.versions.recorder import Publication, live_version
from apps.catalog.versions.version_notes import read_note

CONTENT_AT_ONCE = (
    "Two people publish this application. Request publishing on its page of versions; somebody else "
    "publishes it with the content of now."
)
RESTORED_AT_ONCE = (
    "Two people publish this application. Make the version the draft, and request publishing."
)

ARCHIVING = ("archived_at", "is_enabled", "updated_at")

PublicationCheck = Callable[[Application], Sequence[str]]
"""Tells in sentences why an application must not be published as it is given."""
checks: list[PublicationCheck] = []

KeepVersion = Callable[[Application, int], None]
"""Is told an application, and the number that what was begun until now stays with."""
keepers: list[KeepVersion] = []


class DraftOutdated(ValidationError):
    """Another version went live since the draft was begun."""

    def __init__(self, live: int, based_on: int) -> None:
        super().__init__(
            f"Version {live} was published after this draft was begun from version {based_on}. "
            "Compare them, then take its changes over or publish the draft instead of them."
        )


def publish(
    row: Application,
    note: str,
    *,
    user: User | None = None,
    only_new: bool = False,
    is_over: bool = False,
    address: str = "",
) -> ApplicationVersion:
    """Make a version of the draft; without one, of what is live with the content of now.

    `only_new`: conversations that have begun stay with the version that was live. `is_over`: also
    if another version went live since the draft was begun. `address` is for the audit. Raises
    `ValidationError` by fields, `DraftOutdated` and `SecondPublisherRequired`.
    """
    said = read_note(note)
    with transaction.atomic():
        row = locked(row)
        draft = draft_of(row)
        if draft.based_on != row.live_number and not is_over:
            raise DraftOutdated(row.live_number, draft.based_on)
        if refused := publishing_refusal(row, draft, user):
            raise SecondPublisherRequired(refused)
        before = row.live_number
        version = go_live(row, draft, Publication(said), user)
        if draft.pk:
            draft.delete()
        if is_required(row):
            record("publishing.done", row, user, address, f"version {version.number}")
        if only_new and before:
            for keep in keepers:
                keep(row, before)
    return version


def republish(row: Application, note: str, *, user: User | None = None) -> ApplicationVersion:
    """Make a version of what is live with the predefined content of now; a draft stays.

    Raises `ValidationError` by fields, and `SecondPublisherRequired`.
    """
    said = read_note(note)
    with transaction.atomic():
        row = locked(row)
        if is_required(row):
            raise SecondPublisherRequired(CONTENT_AT_ONCE)
        written = {name: getattr(row, name) for name in WRITTEN}
        version = go_live(row, ApplicationDraft(**written), Publication(said), user)
        drafts = ApplicationDraft.objects.filter(application=row.pk)
        drafts.filter(based_on=version.number - 1).update(based_on=version.number)
    return version


def restore(
    row: Application, number: int, note: str, *, user: User | None = None
) -> ApplicationVersion:
    """Make a new version of an earlier one, on the predefined content of that one.

    Raises `ValidationError` by fields, `SecondPublisherRequired`, and
    `ApplicationVersion.DoesNotExist`.
    """
    said = read_note(note)
    with transaction.atomic():
        row = locked(row)
        if is_required(row):
            raise SecondPublisherRequired(RESTORED_AT_ONCE)
        earlier = ApplicationVersion.objects.get(application=row.pk, number=number)
        written = {name: getattr(earlier, name) for name in ("title", "description", "icon")}
        draft = ApplicationDraft(application=row, manifest=earlier.document, **written)
        return go_live(row, draft, Publication(said, earlier.snapshot), user)


def go_live(
    row: Application, draft: ApplicationDraft, publication: Publication, user: User | None
) -> ApplicationVersion:
    manifest = row.manifest
    for name in WRITTEN:
        setattr(row, name, getattr(draft, name))
    row.own_skills = draft.skills
    row.publication = publication
    row.full_clean()
    if problems := [problem for check in checks for problem in check(row)]:
        raise ValidationError({"__all__": problems})
    row.manifest = extract(row.manifest, [manifest], user=user).document
    row.is_enabled = row.is_enabled or row.live_number == 0
    with noting(Note(publication.note)):
        row.save()
    if draft.skills is not None:
        save_skills(row, draft.skills)
    version = live_version(row)
    assert version is not None  # noqa: S101 the save made it
    return version


def withdraw(version: ApplicationVersion) -> None:
    """Let nobody use the version any more. Raises `ValidationError` for the one that is live."""
    with transaction.atomic():
        row = locked(version.application)
        if row.live_number == version.number:
            raise ValidationError(
                "This version is live. Restore another one first, or disable the application."
            )
        version.withdrawn_at = timezone.now()
        version.save(update_fields=["withdrawn_at"])
        # Caches compare the version of the row.
        Application.objects.filter(pk=row.pk).update(version=F("version") + 1)


def archive(row: Application) -> None:
    """Take it out of use; all that belongs to it stays."""
    with transaction.atomic(), noting(Note("Archived")):
        row = locked(row)
        if row.archived_at is None:
            row.archived_at, row.is_enabled = timezone.now(), False
            row.save(update_fields=ARCHIVING)


def unarchive(row: Application) -> None:
    """It is in use again if it was ever published."""
    with transaction.atomic(), noting(Note("Taken out of the archive")):
        row = locked(row)
        if row.archived_at is not None:
            row.archived_at, row.is_enabled = None, row.live_number > 0
            row.save(update_fields=ARCHIVING)


def locked(row: Application) -> Application:
    return Application.objects.select_for_update(of=("self",)).get(pk=row.pk)
