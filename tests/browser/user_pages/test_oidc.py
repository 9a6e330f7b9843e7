"""Users sign in with an identity provider, which is a second server on the loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers, sign_out
from tests.identity_provider.__main__ import CLIENT, PASSWORD, SECRET
from tests.identity_provider.serving import IdentityProvider, People, serve_provider
from tests.sites.serving import Site, free_port, serve

ADA = {"email": "ada@example.org", "email_verified": True, "groups": ["readers", "unknown"]}
PEOPLE: People = {
    "ada": ADA,
    "mallory": {"email": "grace@example.org", "email_verified": False},
    "grace": {"email": "grace@example.org", "email_verified": True},
    "lin": {},
    "texts": {"email": "grace@example.org", "email_verified": "false"},
    "replayed": {"in id_token": {"nonce": "of-another-sign-in"}},
    "twofold": {"in userinfo": {"sub": "somebody-else"}},
    "null": {"name": "a\0b"},
    "odd": {"email": ["x"], "groups": {"a": 1}, "name": 5, "preferred_username": None},
}
PREPARE = """
from django.contrib.auth.models import User
User.objects.create_user("grace", "grace@example.org", password)
User.objects.create_superuser("root", "", password)
for name in ("readers", "writers"):
    group = Group.objects.create(name=name)
    ClaimMapping.objects.create(
        provider="company", value=name, group=group, is_exclusive=name == "readers"
    )
Team.objects.create(group=Group.objects.get(name="readers"))
"""
PEOPLE_HERE = """
from django.contrib.auth.models import User
result = {
    user.username: [user.email, user.is_staff, sorted(user.groups.values_list("name", flat=True))]
    for user in User.objects.filter(username__in=names)
}
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, IdentityProvider]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    common = {"server_url": url, "client_id": CLIENT, "client_secret_env": "SECRET"}
    providers = [
        {**common, "id": "company", "name": "Company", "allow_sign_up": True}
        | {"groups_claim": "groups"},
        {**common, "id": "wrong", "name": "Wrong", "client_secret_env": "HOME"},
        {**common, "id": "closed", "name": "Closed"},
        {**common, "id": "away", "name": "Away", "server_url": "http://127.0.0.1:9"},
    ]
    settings = {"SIGN_IN_PROVIDERS": json.dumps(providers), "SECRET": SECRET}
    with serve(tmp_path_factory.mktemp("site"), **settings) as site:
        site.shell(PREPARE, password=PASSWORD)
        ids = ("company", "wrong", "closed")
        back = [f"{site.url}/accounts/oidc/{id}/callback/" for id in ids]
        with serve_provider(tmp_path_factory.mktemp("provider"), port, PEOPLE, *back) as provider:
            yield site, provider


@pytest.fixture(scope="module", autouse=True)
def catalog_of_the_module() -> None:
    """Keep the rows: this module has its own site, whose catalog no other module uses."""


@pytest.fixture
def site(served: tuple[Site, IdentityProvider]) -> Site:
    return served[0]


@pytest.fixture
def provider(served: tuple[Site, IdentityProvider]) -> IdentityProvider:
    return served[1]


def sign_in(page: Page, name: str, button: str = "Company") -> None:
    page.goto("/accounts/login/?next=/connections/")
    page.get_by_role("button", name=f"Sign in with {button}").click()
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def here(site: Site, *names: str) -> object:
    return site.shell(PEOPLE_HERE, names=names)


def test_groups_of_the_provider_are_groups_here_at_each_sign_in(
    page: Page, site: Site, provider: IdentityProvider
):
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url) if "code_chal" in sent.url else None)

    sign_in(page, "ada")
    expect(page.get_by_role("heading", name="Connections", exact=True)).to_be_visible()

    assert here(site, "ada") == {"ada": ["ada@example.org", False, ["readers"]]}
    query = parse_qs(urlsplit(asked[0]).query)
    assert query["code_challenge_method"] == ["S256"]
    assert all(len(query[name][0]) >= 16 for name in ("state", "nonce", "code_challenge"))

    provider.tell({**PEOPLE, "ada": {**ADA, "groups": ["writers"]}})
    sign_out(page)
    page.goto("/accounts/login/?next=/connections/")
    page.get_by_role("button", name="Sign in with Company").click()
    expect(page.get_by_role("heading", name="Connections", exact=True)).to_be_visible()
    assert here(site, "ada") == {"ada": ["ada@example.org", False, ["writers"]]}


@pytest.mark.parametrize("name", ["mallory", "texts"])
def test_a_stranger_with_the_unverified_address_of_somebody_is_somebody_else(
    page: Page, site: Site, name: str
):
    sign_in(page, name)
    expect(page.get_by_role("heading", name="Connections", exact=True)).to_be_visible()

    assert here(site, "grace", name) == {
        "grace": ["grace@example.org", False, []],
        name: ["", False, []],
    }


def confirm_who_it_is(page: Page) -> None:
    expect(page.get_by_label("Password")).to_be_visible()
    assert barriers(page) == []
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm", exact=True).click()


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_verified_address_of_somebody_is_not_linked_until_they_do_so_themselves(
    page: Page, site: Site
):
    sign_in(page, "grace")
    expect(page.get_by_role("heading", name="You already have an account")).to_be_visible()
    assert barriers(page) == []

    page.get_by_role("link", name="Sign in to link your account").click()
    page.get_by_label("Username").fill("grace")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Link Company").click()
    confirm_who_it_is(page)
    expect(page.get_by_role("heading", name="Company")).to_be_visible()
    assert barriers(page) == []

    sign_out(page)
    page.goto("/accounts/login/?next=/accounts/linked/")
    page.get_by_role("button", name="Sign in with Company").click()
    page.get_by_role("button", name="Unlink Company").click()
    confirm_who_it_is(page)
    expect(page.get_by_text("No accounts are linked yet.")).to_be_visible()


def test_claims_of_odd_shapes_are_survived(page: Page, site: Site):
    sign_in(page, "odd")

    expect(page.get_by_role("heading", name="Connections", exact=True)).to_be_visible()


@pytest.mark.parametrize("name", ["replayed", "twofold", "null"])
def test_an_answer_that_cannot_be_trusted_signs_nobody_in(page: Page, site: Site, name: str):
    sign_in(page, name)

    expect(page.get_by_role("alert")).to_contain_text("Signing in with Company failed")
    assert here(site, name) == {}


@pytest.mark.parametrize("button", ["Away", "Wrong"])
def test_a_provider_that_does_not_answer_or_refuses_us_is_said_to(
    page: Page, site: Site, button: str
):
    if button == "Away":
        page.goto("/accounts/login/")
        page.get_by_role("button", name="Sign in with Away").click()
    else:
        sign_in(page, "ada", "Wrong")

    told = page.get_by_role("alert")
    expect(told).to_contain_text(f"Signing in with {button} failed")
    assert barriers(page) == []
    assert "failed for 127.0.0.1" in site.log.read_text()
    assert SECRET not in site.log.read_text()


def test_nobody_signs_up_with_a_provider_unless_the_operator_says_so(page: Page, site: Site):
    sign_in(page, "lin", "Closed")

    expect(page.get_by_role("heading", name="No linked account")).to_be_visible()


def test_who_comes_back_without_having_left_is_told(page: Page, site: Site):
    page.goto("/accounts/oidc/company/callback/?code=stolen&state=made-up")

    expect(page.get_by_role("heading", name="You aren’t signed in")).to_be_visible()


def test_the_sign_in_page_keeps_nobody_out(page: Page, site: Site):
    page.goto("/accounts/login/")

    assert barriers(page) == []
