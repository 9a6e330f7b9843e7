"""Messages that something else than a person has sent: a webhook, a schedule or an alarm.

`Message.sender` keeps `{"kind": "webhook", "title": "Orders", "untrusted": true}`, and of a schedule
and an alarm the time (`at`) too. Nobody waits for the answer, so the run is an unattended one:
`Run.unattended` keeps `{"seconds": 3600}` and the run's own budget, as `apps.chat.unattended` reads it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self

from django.utils.formats import date_format
from django.utils.translation import gettext, pgettext

from apps.agent.taint import UNTRUSTED
from apps.live.run_summary import RunSummary


@dataclass(frozen=True, slots=True)
class Sender:
    """`title` is the name that somebody gave it, `at` the time of a schedule in ISO 8601.

    `is_untrusted`: others decide what stands in the message. `seconds` is the time for somebody to
    answer what the run asks, None for no end. `budget` is the run's own: `tokens` and `money` (a
    decimal) with its `currency`; empty for none.
    """

    kind: Literal["webhook", "schedule", "alarm"]
    title: str
    is_untrusted: bool = True
    seconds: float | None = None
    at: str = ""
    budget: Mapping[str, Any] | None = None

    @classmethod
    def read(cls, kept: Mapping[str, Any] | None) -> Self | None:
        """The sender of a queued message."""
        if kept is None:
            return None
        return cls(
            kept["kind"],
            kept["title"],
            kept["untrusted"],
            kept["seconds"],
            kept.get("at", ""),
            kept.get("budget"),
        )

    @property
    def door(self) -> RunSummary.Door:
        door = RunSummary.Door
        return door.WEBHOOK if self.kind == "webhook" else door.SCHEDULE

    @property
    def kept(self) -> dict[str, Any]:
        """What a queued message keeps; a message keeps `shown`."""
        return {**self.shown, **self.unattended}

    @property
    def shown(self) -> dict[str, Any]:
        told = {"kind": self.kind, "title": self.title, "untrusted": self.is_untrusted}
        return {**told, "at": self.at} if self.at else told

    @property
    def unattended(self) -> dict[str, Any]:
        """What the run keeps."""
        limits = {"seconds": self.seconds}
        return {**limits, "budget": dict(self.budget)} if self.budget else limits


CONTINUATION = {"kind": "continuation", "title": "", "untrusted": False}
"""Of the question by which an answer goes on that was cut; people see both answers as one."""


def is_continuation(sender: Mapping[str, Any] | None) -> bool:
    return sender is not None and sender["kind"] == CONTINUATION["kind"]


def sender_words(sender: Mapping[str, Any]) -> str:
    """Who sent a message and when, as people read it in an export."""
    kind, title = sender["kind"], sender["title"]
    if kind == "alarm":
        words = gettext("Alarm")
    elif kind == "webhook":
        words = gettext("From the webhook “{title}”").format(title=title)
    else:
        words = gettext("From the schedule “{title}”").format(title=title)
    if "at" not in sender:
        return words
    at = datetime.fromisoformat(sender["at"])  # written here, on the clocks of the schedule
    moment = date_format(at, pgettext("Django's format of a date", "j F Y, H:i"))
    return f"{words}, {moment}"


def taint_of(sender: Mapping[str, Any] | None) -> dict[str, Any]:
    """The part of the message's state by which its run has read something untrusted."""
    if sender is None or not sender["untrusted"]:
        return {}
    return {UNTRUSTED: [f"the {sender['kind']} “{sender['title']}”"]}
