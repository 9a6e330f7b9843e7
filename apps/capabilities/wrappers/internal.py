"""Prepares the tools that QuickApps itself declares."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Contribution, Open, PreparedTool, Work
from apps.capabilities.wrappers.approval import Risk
from apps.capabilities.wrappers.approval_rules import ApprovalRules, approval_rules
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import ToolOptions, prepared_tool
from apps.capabilities.wrappers.display import Title, display_of
from apps.manifest.manifest import Manifest
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.manifest.toolsets.parameters import (
    FunctionParameters,
    Parameter,
    ParameterDisplay,
    ParameterStage,
    SimpleParameter,
)
from apps.workspace.loading.shared_loads import rules_of

EVERYTHING = AttachmentFilter()
IN_TITLE = ParameterDisplay(stage=ParameterStage(show_value_in_stage_title=True))
"""These display options show a parameter's value in the stage's title."""


def parameters(properties: dict[str, Parameter], *required: str) -> FunctionParameters:
    return FunctionParameters(type="object", properties=properties, required=required)


def text_parameter(description: str, default: str | None = None, **fields: Any) -> SimpleParameter:
    return SimpleParameter(type="string", description=description, default=default, **fields)


@dataclass(frozen=True, slots=True)
class PlatformTool:
    """Declares a built-in tool of QuickApps. `is_private` has the same meaning as in `Tool`."""

    name: str
    description: str
    parameters: FunctionParameters
    title: Title
    risk: Risk
    """A `read-only` tool can be repeated and needs no approval."""
    addresses: frozenset[str] = frozenset()
    """The names of the arguments whose file references are not loaded."""
    streams: str = ""
    """The argument that the stage shows while the model is writing it, or ""."""
    is_system: bool = False
    """True if stages show the tool only at the level `debug`."""
    is_private: bool = False


def internal_tool(
    manifest: Manifest,
    declared: PlatformTool,
    work: Work,
    *,
    seconds: float | None = None,
    attachment: AttachmentFilter = EVERYTHING,
    approval: ApprovalRules | None = None,
) -> PreparedTool:
    """Prepare a declared tool. If `seconds` or `approval` is None, the manifest's timeout or
    approval rules apply.
    """
    rules = approval_rules(manifest) if approval is None else approval
    reads = declared.risk == "read-only"
    options = ToolOptions(
        read_arguments(declared.parameters),
        display_of(
            manifest, declared.title, parameters=declared.parameters, system=declared.is_system
        ),
        seconds or rules_of(manifest).seconds,
        attachment,
        is_repeatable=reads,
        addresses=declared.addresses,
        # The platform's read-only tools need no approval.
        approval=rules.unasked if reads else rules,
        risk=declared.risk,
        is_private=declared.is_private,
    )
    return prepared_tool(
        declared.name, declared.description, work, options, streams=declared.streams
    )


def open_with(tool: PreparedTool) -> Open:
    """Return the opening function of a capability with a single tool."""
    return lambda opening: nullcontext(Contribution((tool.bind(opening),)))


def show_result(invocation: Invocation, text: str) -> None:
    invocation.stage.write(f"> #### Result:\n\n{text}\n")


def plain_result(invocation: Invocation, text: str) -> ToolResult:
    """Show the text in the stage, and return it as the result."""
    show_result(invocation, text)
    return ToolResult(text, "text/plain")


def field_or_setting(wanted: BaseModel, field: str, default: Any) -> Any:
    """Return the value of a field if the manifest sets it, otherwise `default`, an installation
    setting.
    """
    return getattr(wanted, field) if field in wanted.model_fields_set else default
