"""Finds the changes to an application's predefined content since the application was published."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F

from apps.catalog.content.installed import refreshed_content
from apps.catalog.content.items import LayerItem
from apps.catalog.content.layers import Content
from apps.catalog.history.differences import MISSING, ValueDifference, differences
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.own_skills import skills_by_application, with_own_skills
from apps.catalog.uses import ItemReference, references_in, references_of
from apps.catalog.versions.snapshots import (
    content_of_version,
    item_digest,
    skill_texts,
    snapshot_content,
)
from apps.catalog.versions.version_recorder import content_for


@dataclass(frozen=True, slots=True)
class ContentChange:
    """A changed predefined item. `before` and `after` are its old and new text. None means that the
    item does not exist.
    """

    kind: str
    name: str
    before: str | None
    after: str | None
    files_before: Mapping[str, str] = field(default_factory=dict)
    """The old files of a skill, except SKILL.md, by path. Other items have none."""
    files_after: Mapping[str, str] = field(default_factory=dict)

    @property
    def verb(self) -> str:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def differences(self) -> Iterator[ValueDifference]:
        before = MISSING if self.before is None else self.before
        after = MISSING if self.after is None else self.after
        place = f"{self.kind} {self.name}"
        yield from differences(before, after, place)
        yield from differences(self.files_before, self.files_after, place)


@dataclass(frozen=True, slots=True)
class OutdatedApplication:
    """A live application whose predefined content has changed since it was published."""

    pk: int
    slug: str
    title: str
    changes: Sequence[ContentChange]


def content_changes(document: Any, before: Content, after: Content) -> list[ContentChange]:
    """Return the changes to the predefined items that the manifest uses directly or indirectly."""
    if before is after:
        return []
    old, new = used_items(document, before), used_items(document, after)
    return [
        content_change(key, *pair)
        for key in sorted(old.keys() | new.keys())
        if differ(*(pair := (old.get(key), new.get(key))))
    ]


def content_change(
    key: ItemReference, before: LayerItem | None, after: LayerItem | None
) -> ContentChange:
    old, new = (None if item is None else item.text for item in (before, after))
    files = ({} if item is None else skill_texts(item) for item in (before, after))
    return ContentChange(key.kind, key.name, old, new, *files)


def differ(one: LayerItem | None, other: LayerItem | None) -> bool:
    if one is None or other is None:
        return one is not other
    return item_digest(one) != item_digest(other)


def used_items(document: Any, content: Content) -> dict[ItemReference, LayerItem]:
    """Return all skills, and the other predefined items that the manifest uses directly or
    indirectly.
    """
    found = {ItemReference("skill", name): item for name, item in content.items["skill"].items()}
    waiting: list[ItemReference] = [*references_in(document, content)]
    while waiting:
        reference = waiting.pop()
        item = content.items[reference.kind].get(reference.name)
        if item is not None and reference not in found:
            found[reference] = item
            waiting += references_of(item, content)
    return found


def live_content(row: Application) -> tuple[Content, Content]:
    """Return the predefined content of the live version, and the current predefined content. Both
    include the application's own skills.
    """
    installed = content_for(row)
    return content_of_version(row, row.live_number, installed), installed


def outdated_applications(applications: Iterable[int] | None = None) -> list[OutdatedApplication]:
    """Return the live applications whose predefined content has changed since they were published,
    sorted by title. `applications` contains the IDs to check, or None for all.
    """
    installed = refreshed_content()
    rows = ApplicationVersion.objects.filter(
        number=F("application__live_number"), application__archived_at=None
    )
    if applications is not None:
        rows = rows.filter(application__in=applications)
    named = ("application", "application__slug", "title", "document", "snapshot")
    skills = skills_by_application(rows.values("application"))
    found = []
    for pk, slug, title, document, snapshot in rows.order_by("title").values_list(*named):
        own = with_own_skills(installed, skills.get(pk, {}))
        changes = content_changes(document, snapshot_content(snapshot, own), own)
        if changes:
            found.append(OutdatedApplication(pk, slug, title, changes))
    return found
