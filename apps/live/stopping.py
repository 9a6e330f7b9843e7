"""Stopping a run of anybody's, in whichever process it is, or in none."""

from channels.db import database_sync_to_async

from apps.live.hub import Hub
from apps.live.leases import request_end
from apps.live.models import Run
from apps.live.notifications import announce_waiting


async def stop(hub: Hub, run: Run) -> bool:
    """False when it is over. A run that no process works on is ended by a sweeper, at once."""
    is_open: bool = await database_sync_to_async(request_end)(run.pk)
    if is_open:
        hub.awaited.set()
        await announce_waiting()
    return is_open
