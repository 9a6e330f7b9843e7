"""Lists a user's memories for the memory page, without reading their vectors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from types import MappingProxyType
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from apps.accounts.caller import Caller
from apps.agent.tool_titles import in_words
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.datetimes import of_timestamp
from apps.workspace.local.models import MemoryCollection, MemoryMerge, StoredMemory
from apps.workspace.memories.limits import MERGES_KEPT_DAYS
from apps.workspace.memories.port import GENERAL

ON_A_PAGE = 100
SHARED = gettext_lazy("Shared between apps")
LISTED_MERGES = 50
CATEGORIES = MappingProxyType(
    {
        GENERAL: gettext_lazy("General"),
        "personal_info": gettext_lazy("Personal"),
        "preferences": gettext_lazy("Preferences"),
        "goals": gettext_lazy("Goals"),
        "plans": gettext_lazy("Plans"),
        "work": gettext_lazy("Work"),
    }
)
"""The categories that the tools suggest to models, in words. Manifests and users can add others."""


@dataclass(frozen=True, slots=True)
class ListedMemory:
    row: StoredMemory
    category: str
    """The category in words."""
    stored_at: datetime | None
    """The time at which the memory was stored, or None if its imported number is not a valid time.
    """


@dataclass(frozen=True, slots=True)
class MemorySection:
    """The part of a page that lists the memories for one application, or the shared memories."""

    collection: MemoryCollection
    title: str
    count: int
    """The number of memories, including those on other pages."""
    memories: Sequence[ListedMemory]
    merges: Sequence[dict[str, Any]]


def category_words(category: str) -> str:
    """Return a memory's category in words, such as "Eating habits" for `eating_habits`."""
    return str(CATEGORIES.get(category) or in_words(category))


def own_collections(caller: Caller) -> QuerySet[MemoryCollection]:
    return MemoryCollection.objects.filter(bucket=caller.bucket, end_user="")


def memory_page(caller: Caller, query: str, number: str) -> Page[StoredMemory]:
    """Return page `number` of the memories that contain the query, sorted by application and then
    from newest to oldest.
    """
    rows = StoredMemory.objects.filter(collection__in=own_collections(caller))
    ordered = rows.select_related("collection").defer("vector")
    ordered = ordered.order_by("collection__application", "collection", "-number")
    wanted = query.casefold()
    # The database cannot do this, because SQLite ignores case for ASCII letters only.
    found = [row for row in ordered if is_about(row, wanted)] if wanted else ordered
    return Paginator(found, ON_A_PAGE).get_page(number)


def is_about(row: StoredMemory, query: str) -> bool:
    texts = (row.content, row.category, category_words(row.category), *row.topics)
    return any(query in text.casefold() for text in texts)


def sections(caller: Caller, shown: Iterable[StoredMemory]) -> list[MemorySection]:
    mine = own_collections(caller).annotate(count=Count("memories"))
    counts = {row.pk: row.count for row in mine}
    names = titles(caller)
    return [
        MemorySection(
            collection,
            application_title(collection.application, names),
            counts.get(collection.pk, 0),
            # A memory's number is the Unix time at which it was stored.
            [
                ListedMemory(row, category_words(row.category), of_timestamp(row.number))
                for row in rows
            ],
            merges_of(collection),
        )
        for collection, rows in groupby(shown, key=lambda row: row.collection)
    ]


def titles(caller: Caller) -> dict[str, str]:
    """Return the titles of the applications for which the caller has memories, by slug. The slug ""
    means the shared memory.
    """
    slugs = own_collections(caller).values("application")
    rows = Application.objects.filter(slug__in=slugs).values_list("slug", "title")
    return {"": str(SHARED), **dict(rows)}


def application_title(application: str, names: Mapping[str, str]) -> str:
    """Return the application's title from `names`, or its slug if the application was deleted."""
    slug, _, is_former = application.partition("#")
    return gettext("{slug} (deleted)").format(slug=slug) if is_former else names.get(slug, slug)


def merges_of(collection: MemoryCollection) -> list[dict[str, Any]]:
    """Return the number, time and original texts of each merge in the collection that can still be
    undone.
    """
    since = timezone.now() - timedelta(days=MERGES_KEPT_DAYS)
    rows: QuerySet[MemoryMerge] = collection.merges.filter(merged_at__gte=since).order_by("-pk")
    return [
        {
            "number": row.number,
            "merged_at": row.merged_at,
            "texts": [original["data"]["content"] for original in row.originals],
        }
        for row in rows[:LISTED_MERGES]
    ]


def remembering(caller: Caller) -> QuerySet[Application]:
    """Return the caller's applications that use memories, sorted by title."""
    found = usable(caller).filter(manifest__features__memory__enabled=True)
    return found.only("slug", "title", "description")
