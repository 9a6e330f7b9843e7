"""What a page is told when it opens a conversation."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.accounts.caller import Caller
from apps.chat.access import find
from apps.chat.branches import ShownEvents, outline, runs_of, shown_branches
from apps.chat.frames import Open
from apps.chat.temporary import note_seen
from apps.chat.window import last_turns
from apps.live import journal, leases
from apps.live.hub import Hub


@dataclass(frozen=True, slots=True)
class OpenedConversation:
    """The frame, and what follows it: events after a number, of those up to now the shown ones."""

    frame: dict[str, Any]
    after: int
    shown: ShownEvents
    is_temporary: bool


def open_conversation(
    hub: Hub, caller: Caller, conversation: UUID, sent: Open, application: str
) -> OpenedConversation:
    """In the frame, `last` is the number of the newest event, `run` the one that is going.

    Raises `Refused`.
    """
    found = find(caller, conversation, application)
    is_temporary = found.temporary_until is not None
    if is_temporary:
        note_seen(found.pk)
    run = leases.open_run(found.pk)
    going = None if run is None else run.pk
    stored = journal.last_number(found.pk)
    log = hub.logs.get(found.pk)
    tree = outline(found)
    path = tree.shown(found.leaf_id)
    runs = list(runs_of(path))
    frame = {
        "type": "conversation.opened",
        "conversation": str(found.pk),
        "title": found.title,
        "last": max(stored, log.last if log is not None else 0),
        "branches": shown_branches(tree, path, going),
        "run": None if run is None else {"id": str(run.pk), "status": run.status},
    }
    shown = ShownEvents(stored, frozenset(runs))
    if not sent.window:
        return OpenedConversation(frame, sent.after, shown, is_temporary)
    begun = None if going is None else journal.first_number(going)
    after = stored if begun is None else begun - 1
    # A run that ends or begins meanwhile says so in events after that number.
    window = last_turns(runs, after, going)
    frame = {**frame, "after": after, **window.to_dict()}
    return OpenedConversation(frame, after, shown, is_temporary)
