"""Notifications between processes, and a channel layer that stops responding."""

import asyncio
from contextlib import suppress
from typing import Any
from uuid import uuid4

from channels.layers import InMemoryChannelLayer

from apps.live.hub import Hub
from apps.live.journal import notifications
from apps.live.journal.notifications import announce_waiting, listening


class StuckLayer(InMemoryChannelLayer):  # type: ignore[misc]
    """Delivers nothing once a process listens, and never returns."""

    async def receive(self, channel: str) -> Any:
        try:
            await super().receive(channel)
        except asyncio.CancelledError:
            await self.never()
            raise

    async def group_discard(self, group: str, channel: str) -> None:
        await self.never()

    async def group_send(self, group: str, message: Any) -> None:
        await asyncio.get_running_loop().create_future()

    async def never(self) -> None:
        with suppress(BaseException):  # as the layer of Redis does
            await asyncio.get_running_loop().create_future()


async def test_who_leaves_is_not_held_by_a_layer_that_does_not_answer(settings: Any, caplog: Any):
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": f"{__name__}.StuckLayer"}}
    before, stream, hub = asyncio.all_tasks(), uuid4(), Hub()

    async with asyncio.timeout(60), listening(hub.streams, stream):
        with hub.streams.watch(stream) as news:
            await news.wait()  # it listens
    left = asyncio.all_tasks() - before

    assert "Timed out while the channel layer was unsubscribing from" in caplog.text
    async with asyncio.timeout(60):
        await asyncio.wait(left)


async def test_an_announcement_is_given_up_when_the_layer_does_not_answer(
    settings: Any, monkeypatch: Any, caplog: Any
):
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": f"{__name__}.StuckLayer"}}
    monkeypatch.setattr(notifications, "ANNOUNCE_SECONDS", 0.05)

    async with asyncio.timeout(60):
        await announce_waiting()

    assert "other processes will pick up the change after a short delay" in caplog.text
