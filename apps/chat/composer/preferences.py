"""What a person prefers: read for every page, and for every answer on the chat page."""

from functools import partial
from typing import Any

from django.http import HttpRequest

from apps.chat.composer.models import Preferences

KEPT = "kept_preferences"
"""The attribute of a request that has them once they were looked for."""


def preferences_of(user: int) -> Preferences | None:
    """None for a person who has chosen nothing yet."""
    return Preferences.objects.filter(user=user).first()


def preferences_of_request(request: HttpRequest) -> Preferences | None:
    """Looked for once in a request. None as above, and for people who are not signed in."""
    looked_up = vars(request)
    if KEPT not in looked_up:
        user = getattr(request, "user", None)
        looked_up[KEPT] = None if user is None or user.pk is None else preferences_of(user.pk)
    found: Preferences | None = looked_up[KEPT]
    return found


def preferences(request: HttpRequest) -> dict[str, Any]:
    """A context processor: the attributes of the page, by which its styles and scripts know them."""
    return {"preferences": partial(attributes_of, request)}


def attributes_of(request: HttpRequest) -> dict[str, str]:
    """By the names in `data-…`; {} where the browser's own choices hold."""
    kept = preferences_of_request(request)
    if kept is None:
        return {}
    return {
        "kept": "yes",
        "theme": kept.theme,
        "density": kept.density,
        "text-size": kept.text_size,
        "send-key": kept.send_key,
        "shortcuts": "on" if kept.has_shortcuts else "off",
        "voice": "on" if kept.has_voice else "off",
        "spoken": "on" if kept.has_spoken_answers else "off",
    }


async def own_instructions(user: int) -> str:
    """What the person tells every model, "" while it is switched off."""
    rows = Preferences.objects.filter(user=user, uses_instructions=True)
    return await rows.values_list("instructions", flat=True).afirst() or ""
