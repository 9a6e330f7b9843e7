"""The draft of an application: one for each, made at the first change and gone when published."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from copy import copy
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from apps.catalog.application_files.own_skills import skills_of
from apps.catalog.extraction import extract, refusals
from apps.catalog.models import (
    Application,
    ApplicationDraft,
    ApplicationVersion,
    PublishingRequest,
)
from apps.manifest.problems import Problem

WRITTEN = ("title", "description", "icon", "manifest")
"""What a draft has of an application, beside its skills."""


class DraftOvertaken(Exception):
    """Somebody saved the draft meanwhile; `draft` is what they saved, None if they ended it.

    The message names them to `user`, whose edit is refused.
    """

    def __init__(self, draft: ApplicationDraft | None, user: User | None = None) -> None:
        super().__init__(last_save(draft, user))
        self.draft = draft


def last_save(draft: ApplicationDraft | None, user: User | None) -> str:
    """ "Anna Berg saved this draft 2 minutes ago.", as `user` reads it."""
    author = draft.author if draft is not None else None
    if draft is None or author is None:
        return "Somebody saved this draft while you were editing it."
    if author == user:
        return f"You saved this draft {time_since(draft.updated_at)}, in another tab or program."
    name = author.get_full_name() or author.get_username()
    return f"{name} saved this draft {time_since(draft.updated_at)}."


def time_since(moment: datetime) -> str:
    minutes = int((timezone.now() - moment).total_seconds() // 60)
    for unit, name in ((24 * 60, "day"), (60, "hour"), (1, "minute")):
        if count := minutes // unit:
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"


def draft_of(row: Application) -> ApplicationDraft:
    """The stored draft; else one that is not stored (`version` 0) of what is live."""
    stored = ApplicationDraft.objects.filter(application=row.pk).first()
    if stored is not None:
        return stored
    values = {name: getattr(row, name) for name in WRITTEN}
    return ApplicationDraft(application=row, based_on=row.live_number, **values)


def with_draft(draft: ApplicationDraft) -> Application:
    """The application as it would be with the draft, not to be saved."""
    values = {name: getattr(draft, name) for name in WRITTEN}
    return as_written(draft.application, {**values, "own_skills": draft.skills})


def as_written(row: Application, values: Mapping[str, Any]) -> Application:
    """The application with these values of what a draft has, not to be saved."""
    written = copy(row)
    for name, value in values.items():
        setattr(written, name, value)
    return written


def draft_problems(draft: ApplicationDraft) -> Sequence[Problem]:
    """What keeps the draft from being published. A draft itself may be saved with mistakes."""
    return with_draft(draft).manifest_problems()


def save_draft(
    row: Application,
    values: Mapping[str, Any],
    seen: int | None,
    user: User | None,
    *,
    is_current: bool = False,
) -> ApplicationDraft:
    """Save what is given of title, description, icon, manifest and skills.

    Plain credentials become secrets. A request to publish the draft ends if this changes it. `seen`
    is the version of the draft that was edited, 0 for none and None for whichever there is.
    `is_current`: the draft is one of the live version from now on. Raises `DraftOvertaken`, and
    `ValidationError` for a title or manifest that no draft can have.
    """
    with transaction.atomic():
        locked = Application.objects.select_for_update(of=("self",)).get(pk=row.pk)
        draft = draft_of(row)
        if seen is not None and seen != draft.version:
            raise DraftOvertaken(draft if draft.pk else None, user)
        before = digest_of_draft(draft) if draft.pk else ""
        set_written(draft, values, row, user)
        is_changed = before != digest_of_draft(draft)
        if is_changed:
            draft.author = user
        if is_current:
            draft.based_on = locked.live_number
        draft.clean_fields(exclude=["author", "application"])
        draft.save()
        if is_changed and user is not None:
            draft.editors.add(user)
        withdraw_outdated_request(draft)
    return draft


def set_written(
    draft: ApplicationDraft, values: Mapping[str, Any], row: Application, user: User | None
) -> None:
    """Raises `ValidationError`."""
    for name in WRITTEN:
        if name in values:
            setattr(draft, name, values[name])
    if "skills" in values:
        # Unchanged ones are not kept: an import may change them while there is a draft.
        draft.skills = values["skills"] if values["skills"] != skills_of(row.pk) else None
    if not isinstance(draft.manifest, dict):
        raise ValidationError({"manifest": "Write a JSON object."})
    if not draft.title.strip():
        raise ValidationError({"title": "This field is required."})
    if refused := refusals(draft.manifest, user):
        raise ValidationError({"manifest": [*map(str, refused)]})
    draft.manifest = extract(draft.manifest, [row.manifest], user=user).document


def draft_from_version(
    row: Application, version: ApplicationVersion, user: User | None
) -> ApplicationDraft:
    """Begin a draft with what a version was. Raises `ValidationError` if there is a draft."""
    if ApplicationDraft.objects.filter(application=row.pk).exists():
        raise ValidationError("There is a draft already. Discard it first, or publish it.")
    values = {name: getattr(version, name) for name in ("title", "description", "icon")}
    values["manifest"] = version.document
    return save_draft(row, values, 0, user, is_current=True)


def digest_of_draft(draft: ApplicationDraft) -> str:
    texts = [getattr(draft, name) for name in (*WRITTEN, "skills")]
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


def withdraw_outdated_request(draft: ApplicationDraft) -> None:
    found = PublishingRequest.objects.filter(draft=draft).first()
    if found is not None and found.is_open and found.digest != digest_of_draft(draft):
        found.delete()


def discard_draft(row: Application) -> bool:
    """Whether there was one. The only draft of what was never published stays."""
    if row.live_number == 0:
        return False
    return bool(ApplicationDraft.objects.filter(application=row.pk).delete()[0])


def new_application(row: Application, user: User | None) -> ApplicationDraft:
    """Store an application that has nothing but a draft: it answers nobody until it is published.

    Raises `ValidationError` for a slug that is taken.
    """
    row.is_unpublished, row.is_enabled = True, False
    written, row.manifest = row.manifest, {}
    row.clean_fields(exclude=["manifest", "owner"])
    row.validate_unique()
    with transaction.atomic():
        row.save()
        return save_draft(row, {"manifest": written}, None, user)
