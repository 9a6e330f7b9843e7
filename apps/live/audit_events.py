"""The events of the audit that are made of what runs report."""

from collections.abc import Iterator

from apps.accounts.audit import AuditEvent
from apps.agent.meter import ToolCallReport
from apps.insights.meter import Entry


def of_call(entry: Entry) -> Iterator[AuditEvent]:
    """The call of a tool in a conversation; those of programs stand among the rows of tool calls."""
    of, report = entry.of, entry.report
    if of.conversation is not None and isinstance(report, ToolCallReport):
        yield AuditEvent(
            "tool.executed",
            of.bucket,
            application=of.application,
            conversation=of.conversation,
            run=of.run,
            subject=report.tool,
            at=entry.ended_at,
        )
