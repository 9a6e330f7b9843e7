"""What a page is told when it opens a conversation."""

from typing import Any
from uuid import UUID

from apps.accounts.caller import Caller
from apps.chat.access import find
from apps.chat.branches import shown_branches
from apps.chat.frames import Open
from apps.chat.window import last_turns
from apps.live import journal, leases
from apps.live.hub import Hub


def conversation_opened(
    hub: Hub, caller: Caller, conversation: UUID, sent: Open, application: str
) -> tuple[dict[str, Any], int]:
    """The frame for a page that opens a conversation, and the number after which it reads on.

    `last` is the number of the newest event, `run` the one that is going, `branches` are other paths.
    Raises `Refused`.
    """
    found = find(caller, conversation, application)
    run = leases.open_run(found.pk)
    stored = journal.last_number(found.pk)
    log = hub.logs.get(found.pk)
    opened = {
        "type": "conversation.opened",
        "conversation": str(found.pk),
        "title": found.title,
        "last": max(stored, log.last if log is not None else 0),
        "branches": shown_branches(found),
        "run": None if run is None else {"id": str(run.pk), "status": run.status},
    }
    if not sent.window:
        return opened, sent.after
    going = None if run is None else run.pk
    begun = None if going is None else journal.first_number(going)
    after = stored if begun is None else begun - 1
    # A run that ends or begins meanwhile says so in events after that number.
    window = last_turns(found, after, going)
    return {**opened, "after": after, **window.to_dict()}, after
