"""The doors for operators, with the same callers and applications; all callers are staff here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest
from django.contrib.auth.models import Group, User
from django.template.backends.django import Template
from django.template.response import SimpleTemplateResponse
from django.test import Client

from apps.catalog.models import Application
from tests.access.askers import APPLICATIONS, CSRF, NONE, make_askers
from tests.catalog.rows import make_deployment
from tests.contract import proves

pytestmark = pytest.mark.django_db

EDITED: Mapping[str, frozenset[str]] = {
    "stranger": NONE,
    "grantee": frozenset({"person-editor", "person-owner", "disabled"}),
    "member of a group": frozenset({"group-editor", "group-owner"}),
    "member who works in the team": frozenset({"team-editor", "team-owner"}),
    "member who works for themselves": NONE,
    "former member with the team in the session": NONE,
    "owner": frozenset({"private"}),
    "accessor of all": APPLICATIONS,
    "accessor of all by a group": APPLICATIONS,
    "superuser": APPLICATIONS,
    "closed account": NONE,
}
OWNED = {
    who: names
    if names == APPLICATIONS
    else frozenset(name for name in names if not name.endswith("-editor"))
    for who, names in EDITED.items()
}
BY_A_GRANT = {who: names for who, names in EDITED.items() if not who.startswith("accessor")}
"""Pages for staff without permission to view or change applications."""
Door = Callable[[Client, Application], int]


@pytest.fixture
def browsers_of_staff() -> Mapping[str, Client]:
    make_deployment("demo-model")
    askers = make_askers()
    User.objects.filter(username__in=EDITED).update(is_staff=True)
    return {who: Client(headers={**askers[who].headers}) for who in EDITED}


@pytest.fixture
def browsers(browsers_of_staff: Mapping[str, Client]) -> Mapping[str, Client]:
    operators = Group.objects.get(name="operator")
    operators.user_set.add(*User.objects.filter(username__in=EDITED))
    return browsers_of_staff


@pytest.fixture
def nothing_is_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip rendering, which takes most of the time of an admin page and of an error page. Only the
    status is checked."""
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")
    monkeypatch.setattr(Template, "render", lambda *arguments, **named: "")


def admitted(browsers: Mapping[str, Client], door: Door) -> dict[str, frozenset[str]]:
    """Return where each caller has access. All other applications look nonexistent."""
    found = {}
    rows = {row.slug: row for row in Application.objects.all()}
    for who, client in browsers.items():
        missing = door(client, Application(pk=99_999, slug="missing"))
        answers = {slug: door(client, row) for slug, row in rows.items()}
        assert missing not in (200, 500)
        found[who] = frozenset(slug for slug, status in answers.items() if status != missing)
        assert {answers[slug] for slug in found[who]} <= {200, 204}, (who, answers)
    return found


def page(name: str) -> Door:
    return lambda client, row: (
        client.get(f"/admin/catalog/application/{row.pk}/{name}/").status_code
    )


def write(client: Client, row: Application) -> int:
    headers = {"x-csrftoken": CSRF}
    sent = {"title": "Renamed"}
    url = f"/api/applications/{row.slug}/"
    return client.patch(url, sent, "application/json", headers=headers).status_code


DOORS: dict[str, Door] = {
    "studio": page("studio"),
    "history": page("history"),
    "trial": lambda client, row: (
        client.post(
            f"/admin/catalog/application/{row.pk}/studio/tools/trial/",
            {"manifest": {}, "place": "all"},
            "application/json",
            headers={"x-csrftoken": CSRF},
        ).status_code
    ),
    "files": page("files"),
    "versions": page("versions"),
    "read": lambda client, row: client.get(f"/api/applications/{row.slug}/").status_code,
    "grants": lambda client, row: client.get(f"/api/applications/{row.slug}/grants/").status_code,
    "write": write,
}


@pytest.mark.slow("tries every door for every caller")
@proves("operators")
@pytest.mark.parametrize("name", DOORS)  # each sends 200 requests, too many for one test
def test_each_door_of_operators_opens_for_what_they_edit(browsers, nothing_is_rendered, name):
    assert admitted(browsers, DOORS[name]) == EDITED


GRANTED_DOORS: dict[str, Door] = {
    "studio": page("studio"),
    "choices": page("studio/choices"),
    "save": lambda client, row: (
        client.post(
            f"/admin/catalog/application/{row.pk}/studio/check/",
            {"manifest": {}, "title": "T"},
            "application/json",
            headers={"x-csrftoken": CSRF},
        ).status_code
    ),
}


@pytest.mark.slow("tries every door for every caller")
@proves("operators")
@pytest.mark.parametrize("name", GRANTED_DOORS)
def test_a_grant_opens_the_studio_to_staff(browsers_of_staff, nothing_is_rendered, name):
    staff = {who: browsers_of_staff[who] for who in BY_A_GRANT}

    assert admitted(staff, GRANTED_DOORS[name]) == BY_A_GRANT


def archived(client: Client, row: Application) -> int:
    page = f"/admin/catalog/application/{row.pk}/archive/"
    return client.post(page, headers={"x-csrftoken": CSRF}).status_code


def test_an_application_is_archived_by_its_owners_alone(browsers, nothing_is_rendered):
    pages = {}
    for who, client in browsers.items():
        rows = Application.objects.filter(slug__in=EDITED[who])
        answers = {row.slug: archived(client, row) for row in rows}
        pages[who] = frozenset(slug for slug, status in answers.items() if status == 302)

    assert pages == OWNED


@proves("operators")
@pytest.mark.parametrize("address", ["/admin/catalog/application/", "/api/applications/"])
def test_each_list_of_operators_has_what_they_edit(browsers, address):
    found = {who: client.get(address).text for who, client in browsers.items()}

    named = {
        who: frozenset(slug for slug in APPLICATIONS if re.search(rf"The {slug}[<\"\s]", text))
        for who, text in found.items()
    }
    assert named == EDITED
