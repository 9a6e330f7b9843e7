"""Reads the page of the product that an API client's user has open, and a description of their
screen.

OpenAI clients send both as `place` and `narrative` in `metadata`, and DIAL clients in
`custom_fields.configuration`.
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


def with_user_place(
    prepared: PreparedRun, application: ResolvedApplication, fields: Mapping[str, Any], path: str
) -> PreparedRun:
    """Return the run with the `place` and the `narrative` in `fields`.

    `path` is the path of these fields for errors. Raises `BadRequest` if the place is unknown or a
    value is not a string.
    """
    if not fields.keys() & KEYS:
        return prepared
    slug, narrative = (text_at(fields, key, path) for key in (PLACE, NARRATIVE))
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


def without_user_place(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters without `place` and `narrative` in their metadata, because model
    services must not receive them.
    """
    metadata = parameters.get("metadata") or {}
    if not metadata.keys() & KEYS:
        return parameters
    rest = {key: text for key, text in metadata.items() if key not in KEYS}
    others = {name: value for name, value in parameters.items() if name != "metadata"}
    return {**others, "metadata": rest} if rest else others


def text_at(fields: Mapping[str, Any], key: str, path: str) -> str:
    """Return the text `fields[key]`, or "" if it is missing. Raises `BadRequest` if it is too long
    or not a string.
    """
    text = fields.get(key)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise invalid(f"{path}.{key}", "Send a string.")
    if len(text) > LONGEST_NARRATIVE:
        raise invalid(
            f"{path}.{key}", f"The text is too long; the limit is {LONGEST_NARRATIVE:,} characters."
        )
    return text.strip()


def with_narrative(messages: tuple[ModelMessage, ...], said: str) -> tuple[ModelMessage, ...]:
    """Return the messages with the narrative at the beginning of the newest question."""
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
