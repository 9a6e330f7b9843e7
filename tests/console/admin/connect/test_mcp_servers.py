"""The pages of MCP servers that run on this machine, and of all sessions."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import Permission, User
from django.test import AsyncClient, Client

from apps.console.admin.connect.mcp_server_form import variables_of
from apps.console.admin.rows.lines_field import ArgumentsField
from apps.workspace.local.models import McpServer
from tests.capabilities.mcp.servers import WELL_BEHAVED, nothing_left_over, over_http, over_stdio
from tests.capabilities.service import Reply, serving
from tests.catalog.rows import make_application, make_operator, manifest_with

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

LIST = "/admin/workspace/mcpserver/"
SESSIONS = f"{LIST}sessions/"
SECRET = "hidden-value-0123"


def fields(**changes: str) -> dict[str, str]:
    valid = {
        "name": "local",
        "is_enabled": "on",
        "command": sys.executable,
        "arguments": "",
        "working_directory": "",
        "new_environment": "",
    }
    return {**valid, **changes}


async def administrator() -> AsyncClient:
    client = AsyncClient()
    await client.aforce_login(await database_sync_to_async(make_operator)())
    return client


async def register(*arguments: str, **rest: Any) -> McpServer:
    made: McpServer = await McpServer.objects.acreate(
        **{"name": "local", "command": sys.executable, "arguments": list(arguments), **rest}
    )
    return made


async def text(client: AsyncClient, url: str, follow: bool = False) -> str:
    answer = await client.get(url, follow=follow)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_server_is_registered_with_variables_that_are_never_shown_again(admin_client):
    typed = f"TOKEN={SECRET}\nURL=a=b"
    answer = admin_client.post(
        f"{LIST}add/", fields(arguments="-m\r\nmy server\r\n", new_environment=typed)
    )

    assert answer.status_code == 302
    row = McpServer.objects.get()
    page = admin_client.get(f"{LIST}{row.pk}/change/").text
    assert row.arguments == ["-m", "my server"]
    assert row.parsed_environment() == {"TOKEN": SECRET, "URL": "a=b"}
    assert "Stored: TOKEN, URL." in page
    assert "-m\nmy server" in page
    assert "This program runs on this machine." in page
    assert SECRET not in page + admin_client.get(LIST).text


def test_variables_stay_until_they_are_replaced_or_removed(admin_client):
    row = McpServer.objects.create(name="local", command="x", environment='{"A": "1"}')
    url = f"{LIST}{row.pk}/change/"

    admin_client.post(url, fields(command="y"))
    kept = McpServer.objects.get()
    admin_client.post(url, fields(new_environment='{"B": "2"}'))
    replaced = McpServer.objects.get().parsed_environment()
    both = admin_client.post(url, fields(new_environment="C=3", clear_environment="on"))
    admin_client.post(url, fields(clear_environment="on"))

    assert (kept.command, kept.parsed_environment()) == ("y", {"A": "1"})
    assert replaced == {"B": "2"}
    assert "Either enter variables or remove all of them." in both.text
    assert McpServer.objects.get().parsed_environment() == {}


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (
            f'{{"TOKEN": "{SECRET}"',
            "This begins like JSON, but is not valid JSON. Fix it, or write NAME=value.",
        ),
        (f"TOKEN={SECRET}\n{SECRET}", "Line 2 has no equals sign. Use NAME=value."),
        (f"1={SECRET}", "Enter a JSON object of strings"),
    ],
)
def test_variables_that_cannot_be_read_are_refused_without_repeating_them(
    admin_client, typed, told
):
    page = admin_client.post(f"{LIST}add/", fields(new_environment=typed)).text

    assert told in page
    assert SECRET not in page
    assert McpServer.objects.count() == 0


ARGUMENTS = [
    [],
    ["-c", "print(1)"],
    ["with space "],
    ["two\nlines"],
    [""],
    ['["a"]'],
    ["[", "]"],
    ["a", ""],
]


def test_arguments_come_back_as_they_were():
    field = ArgumentsField()

    assert [field.clean(field.prepare_value(given)) for given in ARGUMENTS] == ARGUMENTS


def test_variables_may_be_lines_or_json():
    assert variables_of("A=1\n\n B = two words \n") == {"A": "1", "B": "two words"}
    assert variables_of(' {"A": "1"}') == {"A": "1"}


def test_only_superusers_see_and_edit_what_is_executed_here():
    row = McpServer.objects.create(name="local", command="x")
    editor = User.objects.create_user("editor", is_staff=True)
    editor.user_permissions.set(Permission.objects.filter(content_type__app_label="workspace"))
    client = Client()
    client.force_login(editor)

    pages = [LIST, f"{LIST}add/", f"{LIST}{row.pk}/change/", f"{LIST}{row.pk}/delete/", SESSIONS]
    assert [client.get(url).status_code for url in pages] == [403] * 5
    assert client.post(f"{LIST}{row.pk}/change/", fields(command="rm")).status_code == 403
    assert client.post(f"{SESSIONS}reconnect/", {"session": "1"}).status_code == 403
    assert client.post(f"{LIST}{row.pk}/connect/").status_code == 403
    assert "MCP servers" not in client.get("/admin/").text
    assert McpServer.objects.get().command == "x"


def test_before_a_server_goes_the_applications_that_use_it_are_named(admin_client):
    row = McpServer.objects.create(name="local", command="x")
    server = {"protocol": "stdio", "server": "local"}
    toolset = {"type": "mcp", "name": "desk", "mcp_server_info": server}
    orchestrator = {"deployment": {"name": "gpt"}}
    make_application(
        "travel", manifest={"contexts": [], "orchestrator": orchestrator, "tool_sets": [toolset]}
    )

    page = admin_client.get(f"{LIST}{row.pk}/delete/").text

    assert "local is used by these, which lose its tools:" in page
    assert "application Travel</a> <code>desk</code>" in page


def test_programs_are_started_by_posts_alone(admin_client):
    row = McpServer.objects.create(name="local", command="x")

    assert admin_client.get(f"{LIST}{row.pk}/connect/").status_code == 405
    assert admin_client.get(f"{SESSIONS}reconnect/").status_code == 405


def test_a_page_without_sessions_says_so(admin_client):
    page = admin_client.get(SESSIONS).text

    assert "There are no sessions." in page
    assert "Sessions of other processes are not listed" in page


async def test_a_server_is_started_and_its_state_shown():
    client = await administrator()
    row = await register(WELL_BEHAVED, "stdio")
    url = f"{LIST}{row.pk}/change/"

    async with nothing_left_over():
        before = await text(client, url)
        started = await client.post(f"{LIST}{row.pk}/connect/", follow=True)
        page = started.content.decode()
        rows = await text(client, LIST)

    assert "Sessions: not started" in before
    assert "local is connected and offers" in page
    assert "Sessions: connected" in page
    assert "operator" in page
    assert "add, move" in page
    assert "Connected" in rows


async def test_a_server_that_dies_tells_its_last_words_and_is_reconnected():
    client = await administrator()
    row = await register("-c", "raise SystemExit('these are my last words')")

    async with nothing_left_over():
        page = (await client.post(f"{LIST}{row.pk}/connect/", follow=True)).content.decode()
        number = page.partition('name="session" value="')[2].partition('"')[0]
        again = await client.post(
            f"{SESSIONS}reconnect/", {"session": number, "next": f"{LIST}{row.pk}/change/"}
        )
        gone = await client.post(f"{SESSIONS}reconnect/", {"session": "999999999"}, follow=True)
        told = await text(client, SESSIONS)

    assert "Sessions: error" in page
    assert "these are my last words" in page
    assert again["Location"] == f"{LIST}{row.pk}/change/"
    assert "The connection failed" in gone.content.decode()
    assert "This session has ended." in gone.content.decode()
    assert "no enabled application" in told


async def test_sessions_tell_what_they_are_for_and_no_secret():
    client = await administrator()
    desk = {**over_http("", authorization={"type": "bearer", "token": SECRET}), "name": "desk"}
    async with nothing_left_over(), serving(Reply(401)) as service:
        desk["mcp_server_info"]["url"] = f"{service.url}/{SECRET}/mcp?key={SECRET}"
        manifest = manifest_with(tool_sets=[desk, over_stdio("missing")])
        application = await database_sync_to_async(make_application)(manifest=manifest)
        studio = f"/admin/catalog/application/{application.pk}/studio/"
        body = json.dumps({"manifest": manifest, "place": 0})
        answer = await client.post(f"{studio}tools/trial/", body, "application/json")
        tried = answer.content.decode()
        page = await text(client, SESSIONS)

    host = service.url.removeprefix("http://")
    assert "Authentication required" in tried
    assert "sign-in needed" in page
    assert host in page
    assert "Travel</a>: desk" in page
    assert SECRET not in page


async def test_a_session_of_an_earlier_version_is_told_apart():
    client = await administrator()
    row = await register(WELL_BEHAVED, "stdio")

    async with nothing_left_over():
        await client.post(f"{LIST}{row.pk}/connect/")
        await database_sync_to_async(row.save)()
        page = await text(client, f"{LIST}{row.pk}/change/")

    assert "with the previous settings of the row" in page
    assert 'name="session"' not in page


async def test_a_stranger_address_is_nowhere_to_go_back_to():
    client = await administrator()

    async with nothing_left_over():
        answer = await client.post(
            f"{SESSIONS}reconnect/", {"session": "7", "next": "//evil.example"}
        )

    assert answer["Location"] == SESSIONS
