"""The default configuration of new applications, with its references resolved for editors."""

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
    """The configuration with its toolsets resolved; unresolvable ones are left out and logged.

    Invalid toolsets are returned unchanged. Everybody may read the configuration, so predefined
    toolsets and tools with credentials stay references.
    """
    configuration: dict[str, Any] = masked(dict(content.configuration))
    try:
        found = ToolSets.model_validate(configuration).tool_sets
    except ValidationError:
        return configuration
    resolver = Resolver(content)
    resolved = resolver.toolsets(found)
    for problem in resolver.problems:
        logger.error("%s: %s: %s", CONFIGURATION, problem.path, problem.sentence)
    return {**configuration, "tool_sets": [*public_toolsets(found, resolved)]}


def public_toolsets(
    found: Sequence[ToolSet], resolved: Sequence[ToolSet]
) -> Iterator[dict[str, Any]]:
    """The resolved toolsets as JSON, or the `found` reference where that hides a credential."""
    for before, toolset in zip(found, resolved, strict=True):
        if isinstance(toolset, PredefinedToolSet):
            continue
        tools = getattr(toolset, "tools", None)
        if tools is not None:
            kept = (t for t in tools if not isinstance(t, PredefinedTool) or not t.enabled)
            toolset = toolset.model_copy(update={"tools": tuple(kept)})
        whole = toolset.model_dump(mode="json", exclude_unset=True)
        if isinstance(before, PredefinedToolSet) and credential_places(whole):
            whole = before.model_dump(mode="json", exclude_unset=True)
        yield whole
