"""The mark of a message that a schedule asks, and not a person.

It stands where a question keeps the place of its person, under `trigger`. It is the JSON that
`Schedule.mark` makes: `kind`, `id`, `name`, `at`, `cap` and `seconds`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from apps.manifest.narrative import trigger_text

TRIGGER = "trigger"


def marked_place(trigger: Mapping[str, Any]) -> dict[str, Any]:
    """What stands above the question, and the mark."""
    at = datetime.fromisoformat(trigger["at"])
    title = "Alarm" if trigger["kind"] == "alarm" else f"Schedule “{trigger['name']}”"
    when = f"{at.day} {at:%B %Y, %H:%M}"
    return {"slug": "", "title": title, "narrative": when, TRIGGER: dict(trigger)}


def shown_place(place: Mapping[str, Any]) -> dict[str, Any]:
    """As the page is told it."""
    return {name: value for name, value in place.items() if name != TRIGGER}


def triggered_text(text: str, place: Mapping[str, Any]) -> str | None:
    """The question as the model reads it; None for one that a person asked."""
    trigger = place.get(TRIGGER)
    if trigger is None:
        return None
    return trigger_text(text, trigger["kind"], trigger["name"], trigger["at"])
