"""Remote MCP servers are registered once and selected in the studio."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.test import AsyncClient

from apps.catalog.content.models import ContentItem
from apps.workspace.local.models import Secret
from tests.capabilities.mcp.servers import nothing_left_over, serving_apart
from tests.catalog.rows import make_application, make_operator
from tests.console.pages import staff
from tests.console.studio.asking import address

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback"), pytest.mark.postgres]

PAGE = "/admin/catalog/mcp-server/"


def typed(**changes: str) -> dict[str, str]:
    valid = {"name": "desk", "url": "https://desk.example.com/mcp", "protocol": "streamable_http"}
    return {**valid, **changes}


def registered() -> Any:
    return json.loads(ContentItem.objects.get(kind="toolset").text)


def test_a_server_is_registered_and_its_credential_becomes_a_secret_for_it_alone(admin_client):
    sent = typed(authorization="api_key", header="X-Desk", credential="k-012345")
    answer = admin_client.post(PAGE, {**sent, "description": "Finds tickets."})

    secret = Secret.objects.get()
    assert answer.status_code == 302
    assert (secret.value, secret.servers) == ("k-012345", ["https://desk.example.com"])
    assert registered() == {
        "type": "mcp",
        "name": "desk",
        "description": "Finds tickets.",
        "mcp_server_info": {
            "url": "https://desk.example.com/mcp",
            "protocol": "streamable_http",
            "authorization": {
                "type": "api_key",
                "name": "X-Desk",
                "key": {"$secret": secret.name},
            },
        },
    }


def test_what_cannot_be_registered_is_told_at_its_field(admin_client):
    def errors(**changes: str) -> list[str]:
        return list(admin_client.post(PAGE, typed(**changes)).context["form"].errors)

    assert errors(authorization="bearer") == ["credential"]
    assert errors(authorization="basic", credential="abcdef") == ["username"]
    assert errors(authorization="api_key", credential="abcdef", username="a") == ["header"]
    assert errors(name="duckduckgo") == errors(name="no name") == ["name"]
    assert errors(url="ftp://desk") == ["url"]
    assert not ContentItem.objects.exists()


def test_only_those_who_may_add_predefined_content_register_a_server():
    client = staff("view_application", "change_application")
    row = make_application()

    assert client.get(PAGE).status_code == 403
    assert "address" not in client.get(address(row, "choices")).json()["add"]


async def test_a_registered_server_is_offered_and_its_tools_are_listed_without_its_address():
    client = AsyncClient()
    await client.aforce_login(await database_sync_to_async(make_operator)())
    row = await database_sync_to_async(make_application)()

    with serving_apart("streamable_http") as url:
        async with nothing_left_over():
            await client.post(PAGE, typed(url=url))
            choices = (await client.get(address(row, "choices"))).json()
            asked = await client.post(
                address(row, "tools/mcp"), {"template": "desk"}, content_type="application/json"
            )
            missing = await client.post(
                address(row, "tools/mcp"), {"template": "none"}, content_type="application/json"
            )

    found = asked.json()
    assert {"template": "desk", "title": "desk"} in choices["registered"]
    assert choices["add"]["address"] == PAGE
    assert (asked.status_code, found["server"], bool(found["tools"])) == (200, {}, True)
    assert (missing.status_code, missing.json()) == (
        422,
        {"message": "Unknown registered server: 'none'."},
    )
