"""Records changes to teams in the audit log."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import bucket_of
from apps.accounts.client_address import address_of
from apps.accounts.models import Team


@dataclass(frozen=True, slots=True)
class TeamState:
    """The properties of a team before or after a change."""

    name: str
    visibility: str
    prompt: str
    members: frozenset[str]
    administrators: frozenset[str]
    rights: frozenset[str]
    """The permissions of the team's group, such as `catalog.view_application`."""


def team_state(group: int | None) -> TeamState | None:
    """Return the state of the team with this group, or None if the group is not a team."""
    team = Team.objects.filter(group=group).first()
    if team is None:
        return None
    held = team.group.permissions.values_list("content_type__app_label", "codename")
    return TeamState(
        str(team),
        team.visibility,
        team.prompt,
        frozenset(map(str, team.group.user_set.all())),
        frozenset(map(str, team.administrators.all())),
        frozenset(f"{app}.{name}" for app, name in held),
    )


def set_members(team: Team, members: Iterable[Any]) -> None:
    """Set the team's members. The administrators and the closed accounts, which the form does not
    offer, remain members.
    """
    closed = team.group.user_set.filter(is_active=False)
    team.group.user_set.set({*members, *team.administrators.all(), *closed})


def changes_of(before: TeamState | None, after: TeamState | None) -> list[str]:
    if after is None:
        return ["deleted"] if before is not None else []
    old = before or TeamState("", "", "", frozenset(), frozenset(), frozenset())
    found = ["created"] if before is None else []
    if before is not None and old.name != after.name:
        found.append(f"renamed from {old.name}")
    if old.visibility != after.visibility:
        found.append(f"shown to {after.visibility}")
    if old.prompt != after.prompt:
        found.append(f"prompt {after.prompt}" if after.prompt else "no prompt")
    return [
        *found,
        *of_each("added {}", after.members - old.members),
        *of_each("removed {}", old.members - after.members),
        *of_each("{} is now an administrator", after.administrators - old.administrators),
        *of_each("{} is no longer an administrator", old.administrators - after.administrators),
        *of_each("may {}", after.rights - old.rights),
        *of_each("may no longer {}", old.rights - after.rights),
    ]


def of_each(words: str, names: Iterable[str]) -> list[str]:
    return [words.format(name) for name in sorted(names)]


def record_changes(request: HttpRequest, before: TeamState | None, after: TeamState | None) -> None:
    team = after or before
    if team is not None:
        note(request, *(f"{team.name}: {change}" for change in changes_of(before, after)))


def teams_by_name(user: Any) -> frozenset[str]:
    return frozenset(map(str, Team.objects.filter(group__user=user)))


def record_moves(
    request: HttpRequest, user: Any, before: frozenset[str], after: frozenset[str]
) -> None:
    note(request, *(f"{team}: added {user}" for team in sorted(after - before)))
    note(request, *(f"{team}: removed {user}" for team in sorted(before - after)))


def note(request: HttpRequest, *subjects: str) -> None:
    actor, address = bucket_of(request.user.pk), address_of(request)
    for subject in subjects:
        audit.record(AuditEvent("team.changed", actor, address, subject=subject))
