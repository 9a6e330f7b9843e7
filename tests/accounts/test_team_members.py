"""Members of teams, and who may change them."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User

from apps.accounts.models import ServiceAccount
from apps.accounts.team_members import add_member, members_of, remove_member, set_administrator
from apps.accounts.teams import administers
from apps.errors import Refused
from tests.accounts.teams import make_team

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def grace() -> User:
    return User.objects.create_user("grace", email="grace@example.org")


def confirm(user: User, email: str, *, verified: bool = True) -> None:
    EmailAddress.objects.create(user=user, email=email, verified=verified)


def test_somebody_is_added_by_the_exact_name_or_a_confirmed_address(ada, grace):
    team = make_team("Docs", by=ada)
    confirm(grace, "grace@example.org")
    tom = User.objects.create_user("tom")

    assert add_member(team, "Grace@Example.org") == grace
    assert add_member(team, "tom") == tom
    assert list(members_of(team)) == [ada, grace, tom]


@pytest.mark.parametrize(
    "written", ["", "gra", "GRACE", "grace@example.org", "eve@example.org", "old", "robot"]
)
def test_nobody_is_added_by_less(ada, grace, written):
    team = make_team("Docs", by=ada)
    eve = User.objects.create_user("eve")
    confirm(eve, "eve@example.org", verified=False)
    User.objects.create_user("old", is_active=False)
    ServiceAccount.objects.create(user=User.objects.create_user("robot"))

    with pytest.raises(Refused, match="No account uses this exact username or email address"):
        add_member(team, written)

    assert list(members_of(team)) == [ada]


def test_the_last_administrator_stays_one(ada, grace):
    team = make_team("Docs", grace, by=ada)

    for change in (
        lambda: remove_member(team, ada),
        lambda: set_administrator(team, ada, is_administrator=False),
    ):
        with pytest.raises(Refused, match="needs an administrator"):
            change()
    set_administrator(team, grace, is_administrator=True)
    remove_member(team, ada)

    assert list(members_of(team)) == [grace]
    assert (administers(ada.pk, team.pk), administers(grace.pk, team.pk)) == (False, True)


def test_an_administrator_whose_account_is_closed_is_none(ada, grace):
    team = make_team("Docs", grace, by=ada)
    team.administrators.add(grace)
    User.objects.filter(pk=grace.pk).update(is_active=False)

    with pytest.raises(Refused):
        remove_member(team, ada)

    assert not administers(grace.pk, team.pk)


def test_one_who_is_no_member_administers_nothing(grace):
    team = make_team("Docs")
    team.administrators.add(grace)

    assert not administers(grace.pk, team.pk)
