"""Responses to the studio's section of tools."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.test import AsyncClient, Client
from django.utils import timezone

from apps.capabilities.mcp.sessions.pool import SessionPool, current_pool
from apps.catalog.models import Application
from apps.console.studio.tool_sources import source_texts
from apps.insights.models import ToolUse
from apps.process_state import forget_object
from tests.capabilities.mcp.servers import serving_apart
from tests.catalog.rows import make_application, make_operator, manifest_with
from tests.console.pages import staff
from tests.console.studio.trials.services import service, shop
from tests.insights.calls import tool_use

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

SERVICE = {
    "openapi": "3.1.0",
    "info": {"title": "Shop"},
    "servers": [{"url": "/v1"}],
    "paths": {"/items": {"get": {"operationId": "items"}}},
}
PREDEFINED = {"type": "predefined", "template_name": "weather"}


def asked(client: Client, row: Application, page: str, /, **body: Any) -> Any:
    url = f"/admin/catalog/application/{row.pk}/studio/tools/{page}/"
    return client.post(url, json.dumps(body), "application/json")


def draft(*tool_sets: Any) -> dict[str, Any]:
    return {"title": "Draft", "description": "", "manifest": manifest_with(tool_sets=[*tool_sets])}


def test_a_document_is_fetched_from_an_address_that_manifests_may_call(admin_client, settings):
    row = make_application()

    with service(body=json.dumps(SERVICE).encode()) as (url, paths):
        found = asked(admin_client, row, "openapi", url=url).json()
        settings.PRIVATE_NETWORK_ALLOWLIST = []
        refused = asked(admin_client, row, "openapi", url=url)

    origin = url.removesuffix("/items")
    assert (found["title"], found["base_url"], paths) == ("Shop", f"{origin}/v1", ["/items"])
    assert [one["name"] for one in found["operations"]] == ["items"]
    assert refused.status_code == 422
    assert refused.json()["message"] == (
        "The host '127.0.0.1' is on a private network. If the server may contact it, add "
        "127.0.0.1 to the setting PRIVATE_NETWORK_ALLOWLIST."
    )


def test_a_text_is_read_and_what_is_wrong_with_it_told(admin_client):
    row = make_application()

    pasted = asked(admin_client, row, "openapi", text=json.dumps(SERVICE)).json()
    broken = asked(admin_client, row, "openapi", text="openapi: 2")
    command = asked(admin_client, row, "curl", text="curl -u tom:S3CR3T http://a.example/b").json()

    assert pasted["notes"] == ["The document contains no usable URL. Enter the URL of the service."]
    assert (broken.status_code, broken.json()["message"]) == (
        422,
        "openapi: unsupported version; use 2.0, 3.0 or 3.1.",
    )
    assert (command["authorization"]["secret"], command["credential"]) == (
        "a-example-password",
        "S3CR3T",
    )


async def test_a_server_tells_its_tools_and_whether_it_wants_a_sign_in():
    row = await database_sync_to_async(make_application)()
    client = AsyncClient()
    await client.aforce_login(await database_sync_to_async(make_operator)())
    place = f"/admin/catalog/application/{row.pk}/studio/tools/mcp/"

    async def answer(**server: str) -> Any:
        return await client.post(place, json.dumps({"server": server}), "application/json")

    with serving_apart("http") as url, service(401, b"") as (guarded, _):
        try:
            found = (await answer(url=url)).json()
            wanted = (await answer(url=guarded)).json()
            nowhere = await answer(protocol="stdio", server="none")
        finally:
            await current_pool().aclose()
            forget_object(SessionPool)

    assert found["server"] == {"url": url, "protocol": "streamable_http"}
    assert found["tools"][:2] == [
        {
            "name": "add",
            "description": "",
            "parameters": ["a", "b"],
            "reads_only": False,
            "may_destroy": False,
        },
        {
            "name": "move",
            "description": "Moves a point.",
            "parameters": ["point"],
            "reads_only": False,
            "may_destroy": False,
        },
    ]
    assert (wanted["tools"], wanted["needs_sign_in"]) == ([], True)
    assert wanted["message"].startswith("The server requires a sign-in.")
    assert nowhere.status_code == 422
    assert "none" in nowhere.json()["message"]


def test_cards_count_tools_and_tell_which_failed_lately(admin_client):
    row = make_application()
    remote = {"type": "mcp", "name": "Help desk", "mcp_server_info": {"url": "https://a.example"}}
    now = timezone.now()
    ToolUse.objects.bulk_create(
        tool_use(application=row.slug, tool=tool, has_failed=failed, started_at=now - timedelta(days=age))
        for tool, failed, age in (
            ("shop_look_up", True, 2),
            ("shop_look_up", True, 1),
            ("Help_desk_find", True, 1),
            ("shop_look_up", False, 0),
            ("shop_other", True, 0),
            ("Help_desk_find", True, 30),
        )
    )  # fmt: skip

    answer = asked(admin_client, row, "cards", **draft(shop(), PREDEFINED, remote, {"type": []}))

    told = [
        (
            card["name"],
            card["kind"],
            card["about"],
            card["tools"],
            [(one["tool"], one["count"]) for one in card["failures"]],
        )
        for card in answer.json()["cards"]
    ]
    assert told == [
        ("shop", "rest-api", "", ["look_up"], [("shop_look_up", 2)]),
        ("Weather", "rest-api", "predefined: weather", ["now"], []),
        ("Help desk", "mcp", "", None, [("Help_desk_find", 1)]),
        ("", "", "", [], []),
    ]


def test_predefined_toolsets_are_told_in_words(admin_client):
    row = make_application()

    answer = admin_client.get(f"/admin/catalog/application/{row.pk}/studio/tools/predefined/")

    weather = next(one for one in answer.json()["toolsets"] if one["title"] == "Weather")
    assert weather == {
        "title": "Weather",
        "description": "The weather of well-known cities. It is made up and served by this "
        "installation itself, to try things out with.",
        "kind": "rest-api",
        "tools": ["now"],
        "toolset": PREDEFINED,
    }


@pytest.mark.parametrize("name", ["openapi", "curl", "mcp", "cards"])
def test_only_those_ask_who_may_change_the_application(name):
    row = make_application()

    answer = asked(staff("view_application"), row, name, **draft(), text="", server={})

    assert answer.status_code == 403


def test_a_pasted_document_may_be_larger_than_other_requests(admin_client, monkeypatch):
    row = make_application()
    described = 'Description "so".\n' * 500
    paths = {f"/items/{number}": {"get": {"description": described}} for number in range(1_200)}
    text = json.dumps({**SERVICE, "paths": paths})
    assert 10_000_000 < len(text) < source_texts.MOST_CHARACTERS

    found = asked(admin_client, row, "openapi", text=text)
    too_large = asked(admin_client, row, "curl", text=text)
    monkeypatch.setattr(source_texts, "MOST_CHARACTERS", 10_000_000)
    over_the_limit = asked(admin_client, row, "openapi", text=text)

    assert (found.status_code, len(found.json()["operations"])) == (200, 1_200)
    assert too_large.status_code == 400
    assert over_the_limit.json() == {
        "message": f"The document has {len(text):,} characters; the limit is 10,000,000."
    }
