"""Lists the sub-agents that an application offers to its model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from apps.capabilities.subagents.subagent_manifest import PROMPT, SubagentKind, descriptions
from apps.errors import InitializationIssue
from apps.manifest.features.subagents import GENERAL_PURPOSE, GeneralPurpose, Subagent, Subagents
from apps.manifest.manifest import Manifest

PURPOSE = "Works on any task, with the toolsets that you choose in tool_sets."


@dataclass(frozen=True, slots=True)
class SubagentType:
    """A type of sub-agent that the application offers to its model."""

    name: str
    description: str
    prompt: str
    deployment_id: str | None
    max_iterations: int | None
    tool_sets: frozenset[str] | None = None
    """The toolsets that the sub-agent can use, or None for all toolsets of the application."""
    chooses_toolsets: bool = False
    """True if the model chooses the toolsets in each call."""
    has_lost_all: bool = False
    """True if the manifest names toolsets for the sub-agent, but none of them is enabled."""

    def kind_with(self, toolsets: frozenset[str] | None) -> SubagentKind:
        return SubagentKind(self.prompt, toolsets, self.deployment_id, self.max_iterations)


@dataclass(frozen=True, slots=True)
class OfferedTypes:
    """The sub-agents and toolsets that the model can choose."""

    types: Mapping[str, SubagentType]
    toolsets: Mapping[str, str]
    issues: tuple[InitializationIssue, ...] = ()

    @property
    def has_choice(self) -> bool:
        """Return True if the model chooses the toolsets of at least one sub-agent."""
        return any(one.chooses_toolsets for one in self.types.values())


def offer_of(manifest: Manifest, wanted: Subagents) -> OfferedTypes:
    toolsets = descriptions(manifest)
    types: list[SubagentType] = []
    issues: list[InitializationIssue] = []
    if wanted.general_purpose is not None:
        types.append(general_purpose(wanted.general_purpose))
    for index, subagent in enumerate(wanted.types):
        types.append(declared_type(subagent, toolsets))
        issues += issues_of(subagent, index, tuple(toolsets))
    by_name = MappingProxyType({one.name: one for one in types})
    return OfferedTypes(by_name, toolsets, tuple(issues))


def general_purpose(wanted: GeneralPurpose) -> SubagentType:
    return SubagentType(
        GENERAL_PURPOSE,
        PURPOSE,
        wanted.system_prompt or PROMPT,
        wanted.deployment_id,
        wanted.max_iterations,
        chooses_toolsets=True,
    )


def declared_type(subagent: Subagent, toolsets: Mapping[str, str]) -> SubagentType:
    named = subagent.tool_sets
    found = None if named is None else frozenset(name for name in named if name in toolsets)
    return SubagentType(
        subagent.name,
        subagent.description,
        subagent.system_prompt,
        subagent.deployment_id,
        subagent.max_iterations,
        found,
        has_lost_all=bool(named) and not found,
    )


def issues_of(subagent: Subagent, index: int, toolsets: Sequence[str]) -> list[InitializationIssue]:
    there_are = f"there are: {', '.join(toolsets)}" if toolsets else "there are none"
    return [
        InitializationIssue(
            f"features.subagents.types[{index}].tool_sets: there is no enabled toolset "
            f"{name!r} ({there_are}), so the sub-agent {subagent.name!r} does not have it."
        )
        for name in dict.fromkeys(subagent.tool_sets or ())
        if name not in toolsets
    ]
