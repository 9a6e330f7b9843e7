"""Makes a version of each state of an application that goes live, whichever way it is saved.

It uses a signal, as the history does, because rows are saved by forms, the API, imports and
commands; the version is written in the transaction of the save.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db.models.signals import post_save

from apps.catalog.application_files.own_skills import own_skills_of, with_own_skills
from apps.catalog.content.installed import installed_anew
from apps.catalog.content.layers import Content
from apps.catalog.history.actors import present_actor, present_note
from apps.catalog.models import Application
from apps.catalog.versions.drafts import WRITTEN
from apps.catalog.versions.models import ApplicationVersion, ContentSnapshot
from apps.catalog.versions.publishing_requests import AT_ONCE, SecondPublisherRequired, is_required
from apps.catalog.versions.snapshots import keep_snapshot

AUTOMATIC = "Saved without a note"


@dataclass(frozen=True, slots=True)
class Publication:
    """What is published by the save of a row: `Application.publication`.

    `snapshot` is the predefined content that it stands on; by default that of now.
    """

    note: str
    snapshot: ContentSnapshot | None = None


def connect() -> None:
    post_save.connect(after_save, sender=Application, dispatch_uid="versions.application")


def after_save(
    sender: type[Application],
    instance: Application,
    created: bool,
    raw: bool,
    update_fields: Collection[str] | None = None,
    **kwargs: Any,
) -> None:
    if update_fields is not None and not {*WRITTEN} & {*update_fields}:
        return  # who may use it, and other properties of the row, are no part of a version
    is_live = not instance.is_unpublished if created else instance.live_number > 0
    if not raw and (is_live or instance.publication is not None):
        record_version(instance)


def record_version(row: Application) -> None:
    """Make a version of what is live now, if that has changed or is published by intent."""
    newest = ApplicationVersion.objects.filter(application=row.pk).first()
    if row.publication is None and newest is not None and is_same(live_version(row), row):
        return
    is_reviewed = row.publication is not None or row.is_from_files or newest is None
    if not is_reviewed and is_required(row):  # forms and the API say so before they save
        raise SecondPublisherRequired(AT_ONCE)
    actor, reason = present_actor(), present_note().reason
    publication = row.publication or Publication(reason or AUTOMATIC)
    version = ApplicationVersion.objects.create(
        application_id=row.pk,
        number=1 if newest is None else newest.number + 1,
        title=row.title,
        description=row.description,
        icon=row.icon,
        document=row.manifest,
        snapshot=publication.snapshot or keep_snapshot(content_for(row)),
        author=actor.user,
        author_name=actor.user.get_username() if actor.user is not None else "",
        via=actor.via,
        note=publication.note,
        is_automatic=row.publication is None and not reason,
    )
    Application.objects.filter(pk=row.pk).update(live_number=version.number)
    row.live_number = version.number


def content_for(row: Application) -> Content:
    """The predefined content of now, with the skills of the application."""
    return with_own_skills(installed_anew(), own_skills_of(row))


def live_version(row: Application) -> ApplicationVersion | None:
    return ApplicationVersion.objects.filter(application=row.pk, number=row.live_number).first()


def is_same(version: ApplicationVersion | None, row: Application) -> bool:
    if version is None:
        return False
    return (version.title, version.description, version.icon, version.document) == row.written
