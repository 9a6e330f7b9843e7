"""Operators map groups of a provider to groups of the site, and see linked accounts."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import Group, User

from apps.accounts.models import ClaimMapping

pytestmark = pytest.mark.django_db

MAPPINGS = "/admin/accounts/claimmapping/"
APP = {
    "provider_id": "company",
    "name": "Company",
    "client_id": "quickapps",
    "secret": "s3cret-of-company",
    "settings": {},
}


@pytest.fixture(autouse=True)
def one_provider(settings: Any) -> None:
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [APP]}, "github": {"APPS": []}}


def test_a_value_is_mapped_to_a_group(admin_client):
    group = Group.objects.create(name="readers")
    form = {"provider": "company", "value": "all-readers", "group": group.pk, "is_exclusive": "on"}

    page = admin_client.get(f"{MAPPINGS}add/").text
    answer = admin_client.post(f"{MAPPINGS}add/", form)

    assert '<option value="company">Company</option>' in page
    assert "s3cret-of-company" not in page
    assert answer.status_code == 302
    assert list(ClaimMapping.objects.values_list("provider", "value", "group", "is_exclusive")) == [
        ("company", "all-readers", group.pk, True)
    ]
    assert "all-readers" in admin_client.get(MAPPINGS).text


def test_a_provider_that_is_not_configured_cannot_be_chosen(admin_client):
    group = Group.objects.create(name="readers")

    answer = admin_client.post(
        f"{MAPPINGS}add/", {"provider": "other", "value": "x", "group": group.pk}
    )

    assert (answer.status_code, ClaimMapping.objects.count()) == (200, 0)


def test_staff_without_the_permission_see_no_mappings(client):
    client.force_login(User.objects.create_user("staff", is_staff=True))

    assert client.get(MAPPINGS).status_code == 403
    assert client.get("/admin/socialaccount/socialaccount/").status_code == 403


def test_who_is_linked_is_listed_without_what_the_provider_told(admin_client):
    ada = User.objects.create_user("ada")
    linked = SocialAccount.objects.create(
        user=ada, provider="company", uid="7f", extra_data={"phone": "+371 1"}
    )
    place = "/admin/socialaccount/socialaccount/"

    listed, one = admin_client.get(place).text, admin_client.get(f"{place}{linked.pk}/change/").text
    answer = admin_client.post(f"{place}{linked.pk}/delete/", {"post": "yes"})

    assert "7f" in listed
    assert "+371 1" not in listed + one
    assert (answer.status_code, SocialAccount.objects.count()) == (302, 0)


@pytest.mark.parametrize("model", ["socialapp", "socialtoken"])
def test_secrets_of_providers_are_nowhere_in_the_admin(admin_client, model):
    assert admin_client.get(f"/admin/socialaccount/{model}/").status_code == 404
