"""What a page is told when it opens a conversation, and how it stops the answer there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async

from apps.accounts.caller import Caller
from apps.chat.access import find, own
from apps.chat.recovery import end_abandoned
from apps.errors import Refused
from apps.live import journal, leases
from apps.live.hub import Hub


@dataclass(frozen=True, slots=True)
class Opened:
    """`last` is the number of the newest event; `run` is the one that is going."""

    conversation: UUID
    title: str
    last: int
    run: UUID | None
    status: str

    def frame(self) -> dict[str, Any]:
        run = None if self.run is None else {"id": str(self.run), "status": self.status}
        return {
            "type": "conversation.opened",
            "conversation": str(self.conversation),
            "title": self.title,
            "last": self.last,
            "run": run,
        }


def open_conversation(hub: Hub, caller: Caller, conversation: UUID, application: str) -> Opened:
    """Raises `Refused` when it is not the caller's or not of this application."""
    found = find(caller, conversation, application)
    end_abandoned(conversation)
    run = leases.going(conversation)
    log = hub.logs.get(conversation)
    return Opened(
        conversation,
        found.title,
        max(journal.last_number(conversation), log.last if log is not None else 0),
        run.pk if run is not None else None,
        run.status if run is not None else "",
    )


async def stop(hub: Hub, caller: Caller, conversation: UUID | None) -> None:
    """Stop the answer in a conversation of the caller's, whichever process gives it.

    Raises `Refused` when none is being given.
    """
    if conversation is None or not await own(caller).filter(pk=conversation).aexists():
        raise Refused("conversation_not_found", "Open a conversation first.")
    supervisor = hub.supervisors.get(conversation)
    if supervisor is not None:
        supervisor.stop()
    elif not await database_sync_to_async(stop_elsewhere)(conversation):
        raise Refused("no_run", "No answer is being written.")


def stop_elsewhere(conversation: UUID) -> bool:
    return end_abandoned(conversation) or leases.request_stop(conversation)
