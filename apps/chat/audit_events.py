"""The events of the audit in conversations, by their ids."""

from collections.abc import Iterator

from apps.accounts.audit import AuditEvent, Event
from apps.accounts.caller import Caller
from apps.chat.questions import Begun


def question_events(
    begun: Begun, caller: Caller, *, is_first: bool = False
) -> Iterator[AuditEvent]:
    """Of a question that was taken; nothing of one that was sent again."""
    if not begun.is_new:
        return
    if is_first:
        yield event_of("conversation.created", begun, caller)
    yield event_of("message.sent", begun, caller)


def event_of(event: Event, begun: Begun, caller: Caller) -> AuditEvent:
    run = begun.run
    return AuditEvent(
        event, run.bucket, caller.address, run.application, begun.conversation.pk, run.pk
    )
