"""A draft takes over what went live after it was begun: a three-way merge with the live version.

It is done on documents whose credentials are masked, which `put_back` completes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from apps.catalog.application_files.own_skills import own_skills_of
from apps.catalog.content.installed import installed
from apps.catalog.history.differences import MISSING
from apps.catalog.history.merge import Clash, Merge
from apps.catalog.masking import masked, put_back
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion
from apps.catalog.versions.drafts import (
    WRITTEN,
    DraftOvertaken,
    draft_of,
    save_draft,
    with_draft,
)
from apps.catalog.versions.snapshots import content_of, digest_of, files_of
from apps.manifest.skill_files import SKILL_FILE
from apps.workspace.local.secrets import UnreadableSecret

SIDES = ("mine", "theirs")


class ConflictsOpen(Exception):
    """The draft and version `live` changed the same places; `clashes` are those nobody chose for."""

    def __init__(self, live: int, clashes: Sequence[Clash]) -> None:
        super().__init__(
            f"The draft and version {live} changed the same places. Choose whose value stays."
        )
        self.clashes = clashes


def is_outdated(row: Application, draft: ApplicationDraft) -> bool:
    """Whether another version went live since the draft was begun."""
    return bool(draft.pk) and draft.based_on != row.live_number


def take_over_live(
    row: Application,
    choices: Mapping[str, str],
    user: User | None,
    *,
    seen: int | None = None,
    live: int | None = None,
) -> ApplicationDraft:
    """Save the draft merged with the live version, which it is one of from then on.

    `choices` has "mine" for the draft or "theirs" for the live version, by paths of clashes. `seen`
    is the version of the draft that was looked at, `live` the number of the version. Nothing is
    saved when it raises `ConflictsOpen`, `DraftOvertaken` or `ValidationError`.
    """
    with transaction.atomic():
        row = Application.objects.select_for_update(of=("self",)).get(pk=row.pk)
        draft = draft_of(row)
        if seen is not None and seen != draft.version:
            raise DraftOvertaken(draft if draft.pk else None, user)
        if live is not None and live != row.live_number:
            raise ValidationError(
                f"Version {row.live_number} went live meanwhile. Look at its changes first."
            )
        if not is_outdated(row, draft):
            return draft
        merged, clashes = merge_with_live(row, draft, choices)
        undecided = [clash for clash in clashes if choices.get(clash.path) not in SIDES]
        if undecided:
            raise ConflictsOpen(row.live_number, undecided)
        found = put_back(merged["manifest"], [draft.manifest, row.manifest])
        if found.problems:
            raise ValidationError({"manifest": [*map(str, found.problems)]})
        values = {**merged, "manifest": found.document}
        return save_draft(row, values, draft.version, user, is_current=True)


def merge_with_live(
    row: Application, draft: ApplicationDraft, choices: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], Sequence[Clash]]:
    """What the draft would be, with masked credentials, and the places that both changed."""
    merging = Merge(choices or {})
    merged = merging.merged(begun_from(row, draft), readable(draft), readable(row))
    return merged, merging.clashes


def begun_from(row: Application, draft: ApplicationDraft) -> Any:
    """The version that the draft began with; MISSING where it is gone or cannot be read."""
    base = ApplicationVersion.objects.filter(application=row.pk, number=draft.based_on).first()
    if base is None or isinstance(base.document, UnreadableSecret):
        return MISSING
    written = {name: getattr(base, name) for name in ("title", "description", "icon")}
    return {**written, "manifest": masked(base.document), "skills": skills_of_version(base)}


def skills_of_version(version: ApplicationVersion) -> dict[str, dict[str, str]]:
    """The skills that the application itself had then, by name and path.

    A snapshot has them among the predefined ones: those that are installed as they were are no
    application's own.
    """
    predefined = installed()
    known = {digest_of(item) for item in predefined.items["skill"].values()}
    found = content_of(version.snapshot_id, predefined).items["skill"]
    return {
        name: {SKILL_FILE: item.text, **files_of(item)}
        for name, item in found.items()
        if digest_of(item) not in known
    }


def readable(row: Application | ApplicationDraft) -> dict[str, Any]:
    """What is merged, with masked credentials; skills by name and path."""
    written = {name: getattr(row, name) for name in WRITTEN}
    whole = with_draft(row) if isinstance(row, ApplicationDraft) else row
    return {**written, "manifest": masked(written["manifest"]), "skills": own_skills_of(whole)}
