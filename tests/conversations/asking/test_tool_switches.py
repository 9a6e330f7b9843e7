"""Toolsets that users turn on and off for a conversation."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client

from apps.accounts.caller import bucket_of
from apps.catalog.resolve import resolve_application
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.asking.tool_switches import check_switches, tool_switches, with_switches
from apps.conversations.models import Conversation
from apps.errors import Refused
from tests.catalog.rows import store_application
from tests.chat.scripts import MANIFEST, Tab, open_tab, says
from tests.manifest.documents import rest_tool, rest_tools

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def toolset(name: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "internal", "name": name, "tools": [], **fields}


SETS = [
    toolset({"en": "Web", "de": "Netz"}, user_switch="off", description="Searches the web."),
    toolset("Shop", user_switch="on"),
    toolset("Desk"),
    toolset("Closed", user_switch="on", enabled=False),
]


@pytest.fixture
def application() -> ResolvedApplication:
    store_application(
        slug="travel", title="Travel", is_public=True, manifest={**MANIFEST, "tool_sets": SETS}
    )
    return async_to_sync(resolve_application)("travel")


def enabled(application: ResolvedApplication) -> list[str]:
    return [one.label for one in application.manifest.tool_sets if getattr(one, "enabled", True)]


def test_the_switches_have_texts_in_the_language_of_the_user(application):
    found = tool_switches(application.manifest, "de-AT")

    assert [(one.name, one.title, one.detail, one.is_on) for one in found] == [
        ("Web", "Netz", "Searches the web.", False),
        ("Shop", "Shop", "", True),
    ]


def test_a_switch_shows_the_title_of_its_toolset_and_keeps_the_name():
    sets = [toolset("ddg", title={"en": "Search", "de": "Suche"}, user_switch="on")]
    store_application(slug="search", title="Search", manifest={**MANIFEST, "tool_sets": sets})
    manifest = async_to_sync(resolve_application)("search").manifest

    assert [(one.name, one.title) for one in tool_switches(manifest, "de")] == [("ddg", "Suche")]


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        (None, ["Shop", "Desk"]),
        ({"Web": True}, ["Web", "Shop", "Desk"]),
        ({"Web": True, "Shop": False}, ["Web", "Desk"]),
        ({"Desk": False, "Closed": True}, ["Shop", "Desk"]),
    ],
)
def test_toolsets_that_are_off_are_left_out(application, chosen, names):
    assert enabled(with_switches(application, chosen)) == names


def test_an_application_whose_toolsets_are_all_on_is_not_prepared_again(application):
    assert with_switches(application, {"Web": True}) is application


def test_a_toolset_without_a_switch_is_refused(application):
    with pytest.raises(Refused, match=r"tools: unknown toolset 'Desk'; use Web, Shop\."):
        check_switches(application, {"Desk": False})


def test_the_choice_is_stored_with_the_conversation(application):
    user = User.objects.create_user("ada")
    client, stranger = Client(), Client()
    client.force_login(user)
    stranger.force_login(User.objects.create_user("mallory"))
    row = Conversation.objects.create(
        owner=bucket_of(user.pk), application_id=application.id, title="Oslo"
    )
    address = f"/chat/travel/{row.pk}/tools/"

    def states() -> dict[str, bool]:
        told = client.get(f"/chat/travel/composer/?conversation={row.pk}").json()
        return {one["name"]: one["on"] for one in told["tools"]}

    before = states()
    stored = client.post(address, {"tool": "Web", "on": "true"})
    client.post(address, {"tool": "Shop", "on": "false"})
    refused = client.post(address, {"tool": "Desk", "on": "false"})

    assert (before, states()) == ({"Web": False, "Shop": True}, {"Web": True, "Shop": False})
    assert (stored.status_code, refused.status_code) == (302, 400)
    assert stranger.post(address, {"tool": "Web", "on": "false"}).status_code == 404
    row.refresh_from_db()
    assert row.tool_switches == {"Web": True, "Shop": False}


async def names_of_tools(tab: Tab, text: str, **more: Any) -> list[str]:
    """Ask and wait for the answer. Return the tools of the toolsets that the model could call."""
    await tab.exchange(text, says("Yes."), **more)
    return [one.name for one in tab.model.asked[-1].tools if one.name.startswith(("web", "shop"))]


async def test_a_run_has_the_tools_that_are_on_in_its_conversation():
    sets = [
        rest_tools(rest_tool("find"), name="web", user_switch="off"),
        rest_tools(rest_tool("find"), name="shop"),
    ]
    async with open_tab(manifest={**MANIFEST, "tool_sets": sets}) as (_, tab):
        first = await names_of_tools(tab, "Now?", tools={"web": True})
        row = await Conversation.objects.aget(pk=UUID(tab.conversation))
        await Conversation.objects.filter(pk=row.pk).aupdate(tool_switches={"web": False})
        later = await names_of_tools(tab, "And now?")
        refused = await tab.refusal(tools={"shop": False})

    assert (first, later) == (["web_find", "shop_find"], ["shop_find"])
    assert row.tool_switches == {"web": True}
    assert refused["text"] == "tools: unknown toolset 'shop'; use web."
