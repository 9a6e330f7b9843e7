"""Replaces references to predefined content by the content, once for each application.

An unresolvable reference stays in the manifest, so that the paths of others do not change;
capabilities skip it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from apps.catalog.content.items import Item, Kind
from apps.catalog.content.layers import Content
from apps.catalog.content.slots import (
    Slot,
    ToolSetSlot,
    is_reference,
    slot_of_tool,
    slot_of_toolset,
)
from apps.errors import InitializationIssue
from apps.manifest.credentials import credential_places
from apps.manifest.manifest import Manifest
from apps.manifest.orchestrator import Orchestrator
from apps.manifest.overrides import CHANGES_TYPE, changes_type, merge
from apps.manifest.preview import without_preview
from apps.manifest.problems import ROOT
from apps.manifest.prompts import PredefinedSystemPrompt
from apps.manifest.tools import AnyTool, PredefinedTool
from apps.manifest.toolsets import (
    DeploymentToolSet,
    InternalToolSet,
    PredefinedToolSet,
    RestToolSet,
    ToolSet,
)
from apps.manifest.validation_errors import failure_problems

TemplateReference = PredefinedToolSet | PredefinedTool
REFERENCES: Mapping[Kind, type[TemplateReference]] = {
    "toolset": PredefinedToolSet,
    "tool": PredefinedTool,
}

MOST_DETAILS = 20
HARMLESS = frozenset({"name", "description", "enabled", "deferred", "display"})
"""Members that foreign manifests may override in templates with credentials."""


class Unresolved(Exception):
    """The template of a reference cannot be used; `details` has a line for each mistake."""

    def __init__(self, message: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


@dataclass(frozen=True, slots=True)
class ReferenceProblem:
    """`path` is the place in the manifest; `is_fatal` for the prompt, without which no run starts."""

    path: str
    message: str
    details: tuple[str, ...] = ()
    is_fatal: bool = False

    @property
    def issue(self) -> InitializationIssue:
        return InitializationIssue(f"{self.path}: {self.message}", details="\n".join(self.details))

    @property
    def sentence(self) -> str:
        return " ".join((self.message, "; ".join(self.details))).strip()


@dataclass(frozen=True, slots=True)
class Resolved:
    manifest: Manifest
    problems: tuple[ReferenceProblem, ...]


def resolve_references(
    manifest: Manifest, content: Content, *, preview: bool = True, is_foreign: bool = False
) -> Resolved:
    """The manifest with its references replaced. Without `preview`, preview features are removed.

    A foreign manifest cannot change where the credentials of templates are sent.
    """
    resolver = Resolver(content, is_foreign=is_foreign)
    changes = {
        "orchestrator": resolver.orchestrator(manifest.orchestrator),
        "tool_sets": resolver.toolsets(manifest.tool_sets),
    }
    resolved = manifest.model_copy(update=changes)
    resolved = resolved if preview else without_preview(resolved)
    return Resolved(resolved, tuple(resolver.problems))


class Resolver:
    """Replaces references by the templates of `content`, and collects the problems."""

    def __init__(self, content: Content, *, is_foreign: bool = False) -> None:
        self.content = content
        self.is_foreign = is_foreign
        self.problems: list[ReferenceProblem] = []

    def orchestrator(self, orchestrator: Orchestrator) -> Orchestrator:
        prompt = orchestrator.system_prompt
        if not isinstance(prompt, PredefinedSystemPrompt):
            return orchestrator
        try:
            text = self.find("prompt", prompt.template).value
        except Unresolved as error:
            path = "orchestrator.system_prompt.template"
            self.problems.append(ReferenceProblem(path, error.message, is_fatal=True))
            return orchestrator
        filled = prompt.model_copy(update={"content": text})
        return orchestrator.model_copy(update={"system_prompt": filled})

    def toolsets(self, toolsets: Sequence[ToolSet]) -> tuple[ToolSet, ...]:
        return tuple(self.toolset(one, f"tool_sets[{index}]") for index, one in enumerate(toolsets))

    def toolset(self, toolset: ToolSet, path: str) -> ToolSet:
        origin = ""
        if isinstance(toolset, PredefinedToolSet):
            origin = f"In the predefined toolset '{toolset.template_name}': "
            try:
                toolset = self.expand("toolset", toolset, ToolSetSlot)
            except Unresolved as error:
                self.problems.append(ReferenceProblem(path, error.message, error.details))
                return toolset
        if not isinstance(toolset, RestToolSet | DeploymentToolSet | InternalToolSet):
            return toolset
        if not toolset.enabled:
            return toolset
        slot = slot_of_toolset(toolset)
        tools = tuple(
            self.tool(tool, slot, f"{path}.tools[{index}]", origin)
            for index, tool in enumerate(toolset.tools)
        )
        return toolset.model_copy(update={"tools": tools})

    def tool(self, tool: AnyTool, slot: type[Slot], path: str, origin: str) -> AnyTool:
        """`origin` begins the message of a problem if a predefined toolset brings the tool."""
        if not isinstance(tool, PredefinedTool) or not tool.enabled:
            return tool
        try:
            expanded: AnyTool = self.expand("tool", tool, slot)
        except Unresolved as error:
            message = f"{origin}{error.message}"
            self.problems.append(ReferenceProblem(path, message, error.details))
            return tool
        return expanded

    def tool_alone(self, name: str) -> Any:
        """A predefined tool outside of any toolset, validated. Raises `Unresolved`."""
        reference = PredefinedTool(template_name=name)
        return self.expand("tool", reference, slot_of_tool(self.document("tool", reference, ())))

    def expand(self, kind: Kind, reference: TemplateReference, slot: type[Slot]) -> Any:
        """The template of a reference with its patch, validated. Raises `Unresolved`."""
        name = reference.template_name
        written = {"items": [self.document(kind, reference, ())]}
        try:
            found = slot.model_validate(written).items[0]
        except ValidationError as error:
            details = tuple(
                f"{inside(problem.path)}: {problem.message}"
                for problem in failure_problems(error, written, slot)
            )
            message = f"The predefined {kind} '{name}' is not valid."
            raise Unresolved(message, details[:MOST_DETAILS]) from None
        if isinstance(found, TemplateReference):
            raise Unresolved(
                f"The {kind} '{name}' becomes a reference by its patch; "
                "refer to that template instead."
            )
        return found

    def document(
        self, kind: Kind, reference: TemplateReference, passed: tuple[str, ...]
    ) -> dict[str, Any]:
        """The template with the patch of its reference; a template may refer to another one.

        `passed` are the templates on the way here. Raises `Unresolved`, also for a circle.
        """
        name = reference.template_name
        if name in passed:
            circle = " → ".join((*passed[passed.index(name) :], name))
            raise Unresolved(f"The references between {kind} templates are a circle: {circle}.")
        document: dict[str, Any] = self.find(kind, name).value
        if is_reference(kind, document):
            document = self.inner(kind, name, document, passed)
        patch = reference.override or {}
        if changes_type(patch):
            raise Unresolved(f"The patch of the predefined {kind} '{name}' {CHANGES_TYPE}.")
        if self.is_foreign and not passed and patch.keys() - HARMLESS:
            self.keep_credentials(kind, name, document)
        patched: dict[str, Any] = merge(document, patch)
        return patched

    def keep_credentials(self, kind: Kind, name: str, document: dict[str, Any]) -> None:
        """Raises `Unresolved` for a template with credentials in it or in its tools."""
        documents = [document]
        for tool in tools_in(document):
            with suppress(Unresolved, ValidationError):  # reported when it is expanded
                documents.append(self.document("tool", PredefinedTool.model_validate(tool), ("",)))
        if any(credential_places(one) for one in documents):
            raise Unresolved(
                f"The predefined {kind} '{name}' has credentials, so an application that is not "
                f"kept here can change nothing of it but {', '.join(sorted(HARMLESS))}."
            )

    def inner(
        self, kind: Kind, name: str, document: dict[str, Any], passed: tuple[str, ...]
    ) -> dict[str, Any]:
        """The template that another template refers to."""
        model = REFERENCES[kind]
        try:
            reference = model.model_validate(document)
        except ValidationError as error:
            found = failure_problems(error, document, model)
            details = tuple(f"{problem.path}: {problem.message}" for problem in found)
            raise Unresolved(f"The predefined {kind} '{name}' is not valid.", details) from None
        target = self.document(kind, reference, (*passed, name))
        is_off = isinstance(reference, PredefinedTool) and not reference.enabled
        return {**target, "enabled": False} if is_off else target

    def find(self, kind: Kind, name: str) -> Item:
        """Raises `Unresolved`."""
        item = self.content.items[kind].get(name)
        if item is None:
            near = self.content.near(kind, name)
            shown = name if len(name) <= 100 else f"{name[:100]}…"
            raise Unresolved(f"There is no predefined {kind} '{shown}'{near}")
        if item.problem:
            raise Unresolved(f"The predefined {kind} '{name}' cannot be read.", (item.problem,))
        return item


def tools_in(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tools of a toolset that are references."""
    tools = document.get("tools")
    found = tools if isinstance(tools, list) else []
    return [tool for tool in found if isinstance(tool, dict) and "template_name" in tool]


def inside(path: str) -> str:
    """A path in a slot as a path in its item."""
    return path.removeprefix("items[0]").removeprefix(".") or ROOT
