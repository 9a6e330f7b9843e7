"""Applies all wrappers to a tool in a fixed order."""

from dataclasses import dataclass, field, replace

from apps.agent.tools import Invocation, PendingResult, ToolResult, ToolSpec
from apps.capabilities.registry import Opening, PreparedTool, Work
from apps.capabilities.wrappers.approval import Risk, with_approval
from apps.capabilities.wrappers.approval_rules import ApprovalRules
from apps.capabilities.wrappers.arguments import Arguments, with_arguments
from apps.capabilities.wrappers.attachments import with_attachments
from apps.capabilities.wrappers.display import Display
from apps.capabilities.wrappers.failure_handling import with_fallback
from apps.capabilities.wrappers.limits import with_limit, with_timeout
from apps.capabilities.wrappers.logs import with_log
from apps.capabilities.wrappers.retries import with_retries
from apps.capabilities.wrappers.stages import with_stage
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.manifest.toolsets.fallback_strategies import Fallback


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """The options of one tool in a manifest. `is_private` and `full_name` have the same meanings as
    in `Tool`.
    """

    arguments: Arguments
    display: Display
    seconds: float
    """The timeout for a call, in seconds."""
    attachment: AttachmentFilter | None = field(default_factory=AttachmentFilter)
    """The filter for attachments, or None if the tool filters them itself."""
    fallback: Fallback = field(default_factory=Fallback)
    is_repeatable: bool = False
    """True if calling the tool twice has the same effect as calling it once."""
    is_untrusted: bool = False
    """True if outsiders can control the content of results."""
    is_private: bool = False
    addresses: frozenset[str] = frozenset()
    """The names of the arguments whose file references are not loaded."""
    approval: ApprovalRules = field(default_factory=ApprovalRules)
    risk: Risk = "changes"
    full_name: str = ""


def prepared_tool(
    name: str,
    description: str,
    work: Work,
    options: ToolOptions,
    *,
    toolset: str = "",
    streams: str = "",
) -> PreparedTool:
    spec = ToolSpec(name, description, options.arguments.schema)
    return wrap_tool(PreparedTool(spec, work, toolset, streams), options)


def wrap_tool(tool: PreparedTool, options: ToolOptions) -> PreparedTool:
    """Return the tool with all wrappers that the options require."""
    tool = with_retries(
        tool, options.fallback, options.seconds, is_repeatable=options.is_repeatable
    )
    tool = with_timeout(tool, options.seconds)
    tool = with_arguments(tool, options.arguments, options.addresses)
    if options.attachment is not None:
        tool = with_attachments(tool, options.attachment)
    tool = with_limit(tool)
    tool = with_log(tool)
    tool = with_fallback(tool, options.fallback)
    tool = with_stage(tool, options.display)
    if options.is_untrusted:
        tool = with_untrusted_results(tool)
    tool = replace(
        tool,
        is_repeatable=options.is_repeatable,
        is_private=options.is_private,
        is_read_only=options.risk == "read-only",
        full_name=options.full_name,
    )
    return with_approval(tool, options.approval, options.arguments, options.display, options.risk)


def with_untrusted_results(tool: PreparedTool) -> PreparedTool:
    """Return a tool whose results and failures mark the run as having read untrusted content."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        result: ToolResult | None = None
        try:
            result = await tool.work(opening, invocation)
            return result
        finally:
            # A call that is waiting for a user has no result yet.
            if not isinstance(result, PendingResult):
                opening.taint.add(f"results of {tool.spec.name}")

    return replace(tool, work=work)
