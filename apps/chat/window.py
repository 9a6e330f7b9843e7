"""Selects the turns of a conversation that the page loads: first the last turns, then earlier ones
on demand.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec
from django.utils.translation import gettext

from apps.conversations.branches import shown_runs
from apps.conversations.models import Conversation
from apps.doors.event_json import encode
from apps.errors import Refused
from apps.live.events import StreamEvent
from apps.live.journal import journal

FIRST_TURNS = 8
"""The number of turns that the page loads when it opens a conversation. They fill more than a
screen. More turns would take longer to render.
"""
MOST_TURNS = 20
"""The maximum number of turns that the page loads at a time while the user scrolls."""
MOST_BYTES = 256 * 1024
"""The maximum total size of the turns in one response, as JSON. A single turn can be larger."""
LONGEST_STEP = 8_000
"""The maximum number of characters of a step's text that are sent with its turn. The page loads the
rest when a user opens the step.
"""
TURNS_AFTER = 5
"""The number of turns that are loaded after the turn that contains a search result."""


@dataclass(frozen=True, slots=True)
class TurnWindow:
    """Consecutive turns as JSON."""

    turns: list[dict[str, Any]]
    before: str | None
    """The cursor for loading earlier turns, or None if there are none."""

    def to_dict(self) -> dict[str, Any]:
        return {"turns": self.turns, "before": self.before}


def last_turns(runs: Sequence[str], until: int, active: UUID | None) -> TurnWindow:
    """Return the last turns of a conversation, without its active run `active`.

    `runs` are the IDs of the runs on the shown branch. Events with numbers above `until` are
    omitted.
    """
    path = runs if active is None else [run for run in runs if run != active.hex]
    return read_window(path, len(path), most=FIRST_TURNS, until=until)


def turns_before(conversation: Conversation, cursor: UUID) -> TurnWindow:
    """Return the turns before the run `cursor`. Raises `Refused` if it is no longer on the shown
    branch.
    """
    path = shown_runs(conversation)
    return read_window(path, index_of_run(path, cursor))


def turns_after(conversation: Conversation, cursor: UUID) -> TurnWindow:
    """Return the turns after the run `cursor`. Raises `Refused` if it is no longer on the shown
    branch.
    """
    path = shown_runs(conversation)
    at = index_of_run(path, cursor) + 1
    return read_window(path, min(at + TURNS_AFTER, len(path)), first=at, least=at)


def turns_around(conversation: Conversation, message: UUID) -> TurnWindow:
    """Return the turns around a message. Raises `Refused` if it is not on the shown branch."""
    rows = conversation.messages.without_summaries().filter(uuid=message)
    run = rows.values_list("run_id", flat=True).first()
    path = shown_runs(conversation)
    at = index_of_run(path, run)
    return read_window(path, min(at + 1 + TURNS_AFTER, len(path)), least=at)


def whole_turn(conversation: Conversation, run: UUID) -> dict[str, Any]:
    """Return one turn with the complete texts of its steps. Raises `Refused` if it is not on the
    shown branch.
    """
    path = shown_runs(conversation)
    return turn(run, index_of_run(path, run), journal.read_run(run), longest_step=None)


def index_of_run(path: Sequence[str], run: UUID | None) -> int:
    if run is None or run.hex not in path:
        raise Refused(
            "turn_not_found",
            gettext(
                "This answer is no longer part of the displayed conversation. Reload the page."
            ),
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
) -> TurnWindow:
    """Return up to `most` turns before index `end` of the branch `path`, as many as fit in
    `MOST_BYTES`.

    Turns before index `first` are never returned. Turns from index `least` on are always returned.
    """
    found: list[dict[str, Any]] = []
    size = 0
    # Turns that do not fit are not read.
    for at in range(end - 1, max(end - most, first) - 1, -1):
        run = UUID(path[at])
        told = turn(run, at, journal.read_run(run, until))
        size += len(msgspec.json.encode(told))
        if found and size > MOST_BYTES and at < (end if least is None else least):
            break
        found.append(told)
    has_more = bool(found) and found[-1]["at"] > 0
    return TurnWindow(found[::-1], found[-1]["run"] if has_more else None)


def turn(
    run: UUID, at: int, events: Iterable[StreamEvent], longest_step: int | None = LONGEST_STEP
) -> dict[str, Any]:
    """Return a run's turn as JSON for the page.

    `at` is its index on the shown branch. Texts of steps are truncated to `longest_step`
    characters, unless it is None.
    """
    return {"run": str(run), "at": at, "events": compact_frames(events, longest_step)}


def compact_frames(events: Iterable[StreamEvent], longest_step: int | None) -> list[dict[str, Any]]:
    """Return frames that show the same turn as the run's events, with each text in a single frame."""
    frames: list[dict[str, Any]] = []
    steps: dict[str, dict[str, Any]] = {}
    status: dict[str, Any] | None = None
    for frame in filter(None, map(encode, events)):
        if frame["type"] == "run.status":
            status = frame  # Only the last status counts.
        elif not continues(frame, frames, steps):
            frames.append(frame)
    if longest_step is not None:
        for frame in steps.values():
            cut_text(frame, longest_step)
    remove_repeated_text(frames)
    return frames if status is None else [*frames, status]


def continues(
    frame: dict[str, Any], frames: list[dict[str, Any]], steps: dict[str, dict[str, Any]]
) -> bool:
    """Append the frame's text to an earlier frame if possible. Return False if the frame must be
    sent separately. `steps` maps the IDs of steps to the frames with their texts.
    """
    kind = frame["type"]
    if kind == "message.delta" and frames and frames[-1]["type"] == kind:
        frames[-1]["text"] += frame["text"]
        return True
    if kind == "stage.opened":
        steps.pop(frame["stage"], None)  # The frame is sent again with its whole content.
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


def remove_repeated_text(frames: list[dict[str, Any]]) -> None:
    """Remove the answer's text from its last frame if the text frames already contain it."""
    kinds = {frame["type"] for frame in frames}
    if "message.complete" not in kinds or "answer.restarted" in kinds:
        return
    said = "".join(frame["text"] for frame in frames if frame["type"] == "message.delta")
    for frame in frames:
        if frame["type"] == "message.complete" and frame["message"].get("text") == said:
            message = {key: value for key, value in frame["message"].items() if key != "text"}
            frame["message"] = message
