"""Everything that is wished of every tool, in one order."""

from dataclasses import dataclass, field, replace

from apps.agent.tools import ToolSpec
from apps.capabilities.wrappers.approval import Risk, with_approval
from apps.capabilities.wrappers.approval_rules import ApprovalRules
from apps.capabilities.wrappers.arguments import Arguments, with_arguments
from apps.capabilities.wrappers.attachments import with_attachments
from apps.capabilities.wrappers.display import Display
from apps.capabilities.wrappers.fallbacks import with_fallback
from apps.capabilities.wrappers.limits import with_limit, with_timeout
from apps.capabilities.wrappers.logs import with_log
from apps.capabilities.wrappers.prepared import PreparedTool, Work
from apps.capabilities.wrappers.retries import with_retries
from apps.capabilities.wrappers.stages import with_stage
from apps.capabilities.wrappers.untrusted import with_untrusted_results
from apps.manifest.attachments import AttachmentFilter
from apps.manifest.fallbacks import Fallback


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a manifest wants of one tool beside its work; `seconds` is the time limit.

    References in arguments named in `addresses` are not loaded. A tool without `attachment` filters
    its attachments itself, while they arrive. `is_repeatable`: two calls have the effect of one;
    `is_untrusted`: others decide what results say. `is_private`, `full_name`: as of `Tool`.
    """

    arguments: Arguments
    display: Display
    seconds: float
    attachment: AttachmentFilter | None = field(default_factory=AttachmentFilter)
    fallback: Fallback = field(default_factory=Fallback)
    is_repeatable: bool = False
    is_untrusted: bool = False
    is_private: bool = False
    addresses: frozenset[str] = frozenset()
    approval: ApprovalRules = field(default_factory=ApprovalRules)
    risk: Risk = "changes"
    full_name: str = ""


def prepared_tool(
    name: str, description: str, work: Work, wishes: Wishes, *, toolset: str = "", streams: str = ""
) -> PreparedTool:
    spec = ToolSpec(name, description, wishes.arguments.schema)
    return wrapped(PreparedTool(spec, work, toolset, streams), wishes)


def wrapped(tool: PreparedTool, wishes: Wishes) -> PreparedTool:
    """Apply the wishes, the innermost first."""
    tool = with_retries(tool, wishes.fallback, wishes.seconds, is_repeatable=wishes.is_repeatable)
    tool = with_timeout(tool, wishes.seconds)
    tool = with_arguments(tool, wishes.arguments, wishes.addresses)
    if wishes.attachment is not None:
        tool = with_attachments(tool, wishes.attachment)
    tool = with_limit(tool)
    tool = with_log(tool)
    tool = with_fallback(tool, wishes.fallback)
    tool = with_stage(tool, wishes.display)
    if wishes.is_untrusted:
        tool = with_untrusted_results(tool)
    tool = replace(
        tool,
        is_repeatable=wishes.is_repeatable,
        is_private=wishes.is_private,
        is_read_only=wishes.risk == "read-only",
        full_name=wishes.full_name,
    )
    return with_approval(tool, wishes.approval, wishes.arguments, wishes.display, wishes.risk)
