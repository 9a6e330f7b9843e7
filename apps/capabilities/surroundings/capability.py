"""Tools with which the model looks at what is around it: the team of the person, and the places."""

import json
from collections.abc import Mapping
from contextlib import nullcontext

from channels.db import database_sync_to_async

from apps.accounts.team_members import described
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.internal import internal_tool, parameters, plain_result
from apps.capabilities.wrappers.prepared import Work
from apps.manifest.client_tools import INSPECT_TEAM, LIST_MODULES, LIST_PLACES, OF_THE_SERVER
from apps.manifest.manifest import Manifest
from apps.manifest.parts import parts_in_use

TEAM_DESCRIPTION = (
    "Tells in which team the user works now: its name, its members, its administrators and who "
    "may read its conversations."
)
PLACES_DESCRIPTION = (
    "Lists the places of the product that the user can chat from, by name and title. Use it before "
    "you tell the user where something can be done."
)
NO_TEAM = "The user works in no team now."
PART = "tool_sets.internal."


def prepare(manifest: Manifest) -> Open | None:
    wanted = {part.name for part in parts_in_use(manifest)}
    tools = [
        internal_tool(
            manifest, (name, description, parameters({})), work, title, is_repeatable=True
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
    found = await database_sync_to_async(described)(caller.team, caller.person)
    told = NO_TEAM if found is None else json.dumps(found, ensure_ascii=False, indent=2)
    return plain_result(invocation, told)


async def list_places(opening: Opening, invocation: Invocation) -> ToolResult:
    places = [{"name": one.slug, "title": one.title} for one in opening.places.values()]
    return plain_result(invocation, json.dumps(places, ensure_ascii=False, indent=2))


TOOLS: Mapping[str, tuple[str, Work, str]] = {
    INSPECT_TEAM: (TEAM_DESCRIPTION, inspect_team, "Look at the team"),
    LIST_PLACES: (PLACES_DESCRIPTION, list_places, "List the places"),
    LIST_MODULES: (PLACES_DESCRIPTION, list_places, "List the places"),
}
"""By name: what the model is told, what is done, and the title that people see."""

surroundings = Capability("surroundings", frozenset(PART + name for name in OF_THE_SERVER), prepare)
