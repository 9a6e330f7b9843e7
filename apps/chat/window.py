"""The turns of a conversation that a page is given at a time: its end first, earlier ones on demand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec
from django.utils.translation import gettext

from apps.chat.branches import shown_runs
from apps.chat.models import Conversation
from apps.chat.protocol import encode
from apps.errors import Refused
from apps.live import journal
from apps.live.events import StreamEvent

FIRST_TURNS = 8
"""Of a conversation that is opened: more than a screen of them, and each more takes longer to draw."""
MOST_TURNS = 20
"""Of those that are fetched on the way to the beginning."""
MOST_BYTES = 256 * 1024
"""Of the turns of one window as JSON; a turn that is longer stands alone."""
LONGEST_STEP = 8_000
"""Characters of the text of one step; the rest is fetched by whoever opens it."""
TURNS_AFTER = 5
"""Turns that follow the one with the message that is looked for."""


@dataclass(frozen=True, slots=True)
class Window:
    """Turns in their order. `before` is the cursor of what comes before them, None for nothing."""

    turns: list[dict[str, Any]]
    before: str | None

    def to_dict(self) -> dict[str, Any]:
        return {"turns": self.turns, "before": self.before}


def last_turns(runs: Sequence[str], until: int, going: UUID | None) -> Window:
    """The end of the path of `runs`, of events up to number `until`, without the run that is `going`."""
    path = runs if going is None else [run for run in runs if run != going.hex]
    return read_window(path, len(path), most=FIRST_TURNS, until=until)


def turns_before(conversation: Conversation, cursor: UUID) -> Window:
    """Raises `Refused` if the shown path has no such run any more."""
    path = shown_runs(conversation)
    return read_window(path, place_of(path, cursor))


def turns_after(conversation: Conversation, cursor: UUID) -> Window:
    """Raises `Refused` if the shown path has no such run any more."""
    path = shown_runs(conversation)
    at = place_of(path, cursor) + 1
    return read_window(path, min(at + TURNS_AFTER, len(path)), first=at, least=at)


def turns_around(conversation: Conversation, message: UUID) -> Window:
    """Those around the turn with this message. Raises `Refused` if it is not on the shown path."""
    rows = conversation.messages.said().filter(uuid=message)
    run = rows.values_list("run_id", flat=True).first()
    path = shown_runs(conversation)
    at = place_of(path, run)
    return read_window(path, min(at + 1 + TURNS_AFTER, len(path)), least=at)


def whole_turn(conversation: Conversation, run: UUID) -> dict[str, Any]:
    """One turn with all that its steps say. Raises `Refused` if it is not on the shown path."""
    path = shown_runs(conversation)
    return turn(run, place_of(path, run), journal.read_run(run), longest_step=None)


def place_of(path: Sequence[str], run: UUID | None) -> int:
    if run is None or run.hex not in path:
        raise Refused(
            "turn_not_found", gettext("This part of the conversation is not shown any more.")
        )
    return path.index(run.hex)


def read_window(
    path: Sequence[str],
    end: int,
    *,
    most: int = MOST_TURNS,
    first: int = 0,
    least: int | None = None,
    until: int | None = None,
) -> Window:
    """At `most` so many turns before place `end`, none before `first`, and those from `least` on."""
    found: list[dict[str, Any]] = []
    size = 0
    # Run by run, so that no more is read than is sent.
    for at in range(end - 1, max(end - most, first) - 1, -1):
        run = UUID(path[at])
        told = turn(run, at, journal.read_run(run, until))
        size += len(msgspec.json.encode(told))
        if found and size > MOST_BYTES and at < (end if least is None else least):
            break
        found.append(told)
    has_more = bool(found) and found[-1]["at"] > 0
    return Window(found[::-1], found[-1]["run"] if has_more else None)


def turn(
    run: UUID, at: int, events: Iterable[StreamEvent], longest_step: int | None = LONGEST_STEP
) -> dict[str, Any]:
    """`at` is its place on the path that is shown."""
    return {"run": str(run), "at": at, "events": compacted(events, longest_step)}


def compacted(events: Iterable[StreamEvent], longest_step: int | None) -> list[dict[str, Any]]:
    """The frames of a run with which a page shows the same, each text in one piece."""
    frames: list[dict[str, Any]] = []
    steps: dict[str, dict[str, Any]] = {}
    status: dict[str, Any] | None = None
    for frame in filter(None, map(encode, events)):
        if frame["type"] == "run.status":
            status = frame  # those before the last one are over
        elif not continues(frame, frames, steps):
            frames.append(frame)
    if longest_step is not None:
        for frame in steps.values():
            cut_text(frame, longest_step)
    leave_out_known_text(frames)
    return frames if status is None else [*frames, status]


def continues(
    frame: dict[str, Any], frames: list[dict[str, Any]], steps: dict[str, dict[str, Any]]
) -> bool:
    """Add the text of the frame to one before it. `steps` has the texts of steps by their ids."""
    kind = frame["type"]
    if kind == "message.delta" and frames and frames[-1]["type"] == kind:
        frames[-1]["text"] += frame["text"]
        return True
    if kind == "stage.opened":
        steps.pop(frame["stage"], None)  # it is made again, and says everything anew
    elif kind == "stage.delta" and "text" in frame:
        known = steps.setdefault(frame["stage"], frame)
        if known is not frame:
            known["text"] += frame["text"]
        return known is not frame
    return False


def cut_text(frame: dict[str, Any], longest: int) -> None:
    if len(frame["text"]) > longest:
        frame["length"] = len(frame["text"])
        frame["text"] = frame["text"][:longest]


def leave_out_known_text(frames: list[dict[str, Any]]) -> None:
    """Send the text of an answer once: the stored answer repeats what its pieces said."""
    kinds = {frame["type"] for frame in frames}
    if "message.complete" not in kinds or "answer.restarted" in kinds:
        return
    said = "".join(frame["text"] for frame in frames if frame["type"] == "message.delta")
    for frame in frames:
        if frame["type"] == "message.complete" and frame["message"].get("text") == said:
            message = {key: value for key, value in frame["message"].items() if key != "text"}
            frame["message"] = message
