"""Saves applications, and stores a version of each state that goes live."""

from django.db import transaction

from apps.catalog.application_files.parts import save_skills
from apps.catalog.content.installed import refreshed_content
from apps.catalog.content.layers import Content
from apps.catalog.history.actors import current_actor
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.own_skills import Skills, own_skills_of, with_own_skills
from apps.catalog.versions.definitions import definition_of
from apps.catalog.versions.models import ContentSnapshot
from apps.catalog.versions.snapshots import keep_snapshot

AUTOMATIC = "Saved without a note"


def save_live(
    row: Application,
    *,
    note: str = "",
    snapshot: ContentSnapshot | None = None,
    skills: Skills | None = None,
) -> ApplicationVersion | None:
    """Save an application and its `skills`. If a live application changed, also store and return a
    new version.

    With a `note`, a version is stored even if nothing changed. `snapshot` is the predefined content
    of the version, and defaults to the current content. With `skills=None`, the stored skills do
    not change.
    """
    is_live = row._state.adding or row.live_number > 0
    with transaction.atomic():
        row.save()
        if skills is not None:
            save_skills(row, skills)
        if not note and (
            not is_live or is_same(row.versions.filter(number=row.live_number).first(), row)
        ):
            return None
        return record_version(row, note, snapshot or keep_snapshot(content_for(row)))


def record_version(row: Application, note: str, snapshot: ContentSnapshot) -> ApplicationVersion:
    newest = ApplicationVersion.objects.filter(application=row.pk).first()
    actor = current_actor()
    version = ApplicationVersion.objects.create(
        application_id=row.pk,
        number=1 if newest is None else newest.number + 1,
        title=row.title,
        description=row.description,
        icon=row.icon,
        document=row.manifest,
        snapshot=snapshot,
        author=actor.user,
        author_name=actor.user.get_username() if actor.user is not None else "",
        via=actor.via,
        note=note or AUTOMATIC,
        is_automatic=not note,
    )
    Application.objects.filter(pk=row.pk).update(live_number=version.number)
    row.live_number = version.number
    return version


def content_for(row: Application, skills: Skills | None = None) -> Content:
    """Return the current predefined content with the application's own `skills`. None means the
    stored skills.
    """
    return with_own_skills(refreshed_content(), own_skills_of(row, skills))


def is_same(version: ApplicationVersion | None, row: Application) -> bool:
    return version is not None and definition_of(version) == definition_of(row)
