"""Creates the audit events for conversations."""

from collections.abc import Iterator

from apps.accounts.audit import AuditEvent, Event
from apps.accounts.caller import Caller
from apps.conversations.asking.questions import StartedAnswer


def question_events(
    started: StartedAnswer, caller: Caller, *, is_first: bool = False
) -> Iterator[AuditEvent]:
    """Yield the audit events for an accepted question, or none if it had already been accepted.
    `is_first` is True if the question began the conversation.
    """
    if not started.is_new:
        return
    if is_first:
        yield event_of("conversation.created", started, caller)
    yield event_of("message.sent", started, caller)


def event_of(event: Event, started: StartedAnswer, caller: Caller) -> AuditEvent:
    run = started.run
    return AuditEvent(
        event, run.bucket, caller.client.address, run.application, started.conversation.pk, run.pk
    )
