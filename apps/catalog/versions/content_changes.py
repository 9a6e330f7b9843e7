"""What the predefined content of now would change in an application, if it were published again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F

from apps.catalog.application_files.own_skills import skills_by_application, with_own_skills
from apps.catalog.content.installed import installed_anew
from apps.catalog.content.items import Item
from apps.catalog.content.layers import Content
from apps.catalog.history.differences import MISSING, Difference, differences
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.uses import Reference, references_in, references_of
from apps.catalog.versions.recorder import content_for
from apps.catalog.versions.snapshots import content_of, digest_of


@dataclass(frozen=True, slots=True)
class ContentChange:
    """An item that is used; `before` and `after` are its texts, None where there is none."""

    kind: str
    name: str
    before: str | None
    after: str | None

    @property
    def verb(self) -> str:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def difference(self) -> Iterator[Difference]:
        before = MISSING if self.before is None else self.before
        after = MISSING if self.after is None else self.after
        return differences(before, after, f"{self.kind} {self.name}")


@dataclass(frozen=True, slots=True)
class PendingContent:
    """An application whose live version stands on other content than there is now."""

    pk: int
    slug: str
    title: str
    changes: Sequence[ContentChange]


def content_changes(document: Any, before: Content, after: Content) -> list[ContentChange]:
    """The items that the document uses, directly or by others, and that differ."""
    if before is after:
        return []
    old, new = used_items(document, before), used_items(document, after)
    return [
        ContentChange(key.kind, key.name, *(None if i is None else i.text for i in pair))
        for key in sorted(old.keys() | new.keys())
        if differ(*(pair := (old.get(key), new.get(key))))
    ]


def differ(one: Item | None, other: Item | None) -> bool:
    if one is None or other is None:
        return one is not other
    return digest_of(one) != digest_of(other)


def used_items(document: Any, content: Content) -> dict[Reference, Item]:
    """Every skill, because all are offered, and the items that the document leads to."""
    found = {Reference("skill", name): item for name, item in content.items["skill"].items()}
    waiting: list[Reference] = [*references_in(document, content)]
    while waiting:
        reference = waiting.pop()
        item = content.items[reference.kind].get(reference.name)
        if item is not None and reference not in found:
            found[reference] = item
            waiting += references_of(item, content)
    return found


def live_content(row: Application) -> tuple[Content, Content]:
    """What the live version stands on, and what is installed now."""
    installed = content_for(row)
    versions = ApplicationVersion.objects.filter(application=row.pk, number=row.live_number)
    snapshot = versions.values_list("snapshot", flat=True).first()
    return content_of(snapshot, installed), installed


def pending_content(applications: Iterable[int] | None = None) -> list[PendingContent]:
    """The live applications, by title, that publishing again would change. Few queries."""
    installed = installed_anew()
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
        changes = content_changes(document, content_of(snapshot, own), own)
        if changes:
            found.append(PendingContent(pk, slug, title, changes))
    return found
