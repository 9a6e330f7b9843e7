"""Stores summaries of conversations as additional messages. The summarized messages remain
unchanged.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from channels.db import database_sync_to_async
from django.db import transaction

from apps.agent.context.summaries import ConversationSummary
from apps.agent.progress import Progress
from apps.conversations.branches import MessageRow
from apps.conversations.models import Conversation, Message
from apps.errors import BudgetSpent

logger = logging.getLogger(__name__)

_being_written: dict[UUID, tuple[object, asyncio.Event]] = {}
"""The summaries that this process is writing, by conversation ID. Each value is the task that
writes the summary, and an event that is set when the task ends.
"""


@dataclass(frozen=True, slots=True)
class ConversationSummaries:
    conversation: UUID
    messages: Sequence[Message]
    """The messages up to the question. A summary can be used if the last message that it replaces
    is among them.
    """

    async def find(self) -> ConversationSummary | None:
        """Return the summary that replaces the most messages, or None if there is none. Waits for a
        summary that is being written.
        """
        task, written = _being_written.get(self.conversation, (None, None))
        if written is not None and task is not asyncio.current_task():
            await written.wait()
        read = database_sync_to_async(read_summary)
        found: ConversationSummary | None = await read(self.conversation, self.messages)
        return found

    async def keep(self, summary: ConversationSummary) -> None:
        store = database_sync_to_async(store_summary)
        await store(self.conversation, self.messages, summary)


def newest_summary(conversation: UUID, messages: Iterable[MessageRow]) -> Message | None:
    """Return the summary that replaces the most of these messages, or None if there is none."""
    keys = {row.pk for row in messages}
    rows = Message.objects.filter(conversation=conversation, role=Message.Role.SUMMARY)
    # A conversation has few summaries, but can have thousands of messages.
    found = rows.select_related("parent").order_by("-parent")
    return next((row for row in found if row.parent_id in keys), None)


def read_summary(conversation: UUID, messages: Sequence[Message]) -> ConversationSummary | None:
    row = newest_summary(conversation, messages)
    if row is None:
        return None
    return ConversationSummary(
        row.text, sum(one.pk <= (row.parent_id or 0) for one in questions_of(messages))
    )


@transaction.atomic
def store_summary(
    conversation: UUID, messages: Sequence[Message], summary: ConversationSummary
) -> None:
    """Store the summary, unless its messages were deleted, or another summary replaces at least as
    many messages.
    """
    row = Conversation.objects.select_for_update().filter(pk=conversation).first()
    first_read = questions_of(messages)[summary.turns :]
    if row is None or not first_read:
        return
    before = [one.pk for one in messages if one.pk < first_read[0].pk]
    last = row.messages.without_summaries().filter(pk__in=before[-1:]).first()
    known = newest_summary(conversation, messages)
    if last is None or (known is not None and (known.parent_id or 0) >= last.pk):
        return
    row.messages.create(role=Message.Role.SUMMARY, text=summary.text, parent=last)


def questions_of(messages: Sequence[Message]) -> list[Message]:
    return [row for row in messages if row.role == Message.Role.USER]


async def write_ahead(conversation: UUID, progress: Progress) -> bool:
    """Write a summary after an answer, so that the next question does not have to wait for it.
    Return False if no summary is needed, or if writing it fails.
    """
    if progress.fitter is None:
        return False
    with announce_summary(conversation):
        try:
            return await progress.fitter.look_ahead(progress)
        except BudgetSpent as error:
            logger.info("No summary was written: %s", error)
            return False
        except Exception:
            logger.exception("Could not write a summary; the next answer will retry")
            return False


@contextmanager
def announce_summary(conversation: UUID) -> Iterator[None]:
    entry = _being_written[conversation] = (asyncio.current_task(), asyncio.Event())
    try:
        yield
    finally:
        if _being_written.get(conversation) is entry:
            del _being_written[conversation]
        entry[1].set()
