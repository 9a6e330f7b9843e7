"""Replaces a manifest's references to predefined content with that content.

References that cannot be resolved stay in the manifest, so that the paths of other items do not
change. Capabilities skip unresolved references.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.catalog.content.layers import Content
from apps.catalog.content.toolset_templates import (
    TOOL_SLOTS,
    Slot,
    Templates,
    ToolSetSlot,
    UnresolvedTemplate,
)
from apps.errors import InitializationIssue
from apps.manifest.kinds.predefined import PredefinedToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.orchestrator import Orchestrator
from apps.manifest.prompts import PredefinedSystemPrompt
from apps.manifest.toolsets.kinds import ToolSet
from apps.manifest.toolsets.shared_fields import WrittenToolSet
from apps.manifest.toolsets.tools import AnyTool, PredefinedTool
from apps.manifest.validation.validation import without_preview


@dataclass(frozen=True, slots=True)
class ReferenceProblem:
    """A reference to predefined content that cannot be resolved."""

    path: str
    """The path of the reference in the manifest."""
    message: str
    details: tuple[str, ...] = ()
    is_fatal: bool = False
    """True for the prompt, because no run can start without it."""

    @property
    def issue(self) -> InitializationIssue:
        return InitializationIssue(f"{self.path}: {self.message}", details="\n".join(self.details))

    @property
    def sentence(self) -> str:
        return " ".join((self.message, "; ".join(self.details))).strip()


@dataclass(frozen=True, slots=True)
class ResolvedReferences:
    manifest: Manifest
    problems: tuple[ReferenceProblem, ...]


def resolve_references(
    manifest: Manifest, content: Content, *, preview: bool = True, is_foreign: bool = False
) -> ResolvedReferences:
    """Replace the references in a manifest with predefined content. Without `preview`, also remove
    preview features.

    `is_foreign` means that the manifest is stored in DIAL Core. Such a manifest cannot redirect the
    credentials of predefined content to other servers.
    """
    resolver = ReferenceResolver(content, is_foreign=is_foreign)
    changes = {
        "orchestrator": resolver.orchestrator(manifest.orchestrator),
        "tool_sets": resolver.toolsets(manifest.tool_sets),
    }
    resolver.check_agents(manifest)
    resolved = manifest.model_copy(update=changes)
    resolved = resolved if preview else without_preview(resolved)
    return ResolvedReferences(resolved, tuple(resolver.problems))


class ReferenceResolver:
    """Replaces references with predefined content, and collects the problems with unresolved
    references.
    """

    def __init__(self, content: Content, *, is_foreign: bool = False) -> None:
        self.templates = Templates(content, is_foreign=is_foreign)
        self.problems: list[ReferenceProblem] = []

    def orchestrator(self, orchestrator: Orchestrator) -> Orchestrator:
        prompt = orchestrator.system_prompt
        if not isinstance(prompt, PredefinedSystemPrompt):
            return orchestrator
        try:
            text = self.templates.find("prompt", prompt.template).value
        except UnresolvedTemplate as error:
            path = "orchestrator.system_prompt.template"
            self.problems.append(ReferenceProblem(path, error.message, is_fatal=True))
            return orchestrator
        filled = prompt.model_copy(update={"content": text})
        return orchestrator.model_copy(update={"system_prompt": filled})

    def check_agents(self, manifest: Manifest) -> None:
        """Record a problem for each agent in the manifest that does not exist."""
        wanted = manifest.features.spawn_agent if manifest.features is not None else None
        if wanted is None or not wanted.enabled:
            return
        for index, name in enumerate(wanted.agents or ()):
            try:
                self.templates.find("agent", name)
            except UnresolvedTemplate as error:
                path = f"features.spawn_agent.agents[{index}]"
                self.problems.append(ReferenceProblem(path, error.message, error.details))

    def toolsets(self, toolsets: Sequence[ToolSet]) -> tuple[ToolSet, ...]:
        return tuple(self.toolset(one, f"tool_sets[{index}]") for index, one in enumerate(toolsets))

    def toolset(self, toolset: ToolSet, path: str) -> ToolSet:
        origin = ""
        if isinstance(toolset, PredefinedToolSet):
            origin = f"In the predefined toolset '{toolset.template_name}': "
            try:
                toolset = self.templates.expand("toolset", toolset, ToolSetSlot)
            except UnresolvedTemplate as error:
                self.problems.append(ReferenceProblem(path, error.message, error.details))
                return toolset
        if not isinstance(toolset, WrittenToolSet) or not toolset.enabled:
            return toolset
        slot = TOOL_SLOTS[type(toolset)]
        tools = tuple(
            self.tool(tool, slot, f"{path}.tools[{index}]", origin)
            for index, tool in enumerate(toolset.tools)
        )
        return toolset.model_copy(update={"tools": tools})

    def tool(self, tool: AnyTool, slot: type[Slot[Any]], path: str, origin: str) -> AnyTool:
        """Return the tool, or the predefined tool to which it refers. `origin` is the prefix for
        error messages about a tool in a predefined toolset, and "" for other tools.
        """
        if not isinstance(tool, PredefinedTool) or not tool.enabled:
            return tool
        try:
            expanded: AnyTool = self.templates.expand("tool", tool, slot)
        except UnresolvedTemplate as error:
            message = f"{origin}{error.message}"
            self.problems.append(ReferenceProblem(path, message, error.details))
            return tool
        return expanded
