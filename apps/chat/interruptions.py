"""How an answer is stopped before its end, in whichever process it is written."""

from uuid import UUID

from channels.db import database_sync_to_async

from apps.chat import queue
from apps.chat.endings import stop_waiting
from apps.live import leases
from apps.live.hub import Hub
from apps.live.notifications import wake_viewers


async def stop(hub: Hub, conversation: UUID) -> bool:
    """Stop the answer and hold back what is queued; False when there is no answer."""
    await database_sync_to_async(queue.hold)(conversation)
    return await interrupt(hub, conversation)


async def interrupt(hub: Hub, conversation: UUID) -> bool:
    """Stop the answer, whichever process gives it; False when there is none."""
    supervisor = hub.supervisors.get(conversation)
    if supervisor is not None:
        supervisor.stop()
        return True
    is_stopped: bool = await database_sync_to_async(stop_elsewhere)(conversation)
    if is_stopped:
        await wake_viewers(hub, conversation)
    return is_stopped


def stop_elsewhere(conversation: UUID) -> bool:
    return leases.request_stop(conversation) or stop_waiting(conversation)
