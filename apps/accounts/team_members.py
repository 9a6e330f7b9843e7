"""Changes to who is in a team. Its administrators are members, and the last of them stays one."""

from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext, gettext_noop

from apps.accounts.models import Team
from apps.errors import Refused

MOST_TOLD = 100
"""Members that a model is told of."""
LAST = gettext_noop("The team needs an administrator. Make somebody else one first.")


def members_of(team: Team) -> QuerySet[Any]:
    """The open accounts of the team's members, by name."""
    rows = get_user_model().objects.filter(groups=team.group_id, is_active=True)
    return rows.order_by("username")


def described(number: int, user_id: int) -> dict[str, Any] | None:
    """The team as one of its members may know it; None for anybody else."""
    team = Team.objects.select_related("group").filter(pk=number, group__user=user_id).first()
    if team is None:
        return None
    administrators = members_of(team).filter(administered_teams=team)
    return {
        "team": str(team),
        "members": [str(user) for user in members_of(team)[:MOST_TOLD]],
        "administrators": [str(user) for user in administrators[:MOST_TOLD]],
        "conversations_can_be_read_by": team.get_visibility_display(),
    }


def find_account(written: str) -> Any:
    """The open account with exactly this username or confirmed e-mail address.

    Raises `Refused`; nobody is found by a part of a name, nor by an address of somebody else's.
    """
    confirmed = Q(emailaddress__email__iexact=written, emailaddress__verified=True)
    rows = get_user_model().objects.filter(Q(username=written) | confirmed, is_active=True)
    found = list(rows.filter(service_account=None).distinct()[:2])
    if len(found) != 1:
        raise Refused(
            "no_account", gettext("No account has exactly this username or e-mail address.")
        )
    return found[0]


def add_member(team: Team, written: str) -> Any:
    """The account that is a member now. Raises `Refused`."""
    user = find_account(written)
    user.groups.add(team.group)
    return user


@transaction.atomic
def remove_member(team: Team, user: Any) -> None:
    """Raises `Refused` for the last administrator."""
    set_administrator(team, user, is_one=False)
    user.groups.remove(team.group)


@transaction.atomic
def set_administrator(team: Team, user: Any, *, is_one: bool) -> None:
    """Raises `Refused` for the last administrator."""
    # Locked, so that two of them cannot leave at once.
    locked = Team.objects.select_for_update().get(pk=team.pk)
    if is_one:
        locked.administrators.add(user)
        return
    left = members_of(team).filter(administered_teams=team).exclude(pk=user.pk)
    if locked.administrators.filter(pk=user.pk).exists() and not left.exists():
        raise Refused("last_administrator", gettext(LAST))
    locked.administrators.remove(user)
