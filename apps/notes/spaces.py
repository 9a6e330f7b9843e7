"""Finds, measures and deletes workspaces of notes. Each user and each team has one."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import models
from django.db.models import Count, Func, IntegerField, Sum

from apps.accounts.caller import Caller, bucket_of
from apps.accounts.models import Team
from apps.notes.attachments import FOLDER
from apps.notes.content import title_key
from apps.notes.errors import NoteRefused
from apps.notes.models import Note, NoteVersion
from apps.workspace.local.files import files

OWN = "notes"
"""The name of a user's own workspace, and an alias for a team's workspace."""


@dataclass(frozen=True, slots=True)
class NoteSpace:
    """A workspace of notes."""

    owner: str
    """The owner's ID, such as `user-7` or `team-3`."""
    name: str = OWN
    """The name that users and models see."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name, OWN)))

    def named(self, name: str) -> "NoteSpace":
        """Return this workspace if `name` is "", its name or its alias. Otherwise, raise
        `NoteRefused`.
        """
        if title_key(name) in ("", *map(title_key, self.names)):
            return self
        known = " or ".join(f"'{one}'" for one in self.names)
        raise NoteRefused(
            "workspaceName", f"there are no notes named {name[:100]!r} here; use {known}."
        )


def space_of(caller: Caller) -> NoteSpace | None:
    """Return the workspace of the caller's team, or else the caller's own.

    An API key that its user created can use the user's workspace. Return None for an API key that
    another user created, and for callers without an account: visitors, installation keys and DIAL
    Core.
    """
    if caller.kind not in ("user", "key") or caller.person is None:
        return None
    if caller.team is None:
        return NoteSpace(bucket_of(caller.person))
    team = Team.objects.filter(pk=caller.team).first()
    return None if team is None else NoteSpace(owner_of_team(team.pk), str(team))


def owner_of_team(team: int) -> str:
    return f"team-{team}"


class SpaceSize(NamedTuple):
    owner: str
    notes: int
    """The number of notes, including deleted ones."""
    size: int
    """The total size of all versions in bytes."""


class OctetLength(Func):
    function = "OCTET_LENGTH"
    output_field = IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # Older versions of SQLite have no function for the number of bytes.
        template = "LENGTH(CAST(%(expressions)s AS BLOB))"
        return self.as_sql(compiler, connection, template=template, **context)


def largest_spaces(most: int) -> list[SpaceSize]:
    """Return the sizes of the `most` largest workspaces, largest first."""
    versions = NoteVersion.objects.order_by().values("note__owner")
    sizes = versions.annotate(size=Sum(OctetLength("text"))).order_by("-size", "note__owner")
    found = dict(sizes.values_list("note__owner", "size")[:most])
    rows = Note.objects.filter(owner__in=found).order_by().values("owner")
    counts = dict(rows.annotate(count=Count("pk")).values_list("owner", "count"))
    return [SpaceSize(owner, counts.get(owner, 0), size or 0) for owner, size in found.items()]


def delete_notes_of_user(sender: object, instance: models.Model, **kwargs: Any) -> None:
    """Delete a user's notes when Django signals that the user was deleted."""
    delete_all(bucket_of(instance.pk))


def delete_of_team(sender: object, instance: models.Model, **kwargs: Any) -> None:
    """Delete a team's notes when Django signals that the team was deleted."""
    delete_all(owner_of_team(instance.pk))


def delete_all(owner: str) -> None:
    """Delete the owner's notes with all versions and attachments."""
    Note.objects.filter(owner=owner).delete()
    files.delete_below(owner, FOLDER)
