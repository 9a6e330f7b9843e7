"""What a new application begins with, its references replaced so that editors can show it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from apps.catalog.content.items import CONFIGURATION
from apps.catalog.content.layers import Content
from apps.catalog.content.references import Resolver
from apps.catalog.masking import masked
from apps.manifest.credentials import credential_places
from apps.manifest.nodes import Node
from apps.manifest.tools import PredefinedTool
from apps.manifest.toolsets import PredefinedToolSet, ToolSet

logger = logging.getLogger(__name__)


class ToolSets(Node):
    tool_sets: tuple[ToolSet, ...]


def default_configuration(content: Content) -> dict[str, Any]:
    """The configuration with its toolsets written out; what cannot be is left out and logged.

    Toolsets that are not a list of toolsets are given as they were found. Everybody may read it, so
    it has no credentials: predefined toolsets and tools that have any stay references.
    """
    configuration: dict[str, Any] = masked(dict(content.configuration))
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
    return {**configuration, "tool_sets": [*written(found, resolved)]}


def written(found: Sequence[ToolSet], resolved: Sequence[ToolSet]) -> Iterator[dict[str, Any]]:
    """What the toolsets of the configuration come to; `found` has them as they were."""
    for before, toolset in zip(found, resolved, strict=True):
        if isinstance(toolset, PredefinedToolSet):
            continue
        tools = getattr(toolset, "tools", None)
        if tools is not None:
            kept = (t for t in tools if not isinstance(t, PredefinedTool) or not t.enabled)
            toolset = toolset.model_copy(update={"tools": tuple(kept)})
        whole = dumped(toolset)
        if isinstance(before, PredefinedToolSet) and credential_places(whole):
            whole = dumped(before)
        yield whole


def dumped(toolset: ToolSet) -> dict[str, Any]:
    found: dict[str, Any] = toolset.model_dump(mode="json", exclude_unset=True)
    return found
