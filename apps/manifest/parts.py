"""Lists the parts of a manifest that need a server capability, such as toolsets and features."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.manifest.kinds.internal import InternalToolSet
from apps.manifest.kinds.predefined import PredefinedToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.orchestrator import Orchestrator
from apps.manifest.prompts import CustomSystemPrompt, PredefinedSystemPrompt
from apps.manifest.toolsets.kinds import ToolSet
from apps.manifest.toolsets.shared_fields import WrittenToolSet
from apps.manifest.toolsets.tools import AnyTool, InternalTool, PredefinedTool


@dataclass(frozen=True, slots=True)
class ManifestPart:
    """A part of a manifest that needs a capability."""

    name: str
    """The kind of the part, such as `tool_sets.mcp`."""
    path: str
    """The path of the part in the manifest."""


def parts_in_use(manifest: Manifest) -> tuple[ManifestPart, ...]:
    """Return the parts of the manifest in order, except disabled and null parts."""
    return tuple(_parts(manifest))


def _parts(manifest: Manifest) -> Iterator[ManifestPart]:
    yield from _orchestrator_parts(manifest.orchestrator)
    for index, context in enumerate(manifest.contexts):
        yield ManifestPart(f"contexts.{context.type}", f"contexts[{index}]")
    for index, toolset in enumerate(manifest.tool_sets):
        yield from _toolset_parts(toolset, f"tool_sets[{index}]")
    for index, skill in enumerate(manifest.skills or ()):
        yield ManifestPart(f"skills.{skill.type}", f"skills[{index}]")
    for index, _ in enumerate(manifest.hooks or ()):
        yield ManifestPart("hooks", f"hooks[{index}]")
    for name, switch in FEATURES.items():
        feature = getattr(manifest.features, name, None)
        if feature is not None and (not switch or getattr(feature, switch)):
            yield ManifestPart(f"features.{name}", f"features.{name}")


FEATURES = {
    "timestamp": "",
    "dial_files": "",
    "web_fetch": "enabled",
    "documents": "enabled",
    "representation_tooling": "add_attachment",
    "questions": "",
    "search_conversations": "enabled",
    "schedules": "enabled",
    "subagents": "enabled",
    "spawn_agent": "enabled",
    "todo": "enabled",
    "summary": "enabled",
    "memory": "enabled",
    "notes": "enabled",
    "tool_access_filter": "enabled",
}
"""Maps features that need a capability to the field that enables them. "" means that the feature is
enabled unless it is null.
"""


def _orchestrator_parts(orchestrator: Orchestrator) -> Iterator[ManifestPart]:
    prompt, path = orchestrator.system_prompt, "orchestrator.system_prompt"
    is_resolved = isinstance(prompt, PredefinedSystemPrompt) and prompt.content is not None
    if not isinstance(prompt, CustomSystemPrompt) and not is_resolved:
        yield ManifestPart(f"{path}.{prompt.type}", path)
    if orchestrator.attachment_strategy is not None:
        yield ManifestPart("orchestrator.attachment_strategy", "orchestrator.attachment_strategy")
    if orchestrator.tool_discovery is not None and orchestrator.tool_discovery.enabled:
        yield ManifestPart("orchestrator.tool_discovery", "orchestrator.tool_discovery")


def _toolset_parts(toolset: ToolSet, path: str) -> Iterator[ManifestPart]:
    # An internal toolset is not a part itself: each of its tools has its own capability.
    if isinstance(toolset, PredefinedToolSet):
        yield ManifestPart("tool_sets.predefined", path)
        return
    if not toolset.enabled:
        return
    if not isinstance(toolset, InternalToolSet):
        yield ManifestPart(f"tool_sets.{toolset.type}", path)
    if isinstance(toolset, WrittenToolSet):
        yield from _tool_parts(toolset.tools, path)


def _tool_parts(tools: Sequence[AnyTool], path: str) -> Iterator[ManifestPart]:
    for index, tool in enumerate(tools):
        if isinstance(tool, PredefinedTool) and tool.enabled:
            yield ManifestPart("tools.predefined-tool", f"{path}.tools[{index}]")
        elif isinstance(tool, InternalTool) and tool.enabled:
            name = tool.open_ai_tool.function.name
            yield ManifestPart(f"tool_sets.internal.{name}", f"{path}.tools[{index}]")
