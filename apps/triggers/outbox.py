"""Sends what is due, in each process that serves: events to subscribers, and mail to people."""

import asyncio
import logging
import random
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError

from apps.outages import Pauses
from apps.triggers import delivery_attempts, mail_notices
from apps.triggers.models import Delivery, MailNotice

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0
AT_ONCE = 20
"""Messages of one process on their way."""
CLOSE_SECONDS = 2.0


class Outbox:
    """One for each process; what it sends is held by rows, so that no other process sends it."""

    def __init__(self) -> None:
        self.tasks: set[asyncio.Task[None]] = set()
        self.is_closing = False

    async def keep_sending(self) -> None:
        """Send until cancelled."""
        pauses = Pauses(TICK_SECONDS)
        while not self.is_closing:
            try:
                await self.tick()
                pauses.note(None)
            except DatabaseError as error:
                pauses.note(error)
                logger.warning("What is to be sent cannot be looked for: %s", error)
            except Exception as error:
                pauses.note(error)
                logger.exception("What is to be sent could not be looked for")
            # Spread, so that processes that were started together do not look together.
            await asyncio.sleep(pauses.seconds * random.uniform(0.75, 1.25))  # noqa: S311 - no secret

    async def tick(self) -> None:
        """Begin to send what is due, as far as there is room."""
        if room := AT_ONCE - len(self.tasks):
            for delivery in await database_sync_to_async(delivery_attempts.claim)(room):
                self.hold(self.deliver(delivery))
        if settings.SENDS_MAIL and (room := AT_ONCE - len(self.tasks)):
            for notice in await database_sync_to_async(mail_notices.claim)(room):
                self.hold(self.mail(notice))

    def hold(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def deliver(self, delivery: Delivery) -> None:
        try:
            request = await database_sync_to_async(delivery_attempts.signed_request)(delivery)
            answer = await delivery_attempts.send(delivery.subscription.url, *request)
            await database_sync_to_async(delivery_attempts.settle)(delivery, answer)
        except Exception:
            logger.exception("Delivery %s failed; it is tried again", delivery.uuid)

    async def mail(self, notice: MailNotice) -> None:
        try:
            await database_sync_to_async(mail_notices.send_notice)(notice)
        except Exception as error:  # noqa: BLE001 - backends raise what they like
            is_kept = await database_sync_to_async(mail_notices.put_off)(notice)
            then = "it is tried again" if is_kept else "it is given up"
            logger.warning("Mail for run %s could not be sent, %s: %s", notice.run, then, error)

    async def drain(self) -> None:
        """Return when nothing is on its way."""
        while self.tasks:
            await asyncio.wait(self.tasks)

    async def close(self) -> None:
        """Let what is on its way arrive, for a moment; another process repeats the rest."""
        self.is_closing = True
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.drain()


OUTBOX = Outbox()
