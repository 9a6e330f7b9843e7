"""What a page is told when it opens a conversation."""

from typing import Any
from uuid import UUID

from apps.accounts.caller import Caller
from apps.chat.access import find
from apps.chat.branches import shown_branches
from apps.live import journal, leases
from apps.live.hub import Hub


def conversation_opened(
    hub: Hub, caller: Caller, conversation: UUID, application: str
) -> dict[str, Any]:
    """The frame for a page that opens a conversation. Raises `Refused`.

    `last` is the number of the newest event, `run` the one that is going. `branches` are other paths.
    """
    found = find(caller, conversation, application)
    run = leases.open_run(conversation)
    log = hub.logs.get(conversation)
    return {
        "type": "conversation.opened",
        "conversation": str(conversation),
        "title": found.title,
        "last": max(journal.last_number(conversation), log.last if log is not None else 0),
        "branches": shown_branches(found),
        "run": None if run is None else {"id": str(run.pk), "status": run.status},
    }
