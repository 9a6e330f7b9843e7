"""The tools that describe the user's team and the places."""

import json
from contextlib import nullcontext
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from msgspec import structs

from apps.accounts.caller import caller_in
from apps.agent.tools import Invocation
from apps.capabilities.registry import Opening, PredefinedContent
from apps.capabilities.surroundings.capability import NO_TEAM, surroundings
from apps.manifest.markdown.chat_place import ChatPlace
from tests.accounts.teams import make_team
from tests.capabilities.manifests import manifest, opening_for
from tests.contract import proves

pytestmark = pytest.mark.django_db

TEAM, PLACES, MODULES = (
    f"_platform_{name}" for name in ("inspect_team", "list_places", "list_modules")
)


def toolset(*names: str) -> dict[str, Any]:
    functions = [
        {"name": name, "description": "x", "parameters": {"type": "object", "properties": {}}}
        for name in names
    ]
    tools = [{"open_ai_tool": {"type": "function", "function": one}} for one in functions]
    return {"type": "internal", "name": "platform", "tools": tools}


async def told(given: Opening, name: str) -> str:
    opener = surroundings.prepare(manifest(toolset(name)))
    assert opener is not None
    manager = opener(given)
    assert isinstance(manager, nullcontext)
    [tool] = manager.enter_result.tools
    assert tool.spec.name == name
    return str((await tool.call(Invocation("1", {}))).content)


@proves("T-31")
async def test_the_model_is_told_of_the_team_that_the_person_works_in():
    ada, grace = [await User.objects.acreate(username=name) for name in ("ada", "grace")]
    docs = await sync_to_async(make_team)("Docs", grace, by=ada, visibility="members")
    given = structs.replace(opening_for(), caller=caller_in(grace.pk, docs.pk))

    assert json.loads(await told(given, TEAM)) == {
        "team": "Docs",
        "members": ["ada", "grace"],
        "administrators": ["ada"],
        "conversations_can_be_read_by": "All members",
    }


@proves("T-31")
async def test_nobody_is_told_of_a_team_of_others():
    ada = await User.objects.acreate(username="ada")
    docs = await sync_to_async(make_team)("Docs")

    for team in (None, docs.pk, 0):
        given = structs.replace(opening_for(), caller=caller_in(ada.pk, team))
        assert await told(given, TEAM) == NO_TEAM
    assert await told(opening_for(), TEAM) == NO_TEAM


@proves("T-31")
@pytest.mark.parametrize("name", [PLACES, MODULES])
async def test_the_model_is_told_of_the_places_by_either_name(name):
    places = {"orders": ChatPlace("orders", "Orders", "A prompt that is nobody's business")}

    found = json.loads(
        await told(
            structs.replace(opening_for(), predefined=PredefinedContent(places=places)), name
        )
    )

    assert found == [{"name": "orders", "title": "Orders"}]


def test_without_the_tools_nothing_is_opened():
    assert surroundings.prepare(manifest()) is None
