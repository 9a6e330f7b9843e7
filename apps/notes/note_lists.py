"""Queries the notes of a workspace, mostly without their texts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, QuerySet
from django.utils import timezone

from apps.notes.content import title_key
from apps.notes.filters import condition
from apps.notes.models import Note, NoteTag
from apps.notes.store import notes_of

DEEPEST = 10
MOST_ENTRIES = 500
"""The maximum number of entries in a table of contents."""


def matching(owner: str, filter: str) -> QuerySet[Note]:
    """Return the owner's notes that match the filter, most recently changed first. Raises
    `NoteRefused` if the filter is invalid.
    """
    return notes_of(owner).filter(condition(filter)).order_by("-modified_at", "-pk")


def list_notes(owner: str, filter: str) -> QuerySet[Note]:
    """Return the owner's notes that match the filter, sorted by title and without texts. Raises
    `NoteRefused` if the filter is invalid.
    """
    return notes_of(owner).filter(condition(filter)).order_by("key").defer("text")


def recent(owner: str, days: float | None = None) -> QuerySet[Note]:
    """Return the owner's notes, most recently changed first and without texts. `days` limits the
    result to notes that have changed within this many days.
    """
    rows = notes_of(owner).order_by("-modified_at", "-pk").defer("text")
    return rows if days is None else rows.filter(modified_at__gte=days_ago(days))


def days_ago(days: float) -> object:
    return timezone.now() - timedelta(days=min(max(days, 0), 36_500))


def backlinks(owner: str, title: str) -> QuerySet[Note]:
    """Return the owner's notes that link to this title, sorted by title and without texts."""
    rows = notes_of(owner).filter(link_rows__key=title_key(title))
    return rows.order_by("key").defer("text")


def tag_counts(owner: str, most: int) -> list[tuple[str, int]]:
    """Return the owner's `most` most frequent tags, each with the number of its notes."""
    rows = NoteTag.objects.filter(note__owner=owner, note__deleted_at=None).values("key")
    counted = rows.annotate(count=Count("pk")).order_by("-count", "key")[:most]
    names = dict(
        NoteTag.objects.filter(
            note__owner=owner, key__in=[one["key"] for one in counted]
        ).values_list("key", "name")
    )
    return [(names[one["key"]], one["count"]) for one in counted]


def existing(owner: str, titles: Iterable[str]) -> dict[str, int]:
    """Map the key of each title to the primary key of the owner's note. Titles without a note are
    omitted.
    """
    keys = {title_key(title) for title in titles}
    return dict(notes_of(owner).filter(key__in=keys).values_list("key", "pk"))


@dataclass(frozen=True, slots=True)
class ContentsLine:
    title: str
    depth: int
    is_repeated: bool = False
    """True if the note is among its own ancestors. The notes below it are then not listed again."""


def contents(owner: str, root: str, depth: int) -> list[ContentsLine]:
    """Return a table of contents: the notes tagged with the title `root`, below each of them the
    notes tagged with its title, and so on for up to `depth` levels.
    """
    levels = min(max(depth, 1), DEEPEST)
    children = tagged_below(owner, title_key(root), levels)
    found: list[ContentsLine] = []

    def add(key: str, level: int, above: frozenset[str]) -> None:
        for title in children.get(key, ()):
            if len(found) >= MOST_ENTRIES:
                return
            inner = title_key(title)
            found.append(ContentsLine(title, level, inner in above))
            if inner not in above and level < levels:
                add(inner, level + 1, above | {inner})

    add(title_key(root), 1, frozenset({title_key(root)}))
    return found


def tagged_below(owner: str, root: str, levels: int) -> Mapping[str, list[str]]:
    """Map the key of the tag `root`, and of each tag below it, to the titles of the notes with the
    tag. Runs one query per level.
    """
    children: dict[str, list[str]] = {}
    wanted = {root}
    for _ in range(levels):
        rows = NoteTag.objects.filter(note__owner=owner, note__deleted_at=None, key__in=wanted)
        children |= {key: [] for key in wanted}
        for key, title in rows.order_by("note__key").values_list("key", "note__title"):
            children[key].append(title)
        titles = [title for key in wanted for title in children[key]][:MOST_ENTRIES]
        wanted = {title_key(title) for title in titles} - children.keys()
        if not wanted:
            break
    return children
