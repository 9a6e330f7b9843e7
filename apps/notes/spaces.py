"""Whose notes somebody works with: those of the team that they work in, else their own."""

from dataclasses import dataclass

from apps.accounts.buckets import bucket_of
from apps.accounts.caller import Caller
from apps.accounts.models import Team
from apps.errors import NoteRefused
from apps.notes.content import key_of

OWN = "notes"
"""The name of a person's own notes; in a team, another name of the team's."""


@dataclass(frozen=True, slots=True)
class NoteSpace:
    """A workspace of notes: `owner` as its rows have it, `name` as people and models say it."""

    owner: str
    name: str = OWN

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name, OWN)))

    def named(self, name: str) -> "NoteSpace":
        """This workspace, if that is one of its names; "" is. Raises `NoteRefused`."""
        if key_of(name) in ("", *map(key_of, self.names)):
            return self
        known = " or ".join(f"'{one}'" for one in self.names)
        raise NoteRefused(
            "workspaceName", f"there are no notes named {name[:100]!r} here; write {known}."
        )


def space_of(caller: Caller) -> NoteSpace | None:
    """The notes of a person or of their team, also for a key that the person made.

    None for a key that somebody else made, and for a caller without an account: a visitor, a key of
    the installation, DIAL Core.
    """
    if caller.kind not in ("user", "key") or caller.person is None:
        return None
    if caller.team is None:
        return NoteSpace(bucket_of(caller.person))
    team = Team.objects.select_related("group").filter(pk=caller.team).first()
    return None if team is None else NoteSpace(owner_of_team(team.pk), str(team))


def owner_of_team(team: int) -> str:
    return f"team-{team}"
