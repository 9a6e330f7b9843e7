"""Programs act in the team that the user chooses on the page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.test import Client

from apps.accounts.models import AuditEntry, ProgramConnection, Team
from apps.accounts.oauth.tokens import read_holder
from apps.catalog.models import Grant
from tests.accounts.teams import make_team, working_in
from tests.catalog.rows import make_application
from tests.oauth_server.flows import MCP, REQUEST, client_id, exchange, parameters, query, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

OPTION = re.compile(r'<option value="(\d*)"( selected)?>([^<]+)</option>')


@pytest.fixture
def desk(ada: User) -> Team:
    return make_team("Desk", ada)


def press(browser: Client, program: str, team: str | None, **changes: Any) -> Any:
    """Open the page, choose a team and connect the program. Return the response."""
    page = browser.get("/oauth/authorize", query(program, **changes))
    [signed] = REQUEST.findall(page.text)
    sent = {"request": signed, "scopes": "mcp", "action": "grant"}
    return browser.post("/oauth/authorize", sent if team is None else {**sent, "team": team})


def connect(user: User, program: str, team: str, resource: str = MCP) -> str:
    """Connect the program. Return its access token."""
    code = parameters(press(signed_in(user), program, team, resource=resource))["code"]
    return str(exchange(program, code, resource=resource).json()["access_token"])


def team_of(token: str) -> int | None:
    holder = read_holder(token)
    assert holder is not None
    return holder.team


def offered(page: Any) -> list[tuple[str, str, bool]]:
    return [(value, name, bool(chosen)) for value, chosen, name in OPTION.findall(page.text)]


def test_a_user_without_teams_is_not_asked(ada: User):
    page = signed_in(ada).get("/oauth/authorize", query(client_id()))

    assert offered(page) == []
    assert "The program uses your apps, files and memory" not in page.text


def test_the_team_in_which_the_user_works_is_chosen_at_first(ada: User, desk: Team):
    make_team("Other")

    outside = signed_in(ada).get("/oauth/authorize", query(client_id()))
    inside = working_in(ada, desk).get("/oauth/authorize", query(client_id()))

    names = [("", "Personal"), (str(desk.pk), "Desk")]
    assert offered(outside) == [(*names[0], True), (*names[1], False)]
    assert offered(inside) == [(*names[0], False), (*names[1], True)]


def test_a_program_acts_in_the_chosen_team(ada: User, desk: Team):
    program = client_id()

    assert team_of(connect(ada, program, str(desk.pk))) == desk.pk
    assert "Team: <span" in signed_in(ada).get("/account/").text
    subject = AuditEntry.objects.get(event="program.connected").subject
    assert subject == f"Editor ({program}) in Desk"
    assert team_of(connect(ada, client_id(), "")) is None


def test_only_spaces_in_which_the_user_has_the_application_are_offered(ada: User, desk: Team):
    application = make_application("travel", is_shared=False)
    Grant.objects.create(application=application, group=desk.group)
    program, path = client_id(), f"{MCP}/travel"

    page = signed_in(ada).get("/oauth/authorize", query(program, resource=path))
    refused = press(signed_in(ada), program, "", resource=path)

    assert "send messages to the app <bdi>Travel</bdi>" in page.text
    assert offered(page) == []
    assert f'<input type="hidden" name="team" value="{desk.pk}">' in page.text
    assert refused.status_code == 400
    assert team_of(connect(ada, program, str(desk.pk), path)) == desk.pk


def test_a_page_that_is_sent_after_the_user_lost_the_application_is_refused(ada: User):
    application = make_application("travel")
    browser, path = signed_in(ada), f"{MCP}/travel"
    page = browser.get("/oauth/authorize", query(client_id(), resource=path))
    [signed] = REQUEST.findall(page.text)
    application.delete()

    sent = {"request": signed, "scopes": "mcp", "action": "grant", "team": ""}
    refused = browser.post("/oauth/authorize", sent)
    without_scope = browser.post("/oauth/authorize", {**sent, "scopes": ""})

    assert (refused.status_code, without_scope.status_code) == (400, 200)
    assert not ProgramConnection.objects.exists()


@pytest.mark.parametrize("sent", ["{other}", "0", "x", "\0", "9" * 40])
def test_a_team_of_other_users_is_refused(sent: str, ada: User, desk: Team):
    other = make_team("Other")

    answer = press(signed_in(ada), client_id(), sent.format(other=other.pk))

    assert (answer.status_code, ProgramConnection.objects.exists()) == (400, False)


def test_a_connection_in_another_team_ends_the_earlier_one(ada: User, desk: Team):
    program = client_id()
    make_application("travel")
    before = connect(ada, program, str(desk.pk))
    narrow = connect(ada, program, str(desk.pk), f"{MCP}/travel")

    after = connect(ada, program, "")

    assert (read_holder(before), team_of(after), team_of(narrow)) == (None, None, desk.pk)
    renewed = connect(ada, program, "")
    assert (team_of(after), team_of(renewed)) == (None, None)


def test_a_program_loses_its_access_when_the_user_leaves_the_team(ada: User, desk: Team):
    token = connect(ada, client_id(), str(desk.pk))

    ada.groups.remove(desk.group)
    assert read_holder(token) is None
    ada.groups.add(desk.group)
    assert read_holder(token) is not None
    desk.delete()
    assert read_holder(token) is None


def test_a_token_cannot_be_narrowed_to_an_application_that_has_no_connection(ada: User):
    make_application("travel")
    program = client_id()
    code = parameters(press(signed_in(ada), program, ""))["code"]

    answer = exchange(program, code, resource=f"{MCP}/travel")

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    assert not Token.objects.exists()
