"""Reads the predefined agents, with the toolsets that they add, and finds their problems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from django.conf import settings

from apps.catalog.content.items import LayerItem
from apps.catalog.content.layers import MOST_CONTENTS, Content
from apps.catalog.content.references import ReferenceProblem, ReferenceResolver
from apps.manifest.kinds.predefined import PredefinedToolSet
from apps.manifest.markdown.agent_definition import AgentDefinition, AgentInvalid, read_agent
from apps.manifest.nodes import is_preview
from apps.manifest.toolsets.kinds import ToolSet
from apps.manifest.validation.validation import without_preview


@lru_cache(maxsize=MOST_CONTENTS)
def installed_agents(content: Content) -> Mapping[str, AgentDefinition]:
    """Return the usable agents by name, cached for each immutable `Content` object."""
    found = (usable_agent(content, item) for item in content.items["agent"].values())
    return {agent.name: agent for agent in found if agent is not None}


def usable_agent(content: Content, item: LayerItem) -> AgentDefinition | None:
    """Return the predefined agent with its toolsets, or None if it cannot be used. See
    `agent_problems` for the reasons.
    """
    if item.problem:
        return None
    try:
        agent = read_agent(item.name, item.text)
    except AgentInvalid:
        return None
    toolsets, problems = added_toolsets(content, agent)
    return None if problems else replace(agent, brought=toolsets)


def agent_problems(content: Content, item: LayerItem) -> Iterator[str]:
    """Yield the reasons why a predefined agent cannot be used, in the form `key: error`."""
    try:
        agent = read_agent(item.name, item.text)
    except AgentInvalid as error:
        yield from map(str, error.problems)
        return
    for problem in added_toolsets(content, agent)[1]:
        yield f"brings: {problem.sentence}"


def added_toolsets(
    content: Content, agent: AgentDefinition
) -> tuple[tuple[ToolSet, ...], Sequence[ReferenceProblem]]:
    """Return the predefined toolsets that an agent adds, and the problems with unusable toolsets."""
    resolver = ReferenceResolver(content)
    wanted = [PredefinedToolSet(template_name=name) for name in agent.brings]
    found = resolver.toolsets(wanted)
    if not settings.ENABLE_PREVIEW_FEATURES:
        found = tuple(without_preview(one) for one in found if not is_preview(type(one)))
    return found, resolver.problems
