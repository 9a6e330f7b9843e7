"""From the JSON that a program sends to the message that an application is asked."""

import json
from typing import Any

import msgspec

from apps.capabilities.hooks.templates import TemplateRefused, rendered
from apps.errors import QuickAppError

LONGEST_TEMPLATE = 20_000
LONGEST_INDENTED = 100_000
"""Bytes of JSON; a longer text is too long for a question however it is written."""
MOST_INDENTED_LEVELS = 16


class TemplateFailed(QuickAppError):
    code = "template_failed"
    http_status = 422


def template_problem(written: str) -> str:
    """What is wrong with a template that an operator writes; "" for nothing."""
    if len(written) > LONGEST_TEMPLATE:
        return f"At most {LONGEST_TEMPLATE:,} characters can be used."
    if written.lstrip().startswith("{") and not isinstance(read_template(written), dict):
        return "It begins like a JSON object, and is none. Mend the JSON, or write a text."
    return ""


def read_template(written: str) -> Any:
    """A JSON object is a template with operators; everything else is a text with `${…}`."""
    if not written.lstrip().startswith("{"):
        return written
    try:
        found = json.loads(written)
    except ValueError:
        return written
    return found if isinstance(found, dict) else written


async def message_of(written: str, body: Any, name: str) -> str:
    """The message for a body. Raises `TemplateFailed`."""
    if not written.strip():
        return as_text(body)
    try:
        made = await rendered({"message": read_template(written)}, {"body": body, "webhook": name})
    except TemplateRefused as error:
        raise TemplateFailed(f"The message cannot be made of this body: {error}.") from error
    return as_text(made.get("message"))


def as_text(value: Any) -> str:
    """Text as it is, anything else as JSON, indented if it is short and shallow.

    A body within the limits could otherwise become a thousand times as long by its indentation.
    """
    if isinstance(value, str):
        return value
    written = msgspec.json.encode(value)
    if len(written) <= LONGEST_INDENTED and not is_deeper(value, MOST_INDENTED_LEVELS):
        written = msgspec.json.format(written, indent=2)
    return written.decode()


def is_deeper(value: Any, levels: int) -> bool:
    inner = [value]
    for _ in range(levels + 1):
        containers = [one for one in inner if isinstance(one, dict | list)]
        inner = [
            child
            for one in containers
            for child in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(inner)
