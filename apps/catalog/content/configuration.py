"""Builds the default configuration of new applications."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from apps.catalog.content.items import CONFIGURATION
from apps.catalog.content.layers import Content
from apps.catalog.content.references import ReferenceResolver
from apps.catalog.credentials.masking import mask_credentials
from apps.manifest.credentials import find_credentials
from apps.manifest.kinds.predefined import PredefinedToolSet
from apps.manifest.nodes import Node
from apps.manifest.toolsets.kinds import ToolSet
from apps.manifest.toolsets.tools import PredefinedTool

logger = logging.getLogger(__name__)


class ToolSets(Node):
    tool_sets: tuple[ToolSet, ...]


def default_configuration(content: Content) -> dict[str, Any]:
    """Return the default configuration with predefined toolsets in place of the references to them.

    Toolsets that cannot be resolved are omitted and logged. If the toolsets are invalid, all
    references remain. References to predefined toolsets and tools with credentials also remain,
    because all users can read the configuration.
    """
    configuration: dict[str, Any] = mask_credentials(dict(content.configuration))
    try:
        found = ToolSets.model_validate(configuration).tool_sets
    except ValidationError:
        return configuration
    resolver = ReferenceResolver(content)
    resolved = resolver.toolsets(found)
    for problem in resolver.problems:
        logger.error("%s: %s: %s", CONFIGURATION, problem.path, problem.sentence)
    return {**configuration, "tool_sets": [*public_toolsets(found, resolved)]}


def public_toolsets(
    found: Sequence[ToolSet], resolved: Sequence[ToolSet]
) -> Iterator[dict[str, Any]]:
    """Yield the resolved toolsets as JSON. For a toolset with a credential, yield its reference in
    `found` instead.
    """
    for before, toolset in zip(found, resolved, strict=True):
        if isinstance(toolset, PredefinedToolSet):
            continue
        tools = getattr(toolset, "tools", None)
        if tools is not None:
            kept = (t for t in tools if not isinstance(t, PredefinedTool) or not t.enabled)
            toolset = toolset.model_copy(update={"tools": tuple(kept)})
        whole = toolset.model_dump(mode="json", exclude_unset=True)
        if isinstance(before, PredefinedToolSet) and find_credentials(whole):
            whole = before.model_dump(mode="json", exclude_unset=True)
        yield whole
