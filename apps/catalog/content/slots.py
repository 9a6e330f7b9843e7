"""The models that a template is validated with, by the place of its reference."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from pydantic import ConfigDict

from apps.catalog.content.items import ItemKind
from apps.manifest.nodes import Node
from apps.manifest.tools import AnyDeploymentTool, AnyInternalTool, AnyRestTool
from apps.manifest.toolsets import DeploymentToolSet, RestToolSet, ToolSet, WrittenToolSet

Template = TypeVar("Template")


class Slot(Node, Generic[Template]):
    """A model around an item, so that its failures are worded like those of a manifest."""

    # There are none to be read, and looking for them takes a third of a second in each process.
    model_config = ConfigDict(use_attribute_docstrings=False)

    items: tuple[Template, ...]


ToolSetSlot = Slot[ToolSet]
RestToolSlot = Slot[AnyRestTool]
DeploymentToolSlot = Slot[AnyDeploymentTool]
InternalToolSlot = Slot[AnyInternalTool]


def slot_of_toolset(toolset: WrittenToolSet) -> type[Slot[Any]]:
    if isinstance(toolset, RestToolSet):
        return RestToolSlot
    return DeploymentToolSlot if isinstance(toolset, DeploymentToolSet) else InternalToolSlot


def slot_of_tool(document: Mapping[str, Any]) -> type[Slot[Any]]:
    """The slot of a tool outside of any toolset: by its type, else by its members."""
    kind = document.get("type")
    if kind == "restapi-tool" or "rest_api_method_info" in document:
        return RestToolSlot
    if kind in {"deployment-tool", "dial-deployment-simple"} or "deployment" in document:
        return DeploymentToolSlot
    return InternalToolSlot


def is_reference(kind: ItemKind, document: Mapping[str, Any]) -> bool:
    """Whether a template refers to another one."""
    if kind == "toolset":
        return document.get("type") == "predefined"
    return document.get("type", "predefined-tool") == "predefined-tool" and (
        "template_name" in document or "type" in document
    )
