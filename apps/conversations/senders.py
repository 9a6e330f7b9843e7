"""Describes the webhook, schedule or alarm that sent a message instead of a user.

`Message.sender` stores `{"kind": "webhook", "title": "Orders", "untrusted": true}`, with the time
`at` for a schedule or an alarm. `Run.unattended` stores the run's limits and the responsible user,
such as `{"seconds": 3600, "saved_by": 7}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self

from django.utils.formats import date_format
from django.utils.translation import gettext

from apps.agent.taint import UNTRUSTED
from apps.live.doors import SCHEDULE, WEBHOOK


@dataclass(frozen=True, slots=True)
class Sender:
    """The webhook, schedule or alarm that sent a message."""

    kind: Literal["webhook", "schedule", "alarm"]
    title: str
    is_untrusted: bool = True
    """True if third parties write the content."""
    seconds: float | None = None
    """The timeout for the run's questions to the user, or None."""
    at: str = ""
    """The scheduled time in ISO 8601, or ""."""
    budget: Mapping[str, Any] | None = None
    """The limits on the run: `tokens`, and `money` (a decimal) in a `currency`."""
    saved_by: int | None = None
    """The ID of the user who last saved the webhook or schedule."""

    @classmethod
    def read(cls, stored: Mapping[str, Any] | None) -> Self | None:
        """Parse the sender of a queued message. Return None if a user sent it."""
        if stored is None:
            return None
        return cls(
            stored["kind"],
            stored["title"],
            stored["untrusted"],
            stored["seconds"],
            stored.get("at", ""),
            stored.get("budget"),
            stored.get("saved_by"),
        )

    @property
    def door(self) -> str:
        return WEBHOOK if self.kind == "webhook" else SCHEDULE

    @property
    def stored(self) -> dict[str, Any]:
        """Return all fields as JSON, for a queued message. Sent messages store only `shown`."""
        return {**self.shown, **self.unattended}

    @property
    def shown(self) -> dict[str, Any]:
        told = {"kind": self.kind, "title": self.title, "untrusted": self.is_untrusted}
        return {**told, "at": self.at} if self.at else told

    @property
    def unattended(self) -> dict[str, Any]:
        """Return the run's limits and the responsible user's ID, as JSON for `Run.unattended`."""
        limits: dict[str, Any] = {"seconds": self.seconds}
        if self.saved_by is not None:
            limits["saved_by"] = self.saved_by
        return {**limits, "budget": dict(self.budget)} if self.budget else limits


CONTINUATION = {"kind": "continuation", "title": "", "untrusted": False}
"""The sender of the question that continues a truncated answer."""


def is_continuation(sender: Mapping[str, Any] | None) -> bool:
    return sender is not None and sender["kind"] == CONTINUATION["kind"]


def sender_words(sender: Mapping[str, Any]) -> str:
    """Return a text that names the message's sender and scheduled time, for exports."""
    kind, title = sender["kind"], sender["title"]
    if kind == "alarm":
        words = gettext("Alarm")
    elif kind == "webhook":
        words = gettext("Sent by the webhook “{title}”").format(title=title)
    else:
        words = gettext("Sent by the schedule “{title}”").format(title=title)
    if "at" not in sender:
        return words
    # The time is formatted here, in the time zone of the schedule.
    at = datetime.fromisoformat(sender["at"])
    return f"{words}, {date_format(at, 'DATETIME_FORMAT')}"


def taint_of(sender: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the message state that marks the content as untrusted, or {} for a trusted sender."""
    if sender is None or not sender["untrusted"]:
        return {}
    return {UNTRUSTED: [f"the {sender['kind']} “{sender['title']}”"]}
