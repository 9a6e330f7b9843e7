"""Resolves a manifest's references to predefined tools and toolsets. Applies the patches in the
references, and validates the resulting tools and toolsets.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from pydantic import ConfigDict, ValidationError

from apps.catalog.content.items import ItemKind, LayerItem
from apps.catalog.content.layers import Content
from apps.manifest.credentials import find_credentials
from apps.manifest.kinds.deployment import DeploymentToolSet
from apps.manifest.kinds.internal import InternalToolSet
from apps.manifest.kinds.predefined import PredefinedToolSet
from apps.manifest.kinds.rest import RestToolSet
from apps.manifest.nodes import Node
from apps.manifest.problems import ROOT
from apps.manifest.toolsets.kinds import WRITTEN, ToolSet, tool_of, tool_types
from apps.manifest.toolsets.shared_fields import WrittenToolSet
from apps.manifest.toolsets.tools import CHANGES_TYPE, PredefinedTool, apply_patch, changes_type
from apps.manifest.validation.errors import failure_problems

Template = TypeVar("Template")


class Slot(Node, Generic[Template]):
    """Validates a tool or toolset as the only item of a list, so that the paths in errors have the
    same form as in a manifest.
    """

    # It has no attribute docstrings, and searching for them takes a third of a second per process.
    model_config = ConfigDict(use_attribute_docstrings=False)

    items: tuple[Template, ...]


ToolSetSlot = Slot[ToolSet]
TOOL_SLOTS: Mapping[type[WrittenToolSet], type[Slot[Any]]] = {
    schema: cast(type[Slot[Any]], Slot.__class_getitem__(tool_of(schema))) for schema in WRITTEN
}
"""The `Slot` that validates the tools of each toolset model."""
MEMBERS = {RestToolSet: "rest_api_method_info", DeploymentToolSet: "deployment"}
"""Maps a toolset model to the field that identifies its tools if they have no `type`. A tool with
neither of these fields is an internal tool.
"""


def slot_of_tool(document: Mapping[str, Any]) -> type[Slot[Any]]:
    """Return the `Slot` that validates a predefined tool outside a toolset."""
    kind = document.get("type")
    fitting = (
        schema
        for schema in WRITTEN
        if kind in tool_types(schema) or MEMBERS.get(schema) in document
    )
    return TOOL_SLOTS[next(fitting, InternalToolSet)]


def is_reference(kind: ItemKind, document: Mapping[str, Any]) -> bool:
    """Return True if a predefined item, as JSON, is itself a reference to another item."""
    if kind == "toolset":
        return document.get("type") == "predefined"
    return document.get("type", "predefined-tool") == "predefined-tool" and (
        "template_name" in document or "type" in document
    )


TemplateReference = PredefinedToolSet | PredefinedTool
REFERENCES: Mapping[ItemKind, type[TemplateReference]] = {
    "toolset": PredefinedToolSet,
    "tool": PredefinedTool,
}

MOST_DETAILS = 20
HARMLESS = frozenset({"name", "description", "enabled", "deferred", "display"})
"""Applications in DIAL Core may override only these fields of predefined content that contains
credentials.
"""


class UnresolvedTemplate(Exception):
    """Raised if a reference to predefined content cannot be resolved. `details` has a line for each
    error.
    """

    def __init__(self, message: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


@dataclass(frozen=True, slots=True)
class Templates:
    """Resolves references to predefined tools and toolsets. With `is_foreign`, the references come
    from DIAL Core and cannot redirect credentials.
    """

    content: Content
    is_foreign: bool = False

    def find(self, kind: ItemKind, name: str) -> LayerItem:
        """Return the predefined item with this kind and name. Raises `UnresolvedTemplate` if there
        is none or it cannot be read.
        """
        item = self.content.items[kind].get(name)
        if item is None:
            near = self.content.near(kind, name)
            shown = name if len(name) <= 100 else f"{name[:100]}…"
            raise UnresolvedTemplate(f"There is no predefined {kind} '{shown}'{near}")
        if item.problem:
            raise UnresolvedTemplate(
                f"The predefined {kind} '{name}' cannot be read.", (item.problem,)
            )
        return item

    def tool_alone(self, name: str) -> Any:
        """Return a predefined tool that is not part of a toolset. Raises `UnresolvedTemplate` if it
        is missing or invalid.
        """
        reference = PredefinedTool(template_name=name)
        return self.expand("tool", reference, slot_of_tool(self.document("tool", reference, ())))

    def expand(self, kind: ItemKind, reference: TemplateReference, slot: type[Slot[Any]]) -> Any:
        """Return the predefined item to which the reference points, patched and validated. Raises
        `UnresolvedTemplate` if it is missing or invalid.
        """
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
            raise UnresolvedTemplate(message, details[:MOST_DETAILS]) from None
        if isinstance(found, TemplateReference):
            raise UnresolvedTemplate(
                f"The patch turns the {kind} '{name}' into a reference to another template; "
                "refer to that template directly."
            )
        return found

    def document(
        self, kind: ItemKind, reference: TemplateReference, passed: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return the JSON of the predefined item to which the reference points, with the
        reference's patch applied.

        The item may itself refer to another item. `passed` contains the names of the items that led
        to this reference. Raises `UnresolvedTemplate`, for example if the references form a cycle.
        """
        name = reference.template_name
        if name in passed:
            circle = " → ".join((*passed[passed.index(name) :], name))
            raise UnresolvedTemplate(
                f"The references between {kind} templates form a cycle: {circle}."
            )
        document: dict[str, Any] = self.find(kind, name).value
        if is_reference(kind, document):
            document = self.inner(kind, name, document, passed)
        patch = reference.override or {}
        if changes_type(patch):
            raise UnresolvedTemplate(f"The patch of the predefined {kind} '{name}' {CHANGES_TYPE}.")
        if self.is_foreign and not passed and patch.keys() - HARMLESS:
            self.keep_credentials(kind, name, document)
        patched: dict[str, Any] = apply_patch(document, patch)
        return patched

    def keep_credentials(self, kind: ItemKind, name: str, document: dict[str, Any]) -> None:
        """Raise `UnresolvedTemplate` if the predefined tool or toolset contains credentials, which
        a reference from DIAL Core could redirect.
        """
        documents = [document]
        for tool in tools_in(document):
            # The problem is reported when the tool is expanded.
            with suppress(UnresolvedTemplate, ValidationError):
                documents.append(self.document("tool", PredefinedTool.model_validate(tool), ("",)))
        if any(find_credentials(one) for one in documents):
            raise UnresolvedTemplate(
                f"The predefined {kind} '{name}' has credentials, so an application that is "
                f"stored in DIAL Core can override only {', '.join(sorted(HARMLESS))}."
            )

    def inner(
        self, kind: ItemKind, name: str, document: dict[str, Any], passed: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return the JSON of the item to which the predefined item `name` refers. Raises
        `UnresolvedTemplate` if it is missing or invalid.
        """
        model = REFERENCES[kind]
        try:
            reference = model.model_validate(document)
        except ValidationError as error:
            found = failure_problems(error, document, model)
            raise UnresolvedTemplate(
                f"The predefined {kind} '{name}' is not valid.", tuple(map(str, found))
            ) from None
        target = self.document(kind, reference, (*passed, name))
        is_off = isinstance(reference, PredefinedTool) and not reference.enabled
        return {**target, "enabled": False} if is_off else target


def tools_in(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tools in a toolset's JSON that refer to predefined tools."""
    tools = document.get("tools")
    found = tools if isinstance(tools, list) else []
    return [tool for tool in found if isinstance(tool, dict) and "template_name" in tool]


def inside(path: str) -> str:
    """Convert a path in a `Slot` to the path in the tool or toolset that it validates."""
    return path.removeprefix("items[0]").removeprefix(".") or ROOT
