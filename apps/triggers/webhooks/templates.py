"""Renders a webhook's message from the JSON of a request."""

import json
from typing import Any

import msgspec

from apps.capabilities.hooks.templates import TemplateRefused, render_template
from apps.errors import QuickAppError

LONGEST_TEMPLATE = 20_000
LONGEST_INDENTED = 100_000
"""JSON with more bytes is not indented, because it is too long for a message anyway."""
MOST_INDENTED_LEVELS = 16


class TemplateFailed(QuickAppError):
    code = "template_failed"
    http_status = 422


def template_problem(written: str) -> str:
    """Return the error in a template, or "" if it is valid."""
    if len(written) > LONGEST_TEMPLATE:
        return f"The text is too long; the limit is {LONGEST_TEMPLATE:,} characters."
    if written.lstrip().startswith("{") and not isinstance(read_template(written), dict):
        return "This begins like a JSON object, but is not valid. Fix the JSON, or use a text."
    return ""


def read_template(written: str) -> Any:
    """Parse a template: a JSON object with JSON-e operators, or a text that may contain `${…}`."""
    if not written.lstrip().startswith("{"):
        return written
    try:
        found = json.loads(written)
    except ValueError:
        return written
    return found if isinstance(found, dict) else written


async def render_message(written: str, body: Any, name: str) -> str:
    """Return the message for the JSON `body` of a request to the webhook `name`. Raises
    `TemplateFailed` if the template cannot be rendered.
    """
    if not written.strip():
        return as_text(body)
    try:
        made = await render_template(
            {"message": read_template(written)}, {"body": body, "webhook": name}
        )
    except TemplateRefused as error:
        raise TemplateFailed(f"The template cannot be applied to this body: {error}.") from error
    return as_text(made.get("message"))


def as_text(value: Any) -> str:
    """Return text unchanged, and other values as JSON.

    Long or deeply nested JSON is not indented. Indentation could make it a thousand times as long.
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
