"""Operators register, block and disconnect programs, in the admin and with the API."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.idp.oidc.models import Token
from django.contrib.admin.utils import quote
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from apps.accounts.models import AuditEntry, Program, ProgramConnection
from apps.accounts.oauth import programs
from tests.catalog.rows import make_operator
from tests.console.pages import browser_of, script_of, staff_account
from tests.oauth_server.conftest import ada as ada
from tests.oauth_server.conftest import authorization_server as authorization_server
from tests.oauth_server.flows import (
    BACK,
    client_id,
    decide,
    exchange,
    query,
    signed_in,
    tokens,
)
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

ADMIN = "/admin/accounts/program/"
CONNECTIONS = "/admin/accounts/programconnection/"
API = "/api/programs/"
NEW = {"name": "Desk", "type": "confidential", "redirect_uris": f"{BACK}\n\nhttps://a.example/b"}
SENT = {**NEW, "redirect_uris": [BACK, "https://a.example/b"]}


@pytest.fixture
def operator() -> User:
    return make_operator()


@pytest.fixture
def browser(operator: User) -> Client:
    return browser_of(operator)


@pytest.fixture
def api(operator: User) -> APIClient:
    return script_of(operator)


def events() -> list[tuple[str, str]]:
    rows = AuditEntry.objects.filter(event__startswith="program.").order_by("pk")
    return list(rows.values_list("event", "subject"))


def shown_secret(page: str) -> str:
    found = re.search(r'id="created-secret" readonly value="([^"]+)"', page)
    return found[1] if found else ""


def test_a_registered_program_is_confidential_and_its_secret_is_shown_once(
    browser: Client, ada: User
):
    place = browser.post(f"{ADMIN}add/", NEW)["Location"]
    secret = shown_secret(browser.get(place).text)
    program = Program.objects.get()

    assert program.check_secret(secret)
    assert program.secret != secret
    assert (program.get_redirect_uris(), program.get_scopes()) == (SENT["redirect_uris"], ["mcp"])
    assert shown_secret(browser.get(place).text) == ""
    assert events() == [("program.registered", f"Desk ({program.pk})")]
    page = signed_in(ada).get("/oauth/authorize", query(program.pk)).text
    assert "registered by an administrator" in page
    code = decide(signed_in(ada), program.pk)["code"]
    assert exchange(program.pk, code).status_code == 401
    assert exchange(program.pk, code, client_secret=secret).status_code == 200


def test_a_public_program_has_no_secret(browser: Client, ada: User):
    place = browser.post(f"{ADMIN}add/", {**NEW, "type": "public"})["Location"]
    page = browser.get(place).text

    program = Program.objects.get()
    assert (shown_secret(page), program.pk in page) == ("", True)
    assert "which has no secret" in page
    assert tokens(ada, program.pk)["access_token"]


@each_row(
    ("changes", "problem"),
    [
        ({"redirect_uris": ""}, "This field is required"),
        ({"redirect_uris": " \n "}, "This field is required"),
        ({"redirect_uris": "http://a.example/"}, "is not allowed"),
        ({"redirect_uris": "\n".join([BACK] * 11)}, "11 redirect URIs; the limit is 10"),
        ({"name": "a\u202eb"}, "unprintable characters"),
        ({"name": ""}, "This field is required"),
        ({"type": "other"}, "not one of the available choices"),
    ],
)
def test_invalid_programs_are_refused_by_the_form(changes, problem, browser: Client):
    answer = browser.post(f"{ADMIN}add/", {**NEW, **changes})

    assert (answer.status_code, problem in answer.text) == (200, True)
    assert not Program.objects.exists()


@each_row(
    ("changes", "path"),
    [
        ({"redirect_uris": []}, "redirect_uris"),
        ({"redirect_uris": ["javascript:alert(1)"]}, "redirect_uris"),
        ({"redirect_uris": [BACK] * 11}, "redirect_uris"),
        ({"redirect_uris": ["https://a.example/" + "a" * 500]}, "redirect_uris[0]"),
        ({"redirect_uris": BACK}, "redirect_uris"),
        ({"name": "a\nb"}, "name"),
        ({"name": "a" * 101}, "name"),
        ({"type": "other"}, "type"),
        ({"scopes": "openid"}, "scopes"),
    ],
)
def test_invalid_programs_are_refused_by_the_api(changes, path, api: APIClient):
    answer = api.post(API, {**SENT, **changes})

    assert (answer.status_code, [one["path"] for one in answer.data["errors"]]) == (400, [path])
    assert not Program.objects.exists()


def test_the_number_of_registered_programs_is_limited(monkeypatch, browser: Client, api: APIClient):
    monkeypatch.setattr(programs, "MOST_REGISTERED", 1)
    client_id()  # Programs that register themselves do not count.

    first, second = api.post(API, SENT), api.post(API, SENT)
    in_admin = browser.post(f"{ADMIN}add/", NEW)

    assert (first.status_code, second.status_code) == (201, 400)
    assert "The maximum number of registered programs is 1" in str(second.data)
    assert "The maximum number of registered programs is 1" in in_admin.text


def test_the_api_registers_changes_and_deletes_a_program(api: APIClient):
    created = api.post(API, SENT).data
    address = f"{API}{created['id']}/"
    secret = created.pop("client_secret")
    changed = api.patch(address, {"name": "Desk 2", "redirect_uris": [BACK]}).data
    renewed = api.post(f"{address}secret/").data["client_secret"]
    program = Program.objects.get()
    deleted = api.delete(address)

    assert created == {
        "id": program.pk,
        "client_id": program.pk,
        "name": "Desk",
        "type": "confidential",
        "redirect_uris": SENT["redirect_uris"],
        "source": "operator",
        "is_blocked": False,
        "created_at": created["created_at"],
    }
    assert (changed["name"], changed["redirect_uris"]) == ("Desk 2", [BACK])
    assert changed["client_secret"] is None
    assert (program.check_secret(secret), program.check_secret(renewed)) == (False, True)
    assert (deleted.status_code, Program.objects.exists()) == (204, False)
    assert [name for name, _ in events()] == [
        *("program.registered", "program.changed", "program.changed", "program.deleted"),
    ]


def test_a_new_secret_replaces_the_old_one_in_the_admin(browser: Client):
    browser.post(f"{ADMIN}add/", NEW)
    program = Program.objects.get()

    page = browser.get(f"{ADMIN}{program.pk}/change/").text
    shown = browser.post(f"{ADMIN}{program.pk}/renew/", follow=True).text

    assert "Create a new client secret" in page
    program.refresh_from_db()
    assert program.check_secret(shown_secret(shown))


def test_what_a_program_says_of_itself_cannot_be_changed(
    browser: Client, api: APIClient, ada: User
):
    tokens(ada)
    program = Program.objects.get()

    form = browser.get(f"{ADMIN}{program.pk}/change/").text
    renewed = browser.post(f"{ADMIN}{program.pk}/renew/")
    answers = [
        api.patch(f"{API}{program.pk}/", changes).status_code
        for changes in ({"name": "Other"}, {"redirect_uris": ["https://b.example/"]})
    ]
    secret = api.post(f"{API}{program.pk}/secret/")

    assert 'name="redirect_uris"' not in form
    assert (renewed.status_code, answers, secret.status_code) == (403, [400, 400], 400)
    assert api.patch(f"{API}{program.pk}/", {"type": "confidential"}).status_code == 400


@pytest.mark.parametrize("door", ["admin", "api"])
def test_a_blocked_program_is_disconnected_and_cannot_be_connected(
    door: str, browser: Client, api: APIClient, ada: User
):
    program = client_id()
    tokens(ada, program)
    page = signed_in(ada).get("/oauth/authorize", query(program))
    [signed] = re.findall(r'name="request" value="([^"]+)"', page.text)
    pending = decide(signed_in(ada), program)["code"]

    if door == "admin":
        browser.post(ADMIN, {"action": "block", "_selected_action": [program]})
    else:
        assert api.patch(f"{API}{program}/", {"is_blocked": True}).data["is_blocked"] is True

    assert not Token.objects.exists()
    assert not ProgramConnection.objects.exists()
    refused = signed_in(ada).get("/oauth/authorize", query(program))
    sent = {"request": signed, "scopes": "mcp", "action": "grant"}
    posted = signed_in(ada).post("/oauth/authorize", sent)
    assert (refused.status_code, posted.status_code) == (400, 400)
    assert "This program is blocked on this server" in refused.text
    assert "This program is blocked on this server" in posted.text
    assert exchange(program, pending).json()["error"] == "invalid_grant"
    assert events()[-1][0] == "program.blocked"

    if door == "admin":
        browser.post(ADMIN, {"action": "unblock", "_selected_action": [program]})
    else:
        api.patch(f"{API}{program}/", {"is_blocked": False})
    assert events()[-1][0] == "program.unblocked"
    assert tokens(ada, program)["access_token"]


def test_a_block_survives_the_cleanup_of_programs(browser: Client, monkeypatch):
    program = client_id()
    programs.set_blocked([program], make_operator("other"), "", on=True)
    monkeypatch.setattr(programs, "UNCONNECTED", programs.UNCONNECTED * 0)

    programs.delete_unconnected()

    assert Program.objects.get().is_blocked


def test_the_page_of_a_program_leads_to_its_users(browser: Client, ada: User):
    address = "https://files.example/client.json?a=b&c"
    row = Program.objects.create(id=address, name="Tool", data={"cimd": True, "connected": True})
    ProgramConnection.objects.create(user=ada, program=row)
    tokens(User.objects.create_user("grace"))

    page = browser.get(f"{ADMIN}{quote(row.pk)}/change/").text
    [link] = re.findall(rf'href="({CONNECTIONS}[^"]+)"', page)
    listed = browser.get(link).text

    assert ("Tool" in listed, "Editor" in listed) == (True, False)
    assert browser.get(f"{CONNECTIONS}?program__id=a%00b").status_code == 200


def test_strangers_do_not_fill_the_list(browser: Client, api: APIClient):
    program = client_id(client_name="Stranger")

    assert "Stranger" not in browser.get(ADMIN).text
    assert api.get(API).data["results"] == []
    assert api.get(f"{API}{program}/").status_code == 404


@pytest.mark.parametrize("door", ["admin", "api"])
def test_an_operator_sees_connected_programs_and_disconnects_one(
    door: str, browser: Client, api: APIClient, ada: User
):
    tokens(ada, client_id(client_name="Editor"))
    tokens(User.objects.create_user("grace"), client_id(client_name="Desk"))
    row = ProgramConnection.objects.get(user=ada)

    if door == "admin":
        page = browser.get(CONNECTIONS).text
        assert ("Editor" in page, "ada" in page, "grace" in page) == (True, True, True)
        browser.post(CONNECTIONS, {"action": "disconnect", "_selected_action": [row.pk]})
    else:
        [_, found] = api.get("/api/program-connections/").data["results"]
        assert found == {
            "id": row.pk,
            "program": row.program.pk,
            "program_name": "Editor",
            "user": "ada",
            "team": None,
            "application": None,
            "connected_at": found["connected_at"],
            "last_used_at": None,
        }
        assert api.delete(f"/api/program-connections/{row.pk}/").status_code == 204

    assert [one.user.username for one in ProgramConnection.objects.all()] == ["grace"]
    assert {token.user.username for token in Token.objects.all()} == {"grace"}
    assert events()[-1] == ("program.disconnected", f"Editor ({row.program.pk}) of ada")


def test_only_the_tokens_of_an_ended_connection_are_deleted(api: APIClient, ada: User):
    from tests.catalog.rows import make_application

    make_application("travel")
    program = client_id()
    tokens(ada, program)
    tokens(ada, program, "http://testserver/mcp/travel")

    api.delete(f"/api/program-connections/{ProgramConnection.objects.get(slug='').pk}/")

    kept = {resource for token in Token.objects.all() for resource in token.get_resources()}
    assert kept == {"http://testserver/mcp/travel"}


def test_a_program_with_a_document_has_an_id_without_slashes(api: APIClient, ada: User):
    address = "https://files.example/client.json"
    row = Program.objects.create(id=address, name="Tool", data={"cimd": True, "connected": True})

    found = api.get(f"{API}{quote(row.pk)}/").data

    assert (found["id"], found["client_id"]) == (quote(address), address)
    assert found["source"] == "document"


@each_row("permissions", [(), ("view_program",), ("view_program", "add_program")])
def test_operators_need_permissions(permissions: Any, ada: User):
    User.objects.filter(username="olga").delete()
    olga = staff_account("olga", *permissions)
    program = Program.objects.create(name="Desk", data={})
    script, browser = script_of(olga), browser_of(olga)

    seen = script.get(API).status_code
    changed = script.patch(f"{API}{program.pk}/", {"is_blocked": True}).status_code
    deleted = script.delete(f"{API}{program.pk}/").status_code
    connections = script.get("/api/program-connections/").status_code
    renewed = script.post(f"{API}{program.pk}/secret/").status_code
    browser.post(ADMIN, {"action": "block", "_selected_action": [program.pk]})

    assert seen == (200 if permissions else 403)
    assert (changed, deleted, connections, renewed) == (403, 403, 403, 403)
    assert not Program.objects.get(pk=program.pk).is_blocked
    Program.objects.all().delete()
