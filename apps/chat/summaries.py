"""The summaries of a conversation: rows beside its messages, which stay as they are."""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from channels.db import database_sync_to_async
from django.db import transaction

from apps.agent.progress import Progress
from apps.agent.summaries import Summary
from apps.chat.branches import MessageRow
from apps.chat.models import Conversation, Message
from apps.errors import BudgetSpent

logger = logging.getLogger(__name__)

_being_written: dict[UUID, tuple[object, asyncio.Event]] = {}
"""The conversations of this process whose next summary is on its way: the task that writes it, and
an event for when it is over."""


@dataclass(frozen=True, slots=True)
class ConversationSummaries:
    conversation: UUID
    messages: Sequence[Message]
    """The path up to the question: a summary counts for a path if the last message it stands for is on it."""

    async def find(self) -> Summary | None:
        """The summary that stands for the most turns, also if it is only being written."""
        task, written = _being_written.get(self.conversation, (None, None))
        if written is not None and task is not asyncio.current_task():
            await written.wait()
        read = database_sync_to_async(read_summary)
        found: Summary | None = await read(self.conversation, self.messages)
        return found

    async def keep(self, summary: Summary) -> None:
        store = database_sync_to_async(store_summary)
        await store(self.conversation, self.messages, summary)


def newest_summary(conversation: UUID, messages: Iterable[MessageRow]) -> Message | None:
    """Of a path, the one that stands for most of it."""
    keys = {row.pk for row in messages}
    rows = Message.objects.filter(conversation=conversation, role=Message.Role.SUMMARY)
    # A conversation has few of them, and its path may have thousands of messages.
    found = rows.select_related("parent").order_by("-parent")
    return next((row for row in found if row.parent_id in keys), None)


def read_summary(conversation: UUID, messages: Sequence[Message]) -> Summary | None:
    row = newest_summary(conversation, messages)
    if row is None:
        return None
    return Summary(row.text, sum(one.pk <= (row.parent_id or 0) for one in questions_of(messages)))


@transaction.atomic
def store_summary(conversation: UUID, messages: Sequence[Message], summary: Summary) -> None:
    """Store it, unless there is one that stands for as much or what it stands for is gone."""
    row = Conversation.objects.select_for_update().filter(pk=conversation).first()
    first_read = questions_of(messages)[summary.turns :]
    if row is None or not first_read:
        return
    before = [one.pk for one in messages if one.pk < first_read[0].pk]
    last = row.messages.said().filter(pk__in=before[-1:]).first()
    known = newest_summary(conversation, messages)
    if last is None or (known is not None and (known.parent_id or 0) >= last.pk):
        return
    row.messages.create(role=Message.Role.SUMMARY, text=summary.text, parent=last)


def questions_of(messages: Sequence[Message]) -> list[Message]:
    return [row for row in messages if row.role == Message.Role.USER]


async def write_ahead(conversation: UUID, progress: Progress) -> bool:
    """After an answer: write the summary that the next question would have to wait for.

    False if there is none to be written.
    """
    if progress.fitter is None:
        return False
    with announced(conversation):
        try:
            return await progress.fitter.look_ahead(progress)
        except BudgetSpent as error:
            logger.info("No summary is written: %s", error)
            return False
        except Exception:
            logger.exception("A summary could not be written; the next answer writes it")
            return False


@contextmanager
def announced(conversation: UUID) -> Iterator[None]:
    entry = _being_written[conversation] = (asyncio.current_task(), asyncio.Event())
    try:
        yield
    finally:
        if _being_written.get(conversation) is entry:
            del _being_written[conversation]
        entry[1].set()
