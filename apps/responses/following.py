"""Streams a background response: the frames so far, from the journal, and then new ones."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

from channels.db import database_sync_to_async
from django.conf import settings

from apps.accounts.caller import Caller
from apps.conversations.answering.continuation import sweeper
from apps.doors.consumer import EVENT_STREAM, HEARTBEAT, DoorConsumer
from apps.doors.refusals import Header
from apps.doors.run_slots import while_valid
from apps.live.events import NumberedEvent, StatusChanged
from apps.live.hub import Hub
from apps.live.journal import journal
from apps.live.journal.notifications import listening
from apps.live.models import Run
from apps.live.replay import follow_events
from apps.responses.models import StoredResponse
from apps.responses.replay import RunReplay
from apps.responses.storage import add_outcome, replay_of
from apps.runs.failures import failure


async def follow_response(hub: Hub, run: Run, replay: RunReplay) -> AsyncGenerator[bytes, None]:
    """Yield the frames of a response until it ends."""
    first = await database_sync_to_async(journal.first_number)(run.pk)
    if first is None:
        return
    events = follow_events(hub, run.stream, first - 1, idle=settings.HEARTBEAT_SECONDS)
    async with listening(hub.streams, run.stream), aclosing(events):
        async for batch in events:
            if not batch:
                await sweeper(hub).sweep(run.stream)
                if not await Run.objects.filter(pk=run.pk).aexists():
                    return  # The response was deleted.
                yield HEARTBEAT
            own = [said for said in batch if said[1] == run.pk]
            if any(map(is_end, own)):
                await database_sync_to_async(add_outcome)(replay, run.pk)
            if frames := b"".join(map(replay.frames, own)):
                yield frames
            if replay.is_over:
                return


async def send_events(
    consumer: DoorConsumer,
    caller: Caller,
    hub: Hub,
    stored: StoredResponse,
    after: int = -1,
    headers: Iterable[Header] = (),
) -> None:
    """Stream the frames of a response after sequence number `after` to the client."""
    replay = replay_of(stored, after)
    await consumer.start(200, (*EVENT_STREAM, *headers))
    try:
        frames = follow_response(hub, stored.run, replay)
        async with while_valid(caller), aclosing(frames):
            async for written in frames:
                await consumer.write(written)
    except Exception as error:  # noqa: BLE001 - `failure` logs it; the response itself continues
        found = failure(error, consumer.passed_on)
        await consumer.write(replay.error_frame(consumer.error_body(found)))
    await consumer.end()


def is_end(said: NumberedEvent) -> bool:
    event = said[2]
    return isinstance(event, StatusChanged) and event.status not in Run.OPEN
