"""What a new application begins with, its references replaced so that editors can show it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from apps.catalog.content.items import CONFIGURATION
from apps.catalog.content.layers import Content
from apps.catalog.content.references import Resolver
from apps.manifest.nodes import Node
from apps.manifest.tools import PredefinedTool
from apps.manifest.toolsets import PredefinedToolSet, ToolSet

logger = logging.getLogger(__name__)


class ToolSets(Node):
    tool_sets: tuple[ToolSet, ...]


def default_configuration(content: Content) -> dict[str, Any]:
    """The configuration with its toolsets written out; what cannot be is left out and logged.

    Toolsets that are not a list of toolsets are given as they were found.
    """
    configuration = dict(content.configuration)
    try:
        found = ToolSets.model_validate(configuration).tool_sets
    except ValidationError:
        return configuration
    resolver = Resolver(content)
    resolved = [
        resolver.toolset(toolset, f"tool_sets[{index}]") for index, toolset in enumerate(found)
    ]
    for problem in resolver.problems:
        logger.error("%s: %s: %s", CONFIGURATION, problem.path, problem.sentence)
    return {**configuration, "tool_sets": list(written(resolved))}


def written(toolsets: list[ToolSet]) -> Iterator[dict[str, Any]]:
    for toolset in toolsets:
        if isinstance(toolset, PredefinedToolSet):
            continue
        tools = getattr(toolset, "tools", None)
        if tools is not None:
            kept = tuple(t for t in tools if not isinstance(t, PredefinedTool) or not t.enabled)
            toolset = toolset.model_copy(update={"tools": kept})
        yield toolset.model_dump(mode="json", exclude_unset=True)
