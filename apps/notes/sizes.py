"""How much the notes of each workspace take."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.db.models import Count, Func, IntegerField, Sum

from apps.accounts.buckets import place_of
from apps.accounts.models import Team
from apps.notes.models import Note, NoteVersion
from apps.notes.spaces import owner_of_team


class SpaceSize(NamedTuple):
    """`notes` counts deleted ones too, and `size` is of all versions, in bytes of their texts."""

    owner: str
    notes: int
    size: int


class OctetLength(Func):
    function = "OCTET_LENGTH"
    output_field = IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # Older versions of SQLite have no function for it.
        template = "LENGTH(CAST(%(expressions)s AS BLOB))"
        return self.as_sql(compiler, connection, template=template, **context)


def largest_spaces(most: int) -> list[SpaceSize]:
    """The largest first."""
    versions = NoteVersion.objects.order_by().values("note__owner")
    sizes = versions.annotate(size=Sum(OctetLength("text"))).order_by("-size", "note__owner")
    found = dict(sizes.values_list("note__owner", "size")[:most])
    rows = Note.objects.filter(owner__in=found).order_by().values("owner")
    counts = dict(rows.annotate(count=Count("pk")).values_list("owner", "count"))
    return [SpaceSize(owner, counts.get(owner, 0), size or 0) for owner, size in found.items()]


def space_names(owners: Sequence[str]) -> dict[str, str]:
    """The names of people and teams, by whose workspace it is."""
    places = {owner: place for owner in owners if (place := place_of(owner)) is not None}
    people = get_user_model().objects.filter(pk__in=[place[0] for place in places.values()])
    named = {user.pk: user.get_username() for user in people}
    names = {owner: named[place[0]] for owner, place in places.items() if place[0] in named}
    if len(names) == len(owners):
        return names
    teams = Team.objects.select_related("group")
    return names | {
        owner: str(team) for team in teams if (owner := owner_of_team(team.pk)) in owners
    }
