"""The summaries of a conversation: rows beside its messages, which stay as they are."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from channels.db import database_sync_to_async
from django.db import transaction

from apps.agent.progress import Progress
from apps.agent.summaries import Summary
from apps.chat.models import Conversation, Message, Messages
from apps.errors import BudgetSpent

logger = logging.getLogger(__name__)

_being_written: dict[UUID, tuple[object, asyncio.Event]] = {}
"""The conversations of this process whose next summary is on its way: the task that writes it, and
an event for when it is over."""


@dataclass(frozen=True, slots=True)
class ConversationSummaries:
    conversation: UUID

    async def find(self) -> Summary | None:
        """The summary that stands for the most turns, also if it is only being written."""
        task, written = _being_written.get(self.conversation, (None, None))
        if written is not None and task is not asyncio.current_task():
            await written.wait()
        found: Summary | None = await database_sync_to_async(read_summary)(self.conversation)
        return found

    async def keep(self, summary: Summary) -> None:
        await database_sync_to_async(store_summary)(self.conversation, summary)


def newest_summary(conversation: UUID) -> Message | None:
    rows = Message.objects.filter(conversation=conversation, role=Message.Role.SUMMARY)
    return rows.select_related("parent").order_by("-parent").first()


def read_summary(conversation: UUID) -> Summary | None:
    row = newest_summary(conversation)
    if row is None:
        return None
    return Summary(row.text, questions_of(conversation).filter(pk__lte=row.parent_id).count())


@transaction.atomic
def store_summary(conversation: UUID, summary: Summary) -> None:
    """Store it, unless there is one that stands for as much or the conversation is gone."""
    row = Conversation.objects.select_for_update().filter(pk=conversation).first()
    first_read = questions_of(conversation).values_list("pk", flat=True)[summary.turns :].first()
    if row is None or first_read is None:
        return
    last = row.messages.said().filter(pk__lt=first_read).last()
    known = newest_summary(conversation)
    if last is None or (known is not None and (known.parent_id or 0) >= last.pk):
        return
    row.messages.create(role=Message.Role.SUMMARY, text=summary.text, parent=last)


def questions_of(conversation: UUID) -> Messages:
    return Message.objects.filter(conversation=conversation, role=Message.Role.USER)


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
