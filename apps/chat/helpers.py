"""Helpers of an answer, which the person may stop one by one."""

from uuid import UUID

from channels.db import database_sync_to_async

from apps.live import helpers
from apps.live.hub import Hub


async def stop_helper(hub: Hub, conversation: UUID, key: str) -> bool:
    """Stop one helper, whichever process it works in; False when there is no such helper."""
    supervisor = hub.supervisors.get(conversation)
    is_here = supervisor is not None and supervisor.stop_helper(key)
    # The row is for another process, which looks every second, or goes on with the run.
    is_noted: bool = await database_sync_to_async(helpers.request_stop)(conversation, key)
    return is_here or is_noted
