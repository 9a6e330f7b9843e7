"""Stops answers and sub-agents, even if they are running in another process."""

from uuid import UUID

from channels.db import database_sync_to_async

from apps.conversations.asking import queue
from apps.conversations.outcome.endings import stop_waiting
from apps.live import leases, subagents
from apps.live.hub import Hub
from apps.live.journal.notifications import wake_viewers


async def stop(hub: Hub, conversation: UUID) -> bool:
    """Stop the conversation's answer, and pause its queue. Return False if no answer is running."""
    await database_sync_to_async(queue.hold)(conversation)
    return await interrupt(hub, conversation)


async def interrupt(hub: Hub, conversation: UUID) -> bool:
    """Stop the conversation's answer. Return False if no answer is running."""
    supervisor = hub.supervisors.get(conversation)
    if supervisor is not None:
        supervisor.stop()
        return True
    is_stopped: bool = await database_sync_to_async(stop_elsewhere)(conversation)
    if is_stopped:
        await wake_viewers(hub.streams, conversation)
    return is_stopped


def stop_elsewhere(conversation: UUID) -> bool:
    return leases.request_stop(conversation) or stop_waiting(conversation)


async def stop_subagent(hub: Hub, conversation: UUID, key: str) -> bool:
    """Stop the sub-agent with this key. Return False if it does not exist or has ended."""
    supervisor = hub.supervisors.get(conversation)
    is_here = supervisor is not None and supervisor.stop_subagent(key)
    # If another process is running the sub-agent, it reads this request within a second, or when it
    # resumes the run.
    is_noted: bool = await database_sync_to_async(subagents.request_stop)(conversation, key)
    return is_here or is_noted
