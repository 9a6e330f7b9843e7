"""Changes the members of a team. Administrators are also members, and the last administrator cannot
leave.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext, gettext_noop

from apps.accounts.models import Team
from apps.errors import Refused

MOST_LISTED = 100
"""The team description that a model receives lists up to this many members and up to this many
administrators.
"""
LAST = gettext_noop("The team needs an administrator. Make another member an administrator first.")


def members_of(team: Team) -> QuerySet[Any]:
    """Return the members of the team whose accounts are active, sorted by name."""
    rows = get_user_model().objects.filter(groups=team.group_id, is_active=True)
    return rows.order_by("username")


def describe_team(number: int, user_id: int) -> dict[str, Any] | None:
    """Return the description of a team for a model, or None if the user is not a member."""
    team = Team.objects.filter(pk=number, group__user=user_id).first()
    if team is None:
        return None
    administrators = members_of(team).filter(administered_teams=team)
    return {
        "team": str(team),
        "members": [str(user) for user in members_of(team)[:MOST_LISTED]],
        "administrators": [str(user) for user in administrators[:MOST_LISTED]],
        "conversations_can_be_read_by": team.get_visibility_display(),
    }


def find_account(written: str) -> Any:
    """Return the active account with exactly this username or confirmed email address. Raises
    `Refused` if there is none, or several.
    """
    confirmed = Q(emailaddress__email__iexact=written, emailaddress__verified=True)
    rows = get_user_model().objects.filter(Q(username=written) | confirmed, is_active=True)
    found = list(rows.filter(service_account=None).distinct()[:2])
    if len(found) != 1:
        raise Refused(
            "no_account",
            gettext("No account uses this exact username or email address. Check the spelling."),
        )
    return found[0]


def add_member(team: Team, written: str) -> Any:
    """Add the account with this username or email address to the team, and return it. Raises
    `Refused` if there is no such account.
    """
    user = find_account(written)
    user.groups.add(team.group)
    return user


@transaction.atomic
def remove_member(team: Team, user: Any) -> None:
    """Remove a member from the team. Raises `Refused` for the team's last administrator."""
    set_administrator(team, user, is_administrator=False)
    user.groups.remove(team.group)


def check_administrators(team: Team, administrators: Iterable[Any]) -> None:
    """Raise `Refused` if the change would leave the team without an administrator whose account is
    active. A team that already lacks such an administrator is not checked.
    """
    has_one = members_of(team).filter(administered_teams=team).exists()
    if has_one and not any(user.is_active for user in administrators):
        raise Refused("last_administrator", gettext(LAST))


@transaction.atomic
def set_administrator(team: Team, user: Any, *, is_administrator: bool) -> None:
    """Make a member an administrator or an ordinary member of the team. Raises `Refused` for the
    last administrator.
    """
    # The row is locked, so that two administrators cannot leave at the same time.
    locked = Team.objects.select_for_update(of=("self",)).get(pk=team.pk)
    if is_administrator:
        locked.administrators.add(user)
        return
    left = members_of(team).filter(administered_teams=team).exclude(pk=user.pk)
    if locked.administrators.filter(pk=user.pk).exists() and not left.exists():
        raise Refused("last_administrator", gettext(LAST))
    locked.administrators.remove(user)
