"""Predefined tools and toolsets as the templates of references: found, patched and validated."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from apps.catalog.content.items import Item, ItemKind
from apps.catalog.content.layers import Content
from apps.catalog.content.slots import Slot, is_reference, slot_of_tool
from apps.manifest.credentials import credential_places
from apps.manifest.overrides import CHANGES_TYPE, changes_type, merge
from apps.manifest.problems import ROOT
from apps.manifest.tools import PredefinedTool
from apps.manifest.toolsets import PredefinedToolSet
from apps.manifest.validation_errors import failure_problems

TemplateReference = PredefinedToolSet | PredefinedTool
REFERENCES: Mapping[ItemKind, type[TemplateReference]] = {
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
class Templates:
    """The templates in `content`. Foreign manifests cannot change where credentials are sent."""

    content: Content
    is_foreign: bool = False

    def find(self, kind: ItemKind, name: str) -> Item:
        """Raises `Unresolved`."""
        item = self.content.items[kind].get(name)
        if item is None:
            near = self.content.near(kind, name)
            shown = name if len(name) <= 100 else f"{name[:100]}…"
            raise Unresolved(f"There is no predefined {kind} '{shown}'{near}")
        if item.problem:
            raise Unresolved(f"The predefined {kind} '{name}' cannot be read.", (item.problem,))
        return item

    def tool_alone(self, name: str) -> Any:
        """A predefined tool outside of any toolset, validated. Raises `Unresolved`."""
        reference = PredefinedTool(template_name=name)
        return self.expand("tool", reference, slot_of_tool(self.document("tool", reference, ())))

    def expand(self, kind: ItemKind, reference: TemplateReference, slot: type[Slot[Any]]) -> Any:
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
        self, kind: ItemKind, reference: TemplateReference, passed: tuple[str, ...]
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

    def keep_credentials(self, kind: ItemKind, name: str, document: dict[str, Any]) -> None:
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
        self, kind: ItemKind, name: str, document: dict[str, Any], passed: tuple[str, ...]
    ) -> dict[str, Any]:
        """The template that another template refers to."""
        model = REFERENCES[kind]
        try:
            reference = model.model_validate(document)
        except ValidationError as error:
            found = failure_problems(error, document, model)
            raise Unresolved(
                f"The predefined {kind} '{name}' is not valid.", tuple(map(str, found))
            ) from None
        target = self.document(kind, reference, (*passed, name))
        is_off = isinstance(reference, PredefinedTool) and not reference.enabled
        return {**target, "enabled": False} if is_off else target


def tools_in(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tools of a toolset that are references."""
    tools = document.get("tools")
    found = tools if isinstance(tools, list) else []
    return [tool for tool in found if isinstance(tool, dict) and "template_name" in tool]


def inside(path: str) -> str:
    """A path in a slot as a path in its item."""
    return path.removeprefix("items[0]").removeprefix(".") or ROOT
