"""The parts of a manifest that a capability has to serve."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.manifest.features import Features
from apps.manifest.manifest import Manifest
from apps.manifest.orchestrator import Orchestrator
from apps.manifest.prompts import CustomSystemPrompt, PredefinedSystemPrompt
from apps.manifest.tools import AnyTool, InternalTool, PredefinedTool
from apps.manifest.toolsets import (
    DeploymentToolSet,
    InternalToolSet,
    PredefinedToolSet,
    RestToolSet,
    ToolSet,
)


@dataclass(frozen=True, slots=True)
class Part:
    """`name` is the kind of part, such as `tool_sets.mcp`, `path` its place in the manifest."""

    name: str
    path: str


def parts_in_use(manifest: Manifest) -> tuple[Part, ...]:
    """The parts in the order of the manifest, without those that are disabled or null."""
    return (
        *_orchestrator_parts(manifest.orchestrator),
        *(
            Part(f"contexts.{context.type}", f"contexts[{index}]")
            for index, context in enumerate(manifest.contexts)
        ),
        *(
            part
            for index, toolset in enumerate(manifest.tool_sets)
            for part in _toolset_parts(toolset, f"tool_sets[{index}]")
        ),
        *(
            Part(f"skills.{skill.type}", f"skills[{index}]")
            for index, skill in enumerate(manifest.skills or ())
        ),
        *(Part("hooks", f"hooks[{index}]") for index, _ in enumerate(manifest.hooks or ())),
        *(
            Part(f"features.{name}", f"features.{name}")
            for name in _features_in_use(manifest.features)
        ),
    )


def _orchestrator_parts(orchestrator: Orchestrator) -> Iterator[Part]:
    prompt, path = orchestrator.system_prompt, "orchestrator.system_prompt"
    is_resolved = isinstance(prompt, PredefinedSystemPrompt) and prompt.content is not None
    if not isinstance(prompt, CustomSystemPrompt) and not is_resolved:
        yield Part(f"{path}.{prompt.type}", path)
    if orchestrator.attachment_strategy is not None:
        yield Part("orchestrator.attachment_strategy", "orchestrator.attachment_strategy")
    if orchestrator.tool_discovery is not None and orchestrator.tool_discovery.enabled:
        yield Part("orchestrator.tool_discovery", "orchestrator.tool_discovery")


def _toolset_parts(toolset: ToolSet, path: str) -> Iterator[Part]:
    # An internal toolset is no part itself: each of its tools has a capability of its own.
    if isinstance(toolset, PredefinedToolSet):
        yield Part("tool_sets.predefined", path)
        return
    if not toolset.enabled:
        return
    if not isinstance(toolset, InternalToolSet):
        yield Part(f"tool_sets.{toolset.type}", path)
    if isinstance(toolset, RestToolSet | DeploymentToolSet | InternalToolSet):
        yield from _tool_parts(toolset.tools, path)


def _tool_parts(tools: Sequence[AnyTool], path: str) -> Iterator[Part]:
    for index, tool in enumerate(tools):
        if isinstance(tool, PredefinedTool) and tool.enabled:
            yield Part("tools.predefined-tool", f"{path}.tools[{index}]")
        elif isinstance(tool, InternalTool) and tool.enabled:
            name = tool.open_ai_tool.function.name
            yield Part(f"tool_sets.internal.{name}", f"{path}.tools[{index}]")


def _features_in_use(features: Features | None) -> Iterator[str]:
    if features is None:
        return
    if features.timestamp is not None:
        yield "timestamp"
    if features.dial_files is not None:
        yield "dial_files"
    if features.web_fetch is not None and features.web_fetch.enabled:
        yield "web_fetch"
    if (
        features.representation_tooling is not None
        and features.representation_tooling.add_attachment
    ):
        yield "representation_tooling"
    if features.subagents is not None and features.subagents.enabled:
        yield "subagents"
    if features.tool_access_filter is not None and features.tool_access_filter.enabled:
        yield "tool_access_filter"
