"""Access tokens of programs work only at the MCP server, and only where they were granted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from allauth.idp.oidc.models import Token
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.contrib.auth.models import User
from django.utils import timezone

from apps.accounts.authentication import authenticate, settle_uses
from apps.accounts.models import Program, ProgramConnection
from apps.accounts.oauth import tokens
from apps.accounts.oauth.resources import slug_of
from apps.catalog.models import Application
from apps.errors import NotAuthenticated
from apps.mcp_server import routing
from tests.accounts.teams import make_team
from tests.gateway.scripts import Client, ScriptedModel, add_application, ends, says
from tests.mcp_server.scripts import call, request, result_of, site
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

TOKEN = "a-token_" + "A1" * 39


@pytest.fixture(autouse=True)
def authorization_server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MCP_OAUTH = True
    settings.PUBLIC_URL = "https://quick.example"
    monkeypatch.setattr(tokens, "KEY_MAX_AGE_SECONDS", 0.0)


@sync_to_async
def grant(path: str = "/mcp", **changes: Any) -> User:
    """Store an access token for the resource at the path. Return its user."""
    user = User.objects.create_user("ada")
    client = Program.objects.create(id="editor", name="Editor")
    found = slug_of(f"https://quick.example{path}")
    ProgramConnection.objects.create(user=user, program=client, slug=found or "")
    row = Token(
        type=Token.Type.ACCESS_TOKEN,
        client=client,
        user=user,
        expires_at=timezone.now() + timedelta(hours=1),
        scopes="mcp",
    )
    row.set_value(TOKEN)
    row.set_resources([f"https://quick.example{path}"])
    for name, value in changes.items():
        setattr(row, name, value)
    row.save()
    return user


async def private_application(user: User) -> Application:
    application = await add_application(is_public=False, is_shared=False)
    await sync_to_async(application.grants.create)(user=user)
    return application


async def status(path: str = "", token: str = TOKEN) -> int:
    answer = await request(site(), "tools/list", slug=path, key=token)
    await settle_uses()
    return answer.status


async def test_a_program_calls_an_application_of_its_user():
    application = await private_application(await grant())
    routes = site(ScriptedModel([says("Hello"), ends()]))

    listed = result_of(await request(routes, "tools/list", key=TOKEN))
    result = result_of(await request(routes, "tools/call", call(application.slug), key=TOKEN))

    assert application.slug in [tool["name"] for tool in listed["tools"]]
    assert result["structuredContent"]["text"] == "Hello"
    await settle_uses()


async def test_a_program_acts_in_the_team_of_its_connection():
    user = await grant()
    application = await add_application(is_public=False, is_shared=False)
    team = await sync_to_async(make_team)("Desk", user)
    await sync_to_async(application.grants.create)(group=team.group)
    assert await status(application.slug) == 404

    await ProgramConnection.objects.aupdate(team=team)

    assert await status(application.slug) == 200


@each_row(
    ("granted", "path", "expected"),
    [
        ("/mcp", "", 200),
        ("/mcp/", "", 200),
        ("/mcp", "{slug}", 200),
        ("/mcp/{slug}", "{slug}", 200),
        ("/mcp/{slug}", "", 401),
        ("/mcp/other", "{slug}", 401),
        ("/mcp/{slug}x", "{slug}", 401),
        ("", "", 401),
    ],
)
async def test_a_token_is_bound_to_its_resource(granted, path, expected):
    await sync_to_async(User.objects.all().delete)()
    await sync_to_async(Program.objects.all().delete)()
    application = await add_application()
    await grant(granted.format(slug=application.slug))

    assert await status(path.format(slug=application.slug)) == expected


@each_row(
    "changes",
    [
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"expires_at": None},
        {"scopes": ""},
        {"scopes": "openid"},
        {"type": "rt"},
        {"type": "ia"},
        {"user": None},
        {"data": None},
        {"data": {"resources": "https://quick.example/mcp"}},
    ],
)
async def test_other_tokens_are_refused(changes):
    await sync_to_async(User.objects.all().delete)()
    await sync_to_async(Program.objects.all().delete)()
    await grant(**changes)

    assert await status() == 401


async def test_tokens_of_a_closed_account_are_refused():
    user = await grant()
    user.is_active = False
    await user.asave()

    assert await status() == 401


async def test_the_last_use_of_a_program_is_stored():
    await grant()
    assert (await ProgramConnection.objects.aget()).last_used_at is None

    await status()

    assert (await ProgramConnection.objects.aget()).last_used_at is not None


async def test_a_token_without_a_connection_is_refused():
    await grant()
    await ProgramConnection.objects.all().adelete()

    assert await status() == 401


async def test_a_revoked_token_is_refused():
    await grant()
    assert await status() == 200

    await Token.objects.all().adelete()

    assert await status() == 401


async def test_tokens_are_refused_when_the_operator_turns_them_off(settings):
    await grant()
    settings.MCP_OAUTH = False

    assert await status() == 401


async def test_other_doors_refuse_tokens():
    await grant()
    scope: Mapping[str, Any] = {
        "headers": [(b"authorization", f"Bearer {TOKEN}".encode())],
        "client": None,
    }

    with pytest.raises(NotAuthenticated):
        await authenticate(scope)


async def test_a_client_learns_where_it_can_sign_in():
    application = await add_application(is_public=False)
    routes = URLRouter(routing.urlpatterns)
    place = f"/.well-known/oauth-protected-resource/mcp/{application.slug}"
    client = Client(routes, place)
    await client.send()
    told = (await client.read()).json()

    refused = await request(routes, "tools/list", slug=application.slug)
    wrong = await request(routes, "tools/list", slug=application.slug, key=TOKEN)

    assert told == {
        "resource": f"https://quick.example/mcp/{application.slug}",
        "resource_name": "QuickApps",
        "bearer_methods_supported": ["header"],
        "authorization_servers": ["https://quick.example"],
        "scopes_supported": ["mcp"],
    }
    challenge = f'Bearer resource_metadata="https://quick.example{place}", scope="mcp"'
    assert (refused.status, refused.headers["www-authenticate"]) == (401, challenge)
    assert wrong.headers["www-authenticate"] == f'{challenge}, error="invalid_token"'
