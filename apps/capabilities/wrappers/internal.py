"""The platform's own tools: declared in code, with the manifest's time-out and stage level."""

from contextlib import nullcontext
from typing import Any

from pydantic import BaseModel

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Contribution, Open
from apps.capabilities.wrappers.approval import Risk
from apps.capabilities.wrappers.approval_rules import ApprovalRules, approval_rules
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import Wishes, prepared_tool
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.prepared import PreparedTool, Work
from apps.manifest.attachments import AttachmentFilter
from apps.manifest.manifest import Manifest
from apps.manifest.parameters import (
    FunctionParameters,
    Parameter,
    ParameterDisplay,
    ParameterStage,
    SimpleParameter,
)
from apps.workspace.loading.shared_loads import rules_of

EVERYTHING = AttachmentFilter()
IN_TITLE = ParameterDisplay(stage=ParameterStage(show_value_in_stage_title=True))
"""Shows the value of a parameter in the title of the stage."""


def parameters(properties: dict[str, Parameter], *required: str) -> FunctionParameters:
    return FunctionParameters(type="object", properties=properties, required=required)


def text_parameter(description: str, default: str | None = None, **fields: Any) -> SimpleParameter:
    return SimpleParameter(type="string", description=description, default=default, **fields)


def internal_tool(
    manifest: Manifest,
    spec: tuple[str, str, FunctionParameters],
    work: Work,
    title: str,
    *,
    seconds: float | None = None,
    streams: str = "",
    is_system: bool = False,
    is_repeatable: bool = False,
    is_private: bool = False,
    risk: Risk | None = None,
    attachment: AttachmentFilter = EVERYTHING,
    addresses: frozenset[str] = frozenset(),
    approval: ApprovalRules | None = None,
) -> PreparedTool:
    """A tool from (name, description, parameters). See `Wishes` for the other arguments.

    `approval` is None for a tool about which the application has no rules of its own.
    """
    name, description, taken = spec
    rules = approval_rules(manifest) if approval is None else approval
    wishes = Wishes(
        read_arguments(taken),
        display_of(manifest, title, parameters=taken, system=is_system),
        seconds or rules_of(manifest).seconds,
        attachment,
        is_repeatable=is_repeatable,
        addresses=addresses,
        # The platform's reading tools do nothing that anybody has to know of first.
        approval=rules.unasked if is_repeatable else rules,
        risk=risk or ("read-only" if is_repeatable else "changes"),
        is_private=is_private,
    )
    return prepared_tool(name, description, work, wishes, streams=streams)


def open_with(tool: PreparedTool) -> Open:
    """Opens a contribution of one tool."""
    return lambda opening: nullcontext(Contribution((tool.bind(opening),)))


def show_result(invocation: Invocation, text: str) -> None:
    invocation.stage.write(f"> #### Result:\n\n{text}\n")


def plain_result(invocation: Invocation, text: str) -> ToolResult:
    """Shows the text in the stage as well."""
    show_result(invocation, text)
    return ToolResult(text, "text/plain")


def configured(wanted: BaseModel, field: str, default: Any) -> Any:
    """The value of a field that the manifest sets, else the installation's."""
    return getattr(wanted, field) if field in wanted.model_fields_set else default
