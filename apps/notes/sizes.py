"""How much the notes of each workspace take."""

from typing import Any, NamedTuple

from django.db.models import Count, Func, IntegerField, Sum

from apps.notes.models import Note, NoteVersion


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
