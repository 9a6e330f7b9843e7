"""Reads the place of an API client's user, and a description of the user's screen, from a request.

OpenAI's clients send it in `metadata`, DIAL's in `custom_fields.configuration`, as `place` and
`narrative`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from apps.agent.messages import Content, ModelMessage
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.bodies import invalid
from apps.doors.dialect import PreparedRun
from apps.errors import PlaceNotFound
from apps.manifest.narrative import LONGEST_NARRATIVE, narrative_text

PLACE, NARRATIVE = "place", "narrative"
KEYS = frozenset({PLACE, NARRATIVE})


def run_at_place(
    prepared: PreparedRun, application: ResolvedApplication, told: Mapping[str, Any], path: str
) -> PreparedRun:
    """Return the run with the requested place and narrative. `path` is the path of the fields, for
    error messages.

    Raises `BadRequest` for an unknown place, and for values that are not text.
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


def without_places(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters of a request without the place in their metadata.

    The place is for this server only, and is not sent to the model's service.
    """
    metadata = parameters.get("metadata") or {}
    if not metadata.keys() & KEYS:
        return parameters
    rest = {key: text for key, text in metadata.items() if key not in KEYS}
    others = {name: value for name, value in parameters.items() if name != "metadata"}
    return {**others, "metadata": rest} if rest else others


def text_at(told: Mapping[str, Any], key: str, path: str) -> str:
    """Return the text at `key`. Raises `BadRequest` for other values and for texts that are too
    long.
    """
    text = told.get(key)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise invalid(f"{path}.{key}", "Expected `str`.")
    if len(text) > LONGEST_NARRATIVE:
        raise invalid(
            f"{path}.{key}", f"The text is too long; the limit is {LONGEST_NARRATIVE:,} characters."
        )
    return text.strip()


def with_narrative(messages: tuple[ModelMessage, ...], said: str) -> tuple[ModelMessage, ...]:
    """Return the conversation with the narrative before the newest question."""
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
