"""References to predefined content become what they stand for, once for each application.

What cannot be resolved stays where it is, so that places in the manifest keep their numbers; the
capabilities pass it over, and its problem says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from apps.catalog.content.items import Item, Kind
from apps.catalog.content.layers import Content
from apps.catalog.content.slots import Slot, ToolSetSlot, is_reference, slot_of_toolset
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

Reference = PredefinedToolSet | PredefinedTool
REFERENCES: Mapping[Kind, type[Reference]] = {
    "toolset": PredefinedToolSet,
    "tool": PredefinedTool,
}

MOST_DETAILS = 20
HARMLESS = frozenset({"name", "description", "enabled", "deferred", "display"})
"""What may be said of a template with credentials by those who must not have them."""


class Unresolved(Exception):
    """A reference leads to nothing usable; `details` has a line for each mistake."""

    def __init__(self, message: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


@dataclass(frozen=True, slots=True)
class ReferenceProblem:
    """`path` is the place in the manifest; without its prompt an application must not answer."""

    path: str
    message: str
    details: tuple[str, ...] = ()
    is_fatal: bool = False

    @property
    def issue(self) -> InitializationIssue:
        return InitializationIssue(f"{self.path}: {self.message}", details="\n".join(self.details))

    @property
    def sentence(self) -> str:
        """The message and its details in one line."""
        return " ".join((self.message, "; ".join(self.details))).strip()


@dataclass(frozen=True, slots=True)
class Resolved:
    manifest: Manifest
    problems: tuple[ReferenceProblem, ...]


def resolve_references(
    manifest: Manifest, content: Content, *, preview: bool = True, is_foreign: bool = False
) -> Resolved:
    """The manifest with its references replaced. Without `preview`, templates have none either.

    One that others keep (`is_foreign`) cannot change where credentials of templates go.
    """
    resolver = Resolver(content, is_foreign=is_foreign)
    changes = {
        "orchestrator": resolver.orchestrator(manifest.orchestrator),
        "tool_sets": tuple(
            resolver.toolset(toolset, f"tool_sets[{index}]")
            for index, toolset in enumerate(manifest.tool_sets)
        ),
    }
    resolved = manifest.model_copy(update=changes)
    resolved = resolved if preview else without_preview(resolved)
    return Resolved(resolved, tuple(resolver.problems))


class Resolver:
    """Replaces references by what `content` has for them; collects the problems."""

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
        """`origin` says that the tool does not stand in the manifest itself."""
        if not isinstance(tool, PredefinedTool) or not tool.enabled:
            return tool
        try:
            expanded: AnyTool = self.expand("tool", tool, slot)
        except Unresolved as error:
            problem = ReferenceProblem(path, f"{origin}{error.message}", error.details)
            self.problems.append(problem)
            return tool
        return expanded

    def expand(self, kind: Kind, reference: Reference, slot: type[Slot]) -> Any:
        """What a reference stands for, validated. Raises `Unresolved`."""
        name = reference.template_name
        document = self.document(kind, reference, ())
        found = self.validated(kind, name, document, slot)
        if isinstance(found, Reference):
            raise Unresolved(
                f"The {kind} '{name}' becomes a reference by its patch; "
                "refer to that template instead."
            )
        return found

    def validated(
        self, kind: Kind, name: str, document: Mapping[str, Any], slot: type[Slot]
    ) -> Any:
        written = {"items": [document]}
        try:
            return slot.model_validate(written).items[0]
        except ValidationError as error:
            details = tuple(
                f"{inside(problem.path)}: {problem.message}"
                for problem in failure_problems(error, written, slot)
            )
        raise Unresolved(f"The predefined {kind} '{name}' is not valid.", details[:MOST_DETAILS])

    def document(self, kind: Kind, reference: Reference, passed: tuple[str, ...]) -> dict[str, Any]:
        """The template with the patch of its reference; a template may refer to another one.

        Raises `Unresolved`, also where references lead back to where they began.
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
        """Raises `Unresolved` for a template that has any, its tools included."""
        documents = [document]
        for tool in tools_in(document):
            with suppress(Unresolved, ValidationError):  # told when it is expanded
                documents.append(self.document("tool", PredefinedTool.model_validate(tool), ("",)))
        if any(credential_places(one) for one in documents):
            raise Unresolved(
                f"The predefined {kind} '{name}' has credentials, so an application that is not "
                f"kept here can change nothing of it but {', '.join(sorted(HARMLESS))}."
            )

    def inner(
        self, kind: Kind, name: str, document: dict[str, Any], passed: tuple[str, ...]
    ) -> dict[str, Any]:
        """What a template that is itself a reference stands for."""
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
    """The tools of a toolset that are references themselves."""
    tools = document.get("tools")
    found = tools if isinstance(tools, list) else []
    return [tool for tool in found if isinstance(tool, dict) and "template_name" in tool]


def inside(path: str) -> str:
    """A path in the item of a slot, as a path in the item."""
    return path.removeprefix("items[0]").removeprefix(".") or ROOT
