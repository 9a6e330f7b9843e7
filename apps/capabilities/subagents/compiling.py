"""The manifest of a helper: its application's own, with a part of the toolsets."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import unquote

from apps.manifest.hooks import Hook
from apps.manifest.manifest import Manifest
from apps.manifest.names import localized
from apps.manifest.prompts import CustomSystemPrompt
from apps.manifest.subagents import Subagents
from apps.manifest.tools import DeploymentTool, InternalTool, SimpleDeploymentTool
from apps.manifest.toolsets import (
    DeploymentToolSet,
    DialMcpToolSet,
    InternalToolSet,
    PredefinedToolSet,
    ToolSet,
)

PROMPT = """\
You work on one task for another assistant, who reads what you answer and nothing else of what you \
do. The task is all you know: you cannot see the conversation that it comes from, and you cannot \
ask back. If something is not said, decide for what is most likely and say what you assumed.

Do the whole task with the tools that you have. If something cannot be done, say so and say why \
instead of guessing. End with one answer that stands by itself: results first, with the facts, \
numbers, names and links that the other assistant needs to go on, and no account of how you went \
about it."""


def name_of(toolset: ToolSet) -> str:
    """What the model calls a toolset; "" for one that it cannot choose."""
    if isinstance(toolset, PredefinedToolSet) or not toolset.enabled:
        return ""
    if isinstance(toolset, DialMcpToolSet) and "name" not in toolset.model_fields_set:
        return unquote(toolset.id.rstrip("/").rpartition("/")[2])
    return localized(toolset.name)


def descriptions(manifest: Manifest) -> dict[str, str]:
    """The toolsets that there are to choose from: name → description."""
    return {
        name: localized(toolset.description)
        for toolset in manifest.tool_sets
        if not isinstance(toolset, PredefinedToolSet) and (name := name_of(toolset))
    }


def compiled(manifest: Manifest, wanted: Subagents, chosen: Collection[str]) -> Manifest:
    """Toolsets keep their places, by which mistakes in them are told; others are switched off."""
    orchestrator = manifest.orchestrator
    prompt = CustomSystemPrompt(content=wanted.system_prompt or PROMPT, variables={})
    changes: dict[str, Any] = {"system_prompt": prompt}
    if wanted.deployment_id is not None:
        changed = {"deployment_id": wanted.deployment_id}
        changes["deployment"] = orchestrator.deployment.model_copy(update=changed)
    if wanted.max_iterations is not None:
        changes["max_iterations"] = wanted.max_iterations
    features = manifest.features
    if features is not None:
        features = features.model_copy(update={"subagents": None})
    return manifest.model_copy(
        deep=True,
        update={
            "orchestrator": orchestrator.model_copy(update=changes),
            "tool_sets": tuple(narrowed(toolset, chosen) for toolset in manifest.tool_sets),
            "hooks": tuple(hooks_left(manifest, chosen)),
            "features": features,
            "starters": None,
            "conversation_starters": None,
        },
    )


def narrowed(toolset: ToolSet, chosen: Collection[str]) -> ToolSet:
    if isinstance(toolset, PredefinedToolSet) or name_of(toolset) in chosen:
        return toolset
    return toolset.model_copy(update={"enabled": False})


def hooks_left(manifest: Manifest, chosen: Collection[str]) -> Iterator[Hook]:
    """Those whose tools are not switched off."""
    off = [toolset for toolset in manifest.tool_sets if name_of(toolset) not in chosen]
    toolsets = {name for toolset in off for name in names_of(toolset)}
    functions = {name for toolset in off for name in functions_of(toolset)}
    for hook in manifest.hooks or ():
        is_off = hook.toolset_name in toolsets if hook.toolset_name else hook.tool_name in functions
        if not is_off:
            yield hook


def names_of(toolset: ToolSet) -> frozenset[str]:
    """A hook may name a toolset in any of its languages."""
    if isinstance(toolset, PredefinedToolSet):
        return frozenset()
    return frozenset((toolset.name,) if isinstance(toolset.name, str) else toolset.name.values())


def functions_of(toolset: ToolSet) -> Iterator[str]:
    """The tools that hooks name without their toolset."""
    for tool in toolset.tools if isinstance(toolset, DeploymentToolSet | InternalToolSet) else ():
        if isinstance(tool, SimpleDeploymentTool):
            yield tool.deployment_id
        elif isinstance(tool, DeploymentTool | InternalTool):
            yield tool.open_ai_tool.function.name
