"""Defines tools that describe the user's team and the pages of the product."""

import json
from collections.abc import Mapping
from contextlib import nullcontext

from channels.db import database_sync_to_async
from django.utils.translation import gettext_lazy

from apps.accounts.team_members import describe_team
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Capability, Contribution, Open, Opening, Work
from apps.capabilities.wrappers.display import Title
from apps.capabilities.wrappers.internal import (
    PlatformTool,
    internal_tool,
    parameters,
    plain_result,
)
from apps.manifest.manifest import Manifest
from apps.manifest.parts import parts_in_use
from apps.manifest.toolsets.client_tools import (
    INSPECT_TEAM,
    LIST_MODULES,
    LIST_PLACES,
    OF_THE_SERVER,
)

TEAM_DESCRIPTION = (
    "Returns the team in which the user works now: its name, its members, its administrators, "
    "and who may read its conversations."
)
PLACES_DESCRIPTION = (
    "Lists the parts of the product from which the user can chat, by name and title. Use it before "
    "you tell the user where something can be done."
)
NO_TEAM = "The user does not work in a team now."
PART = "tool_sets.internal."


def prepare(manifest: Manifest) -> Open | None:
    wanted = {part.name for part in parts_in_use(manifest)}
    tools = [
        internal_tool(
            manifest, PlatformTool(name, description, parameters({}), title, "read-only"), work
        )
        for name, (description, work, title) in TOOLS.items()
        if PART + name in wanted
    ]
    if not tools:
        return None
    return lambda opening: nullcontext(Contribution(tuple(tool.bind(opening) for tool in tools)))


async def inspect_team(opening: Opening, invocation: Invocation) -> ToolResult:
    caller = opening.caller
    if caller.team is None or caller.person is None:
        return plain_result(invocation, NO_TEAM)
    found = await database_sync_to_async(describe_team)(caller.team, caller.person)
    told = NO_TEAM if found is None else json.dumps(found, ensure_ascii=False, indent=2)
    return plain_result(invocation, told)


async def list_places(opening: Opening, invocation: Invocation) -> ToolResult:
    places = [{"name": one.slug, "title": one.title} for one in opening.predefined.places.values()]
    return plain_result(invocation, json.dumps(places, ensure_ascii=False, indent=2))


TOOLS: Mapping[str, tuple[str, Work, Title]] = {
    INSPECT_TEAM: (TEAM_DESCRIPTION, inspect_team, gettext_lazy("Look at the team")),
    LIST_PLACES: (PLACES_DESCRIPTION, list_places, gettext_lazy("List the places")),
    LIST_MODULES: (PLACES_DESCRIPTION, list_places, gettext_lazy("List the places")),
}
"""Maps tool names to a description for the model, a function, and a title for users."""

surroundings = Capability("surroundings", frozenset(PART + name for name in OF_THE_SERVER), prepare)
