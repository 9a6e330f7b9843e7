"""What is found among the notes of one workspace. Bodies are not read unless they are asked for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, QuerySet
from django.utils import timezone

from apps.notes.content import key_of
from apps.notes.filters import condition
from apps.notes.models import Note, NoteTag
from apps.notes.store import notes_of

DEEPEST = 10
MOST_ENTRIES = 500
"""Of a table of contents."""


def matching(owner: str, filter: str) -> QuerySet[Note]:
    """The notes that fit a filter, those that were changed last first. Raises `NoteRefused`."""
    return notes_of(owner).filter(condition(filter)).order_by("-modified_at", "-pk")


def listed(owner: str, filter: str) -> QuerySet[Note]:
    """By title, without bodies. Their order does not change while one reads page after page."""
    return notes_of(owner).filter(condition(filter)).order_by("key").defer("text")


def recent(owner: str, days: float | None = None) -> QuerySet[Note]:
    """Those that were changed last, of so many days, None for all; without bodies."""
    rows = notes_of(owner).order_by("-modified_at", "-pk").defer("text")
    return rows if days is None else rows.filter(modified_at__gte=days_ago(days))


def days_ago(days: float) -> object:
    return timezone.now() - timedelta(days=min(max(days, 0), 36_500))


def backlinks(owner: str, title: str) -> QuerySet[Note]:
    """The notes whose text leads to a title, by their own; without bodies."""
    rows = notes_of(owner).filter(link_rows__key=key_of(title))
    return rows.order_by("key").defer("text")


def tag_counts(owner: str, most: int) -> list[tuple[str, int]]:
    """The tags that most notes have, with how many those are."""
    rows = NoteTag.objects.filter(note__owner=owner, note__deleted_at=None).values("key")
    counted = rows.annotate(count=Count("pk")).order_by("-count", "key")[:most]
    names = dict(
        NoteTag.objects.filter(
            note__owner=owner, key__in=[one["key"] for one in counted]
        ).values_list("key", "name")
    )
    return [(names[one["key"]], one["count"]) for one in counted]


def existing(owner: str, titles: Iterable[str]) -> dict[str, int]:
    """The keys of notes with these titles, by the key of the title."""
    keys = {key_of(title) for title in titles}
    return dict(notes_of(owner).filter(key__in=keys).values_list("key", "pk"))


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a table of contents. `is_repeated`: the note stands above itself, and ends there."""

    title: str
    depth: int
    is_repeated: bool = False


def contents(owner: str, root: str, depth: int) -> list[Entry]:
    """The tree below a title: the notes that have it as a tag, those tagged with these, and so on."""
    levels = min(max(depth, 1), DEEPEST)
    children = tagged_below(owner, key_of(root), levels)
    found: list[Entry] = []

    def add(key: str, level: int, above: frozenset[str]) -> None:
        for title in children.get(key, ()):
            if len(found) >= MOST_ENTRIES:
                return
            inner = key_of(title)
            found.append(Entry(title, level, inner in above))
            if inner not in above and level < levels:
                add(inner, level + 1, above | {inner})

    add(key_of(root), 1, frozenset({key_of(root)}))
    return found


def tagged_below(owner: str, root: str, levels: int) -> Mapping[str, list[str]]:
    """Titles by the key of the tag that they have; one query for each level."""
    children: dict[str, list[str]] = {}
    wanted = {root}
    for _ in range(levels):
        rows = NoteTag.objects.filter(note__owner=owner, note__deleted_at=None, key__in=wanted)
        children |= {key: [] for key in wanted}
        for key, title in rows.order_by("note__key").values_list("key", "note__title"):
            children[key].append(title)
        titles = [title for key in wanted for title in children[key]][:MOST_ENTRIES]
        wanted = {key_of(title) for title in titles} - children.keys()
        if not wanted:
            break
    return children
