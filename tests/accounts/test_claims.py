"""Claims of identity providers become groups here."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from apps.accounts.claims import apply_claims, told_groups
from apps.accounts.models import AuditEntry, ClaimMapping, Team

CLAIMS: list[tuple[dict[str, Any], str, set[str]]] = [
    ({"groups": ["a", "b", "a"]}, "groups", {"a", "b"}),
    ({"groups": "a"}, "groups", {"a"}),
    ({"realm_access": {"roles": ["a"]}}, "realm_access.roles", {"a"}),
    ({"https://example.org/groups": ["a"]}, "https://example.org/groups", {"a"}),
    ({"groups": ["a", 1, None, ["b"], {"c": "d"}]}, "groups", {"a"}),
    ({"groups": [str(number) for number in range(9999)]}, "groups", set(map(str, range(9999)))),
    ({"groups": {"a": True}}, "groups", set()),
    ({"groups": 7}, "groups", set()),
    ({"groups": None}, "groups", set()),
    ({"realm_access": ["roles"]}, "realm_access.roles", set()),
    ({}, "groups", set()),
]


def test_a_claim_is_read_whatever_its_shape():
    found = [(told, claim, set(told_groups(told, claim))) for told, claim, _ in CLAIMS]

    assert found == CLAIMS


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def mapped(value: str, *, is_exclusive: bool = False, provider: str = "company") -> Group:
    group, _ = Group.objects.get_or_create(name=f"our {value}")
    ClaimMapping.objects.create(
        provider=provider, value=value, group=group, is_exclusive=is_exclusive
    )
    return group


def names(user: User) -> list[str]:
    return sorted(user.groups.values_list("name", flat=True))


def changes() -> list[tuple[str, str, str]]:
    rows = AuditEntry.objects.filter(event="groups.changed").order_by("pk")
    return list(rows.values_list("actor", "address", "subject"))


@pytest.mark.django_db
def test_who_is_told_to_be_in_a_group_joins_what_it_is_mapped_to(ada):
    mapped("writers")
    mapped("readers")
    mapped("others", provider="elsewhere")
    ada.groups.add(Group.objects.create(name="by hand"))

    apply_claims(ada, "company", frozenset({"writers", "others", "unknown"}), "192.0.2.1")
    apply_claims(ada, "company", frozenset({"writers"}))

    assert names(ada) == ["by hand", "our writers"]
    assert changes() == [(f"user-{ada.pk}", "192.0.2.1", "company: +our writers")]


@pytest.mark.django_db
def test_who_is_told_so_no_more_leaves_exclusive_groups_and_administers_no_team_of_theirs(ada):
    kept, left = mapped("kept"), mapped("left", is_exclusive=True)
    team = Team.objects.create(group=left)
    team.administrators.add(ada)
    ada.groups.add(kept, left)

    apply_claims(ada, "company", frozenset())

    assert names(ada) == ["our kept"]
    assert list(team.administrators.all()) == []
    assert changes() == [(f"user-{ada.pk}", "", "company: -our left")]


@pytest.mark.django_db
def test_one_of_several_values_is_enough_to_stay(ada):
    group = mapped("a", is_exclusive=True)
    ClaimMapping.objects.create(provider="company", value="b", group=group, is_exclusive=True)
    ada.groups.add(group)

    apply_claims(ada, "company", frozenset({"b"}))

    assert names(ada) == ["our a"]
    assert changes() == []
