"""The manifest of a sub-agent: a copy of its application's, with its prompt and toolsets."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from apps.manifest.features import Features
from apps.manifest.hooks import Hook
from apps.manifest.manifest import Manifest
from apps.manifest.mcp_toolsets import DialMcpToolSet
from apps.manifest.names import in_all_languages, localized
from apps.manifest.prompts import PredefinedSystemPrompt
from apps.manifest.tools import DeploymentTool, InternalTool, SimpleDeploymentTool
from apps.manifest.toolsets import DeploymentToolSet, InternalToolSet, PredefinedToolSet, ToolSet

PROMPT = """\
You work on one task for another assistant, who reads what you answer and nothing else of what you \
do. The task is all you know: you cannot see the conversation that it comes from, and you cannot \
ask back. If something is not said, decide for what is most likely and say what you assumed.

Do the whole task with the tools that you have. If something cannot be done, say so and say why \
instead of guessing. End with one answer that stands by itself: results first, with the facts, \
numbers, names and links that the other assistant needs to go on, and no account of how you went \
about it."""


WRITTEN_HERE = "helper"
"""Stands for the name of the prompt of a helper, which is filled in as a predefined one is."""
NOT_FOR_HELPERS = frozenset(
    {"subagents", "spawn_agent", "questions", "memory", "schedules", "todo"}
)


def name_of(toolset: ToolSet) -> str:
    """The model's name for a toolset, "" for one that it cannot choose."""
    if isinstance(toolset, PredefinedToolSet) or not toolset.enabled:
        return ""
    if isinstance(toolset, DialMcpToolSet) and "name" not in toolset.model_fields_set:
        return unquote(toolset.id.rstrip("/").rpartition("/")[2])
    return localized(toolset.name)


def descriptions(manifest: Manifest) -> dict[str, str]:
    """The toolsets to choose from: name → description."""
    return {
        name: localized(toolset.description)
        for toolset in manifest.tool_sets
        if not isinstance(toolset, PredefinedToolSet) and (name := name_of(toolset))
    }


@dataclass(frozen=True, slots=True)
class HelperKind:
    """`chosen` are the names of the toolsets that it may use, None for all; `brought` are more.

    What is None is as the application has it.
    """

    prompt: str
    chosen: Collection[str] | None = None
    deployment_id: str | None = None
    max_iterations: int | None = None
    brought: Sequence[ToolSet] = ()
    may_spawn: bool = False


def manifest_of(manifest: Manifest, kind: HelperKind) -> Manifest:
    """Return the manifest of a sub-agent. It has no sub-agents and no starters."""
    # Other toolsets are disabled, not removed: issues name a toolset by its index.
    orchestrator = manifest.orchestrator
    prompt = PredefinedSystemPrompt(template=WRITTEN_HERE, content=kind.prompt)
    changes: dict[str, Any] = {"system_prompt": prompt}
    if kind.deployment_id is not None:
        changed = {"deployment_id": kind.deployment_id}
        changes["deployment"] = orchestrator.deployment.model_copy(update=changed)
    if kind.max_iterations is not None:
        changes["max_iterations"] = kind.max_iterations
    chosen = kind.chosen
    toolsets = manifest.tool_sets
    hooks = manifest.hooks or ()
    if chosen is not None:
        toolsets = tuple(with_choice(toolset, chosen) for toolset in toolsets)
        hooks = tuple(hooks_left(manifest, chosen))
    return manifest.model_copy(
        deep=True,
        update={
            "orchestrator": orchestrator.model_copy(update=changes),
            "tool_sets": (*toolsets, *kind.brought),
            "hooks": hooks,
            "features": features_left(manifest.features, kind),
            "starters": None,
            "conversation_starters": None,
        },
    )


def features_left(features: Features | None, kind: HelperKind) -> Features | None:
    """What belongs to the conversation and its person is not for helpers."""
    if features is None:
        return None
    gone = NOT_FOR_HELPERS - ({"spawn_agent"} if kind.may_spawn else set())
    return features.model_copy(update=dict.fromkeys(gone))


def with_choice(toolset: ToolSet, chosen: Collection[str]) -> ToolSet:
    if isinstance(toolset, PredefinedToolSet) or name_of(toolset) in chosen:
        return toolset
    return toolset.model_copy(update={"enabled": False})


def hooks_left(manifest: Manifest, chosen: Collection[str]) -> Iterator[Hook]:
    """Hooks whose tools are not disabled."""
    off = [toolset for toolset in manifest.tool_sets if name_of(toolset) not in chosen]
    toolsets = {
        name
        for toolset in off
        if not isinstance(toolset, PredefinedToolSet)
        for name in in_all_languages(toolset.name)
    }
    functions = {name for toolset in off for name in functions_of(toolset)}
    for hook in manifest.hooks or ():
        is_off = hook.toolset_name in toolsets if hook.toolset_name else hook.tool_name in functions
        if not is_off:
            yield hook


def functions_of(toolset: ToolSet) -> Iterator[str]:
    """Names of tools that hooks use without the name of a toolset."""
    for tool in toolset.tools if isinstance(toolset, DeploymentToolSet | InternalToolSet) else ():
        if isinstance(tool, SimpleDeploymentTool):
            yield tool.deployment_id
        elif isinstance(tool, DeploymentTool | InternalTool):
            yield tool.open_ai_tool.function.name
