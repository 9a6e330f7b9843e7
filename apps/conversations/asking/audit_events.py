"""Creates the audit events of conversations."""

from collections.abc import Iterator

from apps.accounts.audit import AuditEvent, Event
from apps.accounts.caller import Caller
from apps.conversations.asking.questions import StartedAnswer


def question_events(
    begun: StartedAnswer, caller: Caller, *, is_first: bool = False
) -> Iterator[AuditEvent]:
    """Yield the audit events for an accepted question, or none if it was accepted before.
    `is_first` is True if the question began the conversation.
    """
    if not begun.is_new:
        return
    if is_first:
        yield event_of("conversation.created", begun, caller)
    yield event_of("message.sent", begun, caller)


def event_of(event: Event, begun: StartedAnswer, caller: Caller) -> AuditEvent:
    run = begun.run
    return AuditEvent(
        event, run.bucket, caller.client.address, run.application, begun.conversation.pk, run.pk
    )
