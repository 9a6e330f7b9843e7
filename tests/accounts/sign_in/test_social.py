"""Accounts for the identities of identity providers."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import complete_social_login
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base.provider import Provider
from django.contrib.auth.models import AnonymousUser, Group, User
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpResponse
from django.test import RequestFactory

from apps.accounts.models import AuditEntry, ClaimMapping, SignUp, Team
from apps.accounts.sign_in.social import apply_claims, claimed_groups

pytestmark = pytest.mark.django_db

ADDRESS = "grace@example.org"
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


def configure(settings: Any, **options: Any) -> None:
    common = {"groups_claim": "", "allow_sign_up": None, "email_authentication": False}
    app = {"client_id": "x", "secret": "y"}
    company = {"server_url": "https://id.example.org", **common, **options}
    github = {"oauth_pkce_enabled": True, "scope": ["user:email"], **common}
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "provider_class": "apps.accounts.sign_in.openid_connect.OpenIDConnect",
            "APPS": [{**app, "provider_id": "company", "name": "Company", "settings": company}],
        },
        "github": {"APPS": [{**app, "provider_id": "github", "name": "G", "settings": github}]},
    }


def come_back(**told: Any) -> HttpResponse:
    """Return the answer to a browser after the provider has sent these claims."""
    request = RequestFactory().get("/accounts/oidc/company/callback/")
    request.user = AnonymousUser()
    SessionMiddleware(lambda _: HttpResponse()).process_request(request)
    MessageMiddleware(lambda _: HttpResponse()).process_request(request)
    with context.request_context(request):
        provider = get_adapter().get_provider(request, "company")
        login = provider.sociallogin_from_response(request, {"userinfo": {"sub": "7", **told}})
        login.state = {"process": "login"}
        answer: HttpResponse = complete_social_login(request, login)
        return answer


def test_of_two_providers_that_call_us_alike_a_sign_in_that_waits_goes_on_with_its_own(settings):
    """It waits for a second factor, or until a user has confirmed their identity."""
    configure(settings)
    known = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]
    other = {**known["APPS"][0], "provider_id": "other"}
    settings.SOCIALACCOUNT_PROVIDERS["openid_connect"] = {**known, "APPS": [*known["APPS"], other]}
    request = RequestFactory().get("/")

    with context.request_context(request):
        kept = [
            get_adapter().get_provider(request, one).serialize() for one in ("company", "other")
        ]
        found = [Provider.deserialize(one).app.provider_id for one in kept]

    assert found == ["company", "other"]


def test_a_client_secret_from_a_file_is_rotated_without_a_restart(settings, tmp_path, monkeypatch):
    file = tmp_path / "secret"
    monkeypatch.setenv("COMPANY_SECRET_FILE", str(file))
    file.write_text("old")
    configure(settings, client_secret_env="COMPANY_SECRET")
    request = RequestFactory().get("/")

    found = []
    for written in ("old", "new", ""):
        file.write_text(written)
        with context.request_context(request):
            found.append(get_adapter().get_provider(request, "company").app.secret)

    assert found == ["old", "new", "y"]


@pytest.mark.parametrize(
    ("sign_up", "allowed", "status"),
    [
        ("closed", None, 403),
        ("closed", True, 302),
        ("invitation", None, 403),
        ("open", None, 302),
        ("open", False, 403),
    ],
)
def test_strangers_get_accounts_where_the_operator_says_so(settings, sign_up, allowed, status):
    settings.SIGN_UP = sign_up
    configure(settings, allow_sign_up=allowed)

    answer = come_back(preferred_username="ada")

    assert answer.status_code == status
    assert User.objects.filter(username="ada").exists() is (status == 302)


def test_strangers_wait_for_approval_and_can_use_no_password(settings):
    settings.SIGN_UP = "approval"
    configure(settings)

    answer = come_back(preferred_username="ada", email="ada@example.org", email_verified=True)

    assert answer["Location"] == "/accounts/inactive/"
    ada = User.objects.get()
    assert (ada.is_active, ada.has_usable_password()) == (False, False)
    assert (ada.is_staff, ada.is_superuser) == (False, False)
    assert SignUp.objects.get(user=ada).needs_approval


def test_whoever_comes_back_is_known_by_the_providers_id_of_them(settings):
    configure(settings, allow_sign_up=True)
    come_back(preferred_username="ada", email="ada@example.org", email_verified=True)

    come_back(preferred_username="grace", email="other@example.org", email_verified=True)

    assert list(User.objects.values_list("username", "email")) == [("ada", "ada@example.org")]


def test_a_name_that_is_taken_is_not_given_again(settings):
    configure(settings, allow_sign_up=True)
    User.objects.create_user("root")

    come_back(preferred_username="root")

    linked = SocialAccount.objects.get()
    assert linked.user.username not in {"root", ""}


@pytest.mark.parametrize("trusted", [False, True])
def test_a_verified_address_links_only_where_the_operator_trusts_it(settings, trusted):
    configure(settings, allow_sign_up=True, email_authentication=trusted)
    grace = User.objects.create_user("grace", ADDRESS, "a-password-for-tests")
    EmailAddress.objects.create(user=grace, email=ADDRESS, verified=True, primary=True)

    answer = come_back(email=ADDRESS, email_verified=True)

    assert answer.status_code == (302 if trusted else 409)
    assert list(SocialAccount.objects.values_list("user", flat=True)) == [grace.pk] * trusted
    grace.refresh_from_db()
    assert grace.has_usable_password()


@pytest.mark.parametrize("verified", [False, "false", None, 1, "yes", ["true"]])
def test_an_address_that_is_not_verified_links_nobody(settings, verified):
    configure(settings, allow_sign_up=True, email_authentication=True)
    grace = User.objects.create_user("grace", ADDRESS)

    come_back(preferred_username="mallory", email=ADDRESS, email_verified=verified)

    linked = SocialAccount.objects.get()
    assert linked.user_id != grace.pk
    assert (linked.user.username, linked.user.email) == ("mallory", "")
    assert not EmailAddress.objects.exists()


def test_a_superuser_is_never_linked_by_an_address(settings):
    configure(settings, allow_sign_up=True, email_authentication=True)
    User.objects.create_superuser("root", ADDRESS)

    answer = come_back(email=ADDRESS, email_verified=True)

    assert (answer.status_code, SocialAccount.objects.count()) == (409, 0)


def test_a_closed_account_stays_closed(settings):
    configure(settings, allow_sign_up=True)
    come_back(preferred_username="ada")
    User.objects.update(is_active=False)

    assert come_back(preferred_username="ada")["Location"] == "/accounts/inactive/"


def test_the_way_to_github_has_a_state_and_a_code_challenge(settings, client):
    configure(settings)

    page = client.post("/accounts/github/login/").text

    assert 'content="0;url=https://github.com/login/oauth/authorize?' in page
    assert "state=" in page
    assert "code_challenge_method=S256" in page


def test_nobody_is_sent_anywhere_by_following_a_link(settings, client):
    configure(settings)

    page = client.get("/accounts/oidc/company/login/")

    assert (page.status_code, "Continue" in page.text) == (200, True)
    assert "refresh" not in page.text


@pytest.mark.parametrize("place", ["oidc/unknown/login", "oidc/unknown/callback"])
def test_a_provider_that_is_not_configured_does_not_exist(client, place):
    assert client.get(f"/accounts/{place}/").status_code == 404
    assert client.post(f"/accounts/{place}/").status_code == 404


def test_github_does_not_exist_until_it_is_configured(client):
    assert client.post("/accounts/github/login/").status_code == 404
    assert client.get("/accounts/github/callback/").status_code == 404


def test_a_claim_is_read_whatever_its_shape():
    found = [(told, claim, set(claimed_groups(told, claim))) for told, claim, _ in CLAIMS]

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
