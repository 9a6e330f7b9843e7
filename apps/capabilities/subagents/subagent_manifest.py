"""Builds the manifest of a sub-agent from the application's manifest."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from apps.manifest.features.features import Features
from apps.manifest.hooks import Hook
from apps.manifest.kinds.predefined import PredefinedToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.names import in_all_languages, localize_text
from apps.manifest.prompts import PredefinedSystemPrompt
from apps.manifest.toolsets.kinds import ToolSet
from apps.manifest.toolsets.shared_fields import WrittenToolSet
from apps.manifest.toolsets.tools import PredefinedTool, SimpleDeploymentTool

PROMPT = """You work on one task for another assistant, who reads your answer and nothing else of what you \
do. The task is all you know: you cannot see the conversation that it comes from, and you cannot \
ask questions. If something is not said, decide for what is most likely and say what you assumed.

Do the whole task with the tools that you have. If something cannot be done, say so and say why \
instead of guessing. End with one answer that can be understood on its own: results first, with \
the facts, numbers, names and links that the other assistant needs to continue, and no account of \
how you worked."""


WRITTEN_HERE = "sub-agent"
"""The template name of a sub-agent's prompt. A prompt with a template name counts as predefined, so
its variables are replaced.
"""
NOT_FOR_SUBAGENTS = frozenset(
    {"subagents", "spawn_agent", "questions", "memory", "schedules", "todo"}
)


def name_of(toolset: ToolSet) -> str:
    """Return the toolset's name, or "" if the model cannot choose the toolset."""
    is_on = not isinstance(toolset, PredefinedToolSet) and toolset.enabled
    return toolset.label if is_on else ""


def descriptions(manifest: Manifest) -> dict[str, str]:
    """Return the descriptions of the toolsets that the model can choose, by name."""
    return {
        name: localize_text(toolset.description)
        for toolset in manifest.tool_sets
        if not isinstance(toolset, PredefinedToolSet) and (name := name_of(toolset))
    }


@dataclass(frozen=True, slots=True)
class SubagentKind:
    """A kind of sub-agent. If a value is None, the application's value applies."""

    prompt: str
    chosen: Collection[str] | None = None
    """The names of the application's toolsets that the sub-agent can use."""
    deployment_id: str | None = None
    max_iterations: int | None = None
    extra_toolsets: Sequence[ToolSet] = ()
    """Toolsets that the sub-agent can use in addition to the `chosen` ones."""
    may_spawn: bool = False


def manifest_of(manifest: Manifest, kind: SubagentKind) -> Manifest:
    """Return the manifest of a sub-agent. It has no conversation starters, and no features that
    need the user.
    """
    # Other toolsets are disabled rather than removed, because issues identify a toolset by its
    # index.
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
            "tool_sets": (*toolsets, *kind.extra_toolsets),
            "hooks": hooks,
            "features": features_left(manifest.features, kind),
            "starters": None,
            "conversation_starters": None,
        },
    )


def features_left(features: Features | None, kind: SubagentKind) -> Features | None:
    """Remove the features that depend on the conversation or its user."""
    if features is None:
        return None
    gone = NOT_FOR_SUBAGENTS - ({"spawn_agent"} if kind.may_spawn else set())
    return features.model_copy(update=dict.fromkeys(gone))


def with_choice(toolset: ToolSet, chosen: Collection[str]) -> ToolSet:
    if isinstance(toolset, PredefinedToolSet) or name_of(toolset) in chosen:
        return toolset
    return toolset.model_copy(update={"enabled": False})


def hooks_left(manifest: Manifest, chosen: Collection[str]) -> Iterator[Hook]:
    """Yield the hooks whose toolsets the sub-agent can use."""
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
    """Yield the names of the tools to which a hook can refer without naming the toolset."""
    if not isinstance(toolset, WrittenToolSet) or toolset.kind.is_prefixed:
        return
    for tool in toolset.tools:
        if isinstance(tool, SimpleDeploymentTool):
            yield tool.deployment_id
        elif not isinstance(tool, PredefinedTool):
            yield tool.open_ai_tool.function.name
