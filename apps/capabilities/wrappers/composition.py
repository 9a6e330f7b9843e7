"""Everything that is wished of every tool, in one order."""

from __future__ import annotations

from dataclasses import dataclass, field

from apps.capabilities.wrappers.arguments import Arguments, with_arguments
from apps.capabilities.wrappers.attachments import with_attachments
from apps.capabilities.wrappers.display import Display
from apps.capabilities.wrappers.fallbacks import with_fallback
from apps.capabilities.wrappers.limits import with_limit, with_timeout
from apps.capabilities.wrappers.logs import with_log
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.retries import with_retries
from apps.capabilities.wrappers.stages import with_stage
from apps.manifest.attachments import AttachmentFilter
from apps.manifest.fallbacks import Fallback


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a manifest wants of one tool beside its work; `seconds` is the time limit.

    References in arguments named in `addresses` are not loaded. A tool without `attachment` filters
    its attachments itself, while they arrive. `is_repeatable`: two calls have the effect of one.
    """

    arguments: Arguments
    display: Display
    seconds: float
    attachment: AttachmentFilter | None = field(default_factory=AttachmentFilter)
    fallback: Fallback = field(default_factory=Fallback)
    is_repeatable: bool = False
    addresses: frozenset[str] = frozenset()


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
    return with_stage(tool, wishes.display)
