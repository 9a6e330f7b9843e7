"""Merges a draft with a version that was published after the draft was started (three-way merge).

Credentials are masked during the merge, and restored when the draft is saved.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.catalog.content.installed import installed_content
from apps.catalog.history.differences import MISSING
from apps.catalog.history.merge import MergeResult, merge_documents
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion
from apps.catalog.own_skills import Skills
from apps.catalog.versions.definitions import definition_of, shown_definition
from apps.catalog.versions.snapshots import item_digest, skill_texts, snapshot_content
from apps.manifest.markdown.skill_files import SKILL_FILE
from apps.workspace.local.secrets.field import UnreadableSecret


def is_outdated(row: Application, draft: ApplicationDraft) -> bool:
    """Return True if a version was published after the draft was started."""
    return bool(draft.pk) and draft.based_on != row.live_number


def merge_with_live(
    row: Application, draft: ApplicationDraft, choices: Mapping[str, str]
) -> MergeResult:
    """Merge the draft with the live version. Credentials in the result are masked."""
    mine, theirs = shown_definition(draft), shown_definition(row)
    return merge_documents(draft_base(row, draft), mine.as_json(), theirs.as_json(), choices)


def draft_base(row: Application, draft: ApplicationDraft) -> Any:
    """Return the version from which the draft started, as JSON. Return MISSING if it was deleted or
    cannot be decrypted.
    """
    base = row.versions.filter(number=draft.based_on).first()
    if base is None or isinstance(base.document, UnreadableSecret):
        return MISSING
    return replace(definition_of(base), skills=skills_of_version(base)).masked.as_json()


def skills_of_version(version: ApplicationVersion) -> Skills:
    """Return the application's own skills in a version, by name and path.

    A snapshot does not separate them from predefined skills. A skill that is identical to an
    installed skill counts as predefined.
    """
    predefined = installed_content()
    known = {item_digest(item) for item in predefined.items["skill"].values()}
    found = snapshot_content(version.snapshot_id, predefined).items["skill"]
    return {
        name: {SKILL_FILE: item.text, **skill_texts(item)}
        for name, item in found.items()
        if item_digest(item) not in known
    }
