"""Where the person of a program is: a place by its slug, and what they look at.

OpenAI's clients say it in `metadata`, DIAL's in `custom_fields.configuration`, under `place` and
`narrative`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from apps.agent.messages import Content, Message
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import PlaceNotFound
from apps.gateway.chat_requests import PreparedRun
from apps.gateway.refusals import invalid
from apps.manifest.narrative import LONGEST_NARRATIVE, narrative_text

PLACE, NARRATIVE = "place", "narrative"
KEYS = frozenset({PLACE, NARRATIVE})


def placed(
    prepared: PreparedRun, application: ResolvedApplication, told: Mapping[str, Any], path: str
) -> PreparedRun:
    """The run at the place that is told; `path` names the fields in refusals.

    Raises `BadRequest` for an unknown place, and for what is no text.
    """
    if not told.keys() & KEYS:
        return prepared
    slug, narrative = (text_at(told, key, path) for key in (PLACE, NARRATIVE))
    try:
        place = application.place(slug)
    except PlaceNotFound as error:
        raise invalid(f"{path}.{PLACE}", str(error)) from error
    said = narrative_text("" if place is None else place.title, narrative)
    messages = with_narrative(prepared.request.messages, said) if said else ()
    request = structs.replace(
        prepared.request, place=place, messages=messages or prepared.request.messages
    )
    return structs.replace(prepared, request=request, narrative=said)


def text_at(told: Mapping[str, Any], key: str, path: str) -> str:
    """Raises `BadRequest`."""
    text = told.get(key)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise invalid(f"{path}.{key}", "Expected `str`.")
    if len(text) > LONGEST_NARRATIVE:
        raise invalid(f"{path}.{key}", f"At most {LONGEST_NARRATIVE:,} characters are possible.")
    return text.strip()


def with_narrative(messages: tuple[Message, ...], said: str) -> tuple[Message, ...]:
    """The conversation with the narrative before the newest question."""
    places = [index for index, message in enumerate(messages) if message.role == "user"]
    if not places:
        return messages
    last = places[-1]
    question = messages[last]
    content: Content
    if isinstance(question.content, str):
        content = "\n\n".join(filter(None, (said, question.content)))
    else:
        content = ({"type": "text", "text": said}, *question.content)
    return (*messages[:last], replace(question, content=content), *messages[last + 1 :])
