"""The arguments of calls, always the text of one JSON object.

Services refuse a conversation in which they are anything else, in this request and in all later ones.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from apps.agent.surrogates import decode_json, well_formed

UNREADABLE = "unreadable_arguments"
"""The only key of an object that holds arguments which are not JSON: the model reads what it wrote,
and no tool is ever called with them."""
LONGEST_UNREADABLE = 2_000
"""Characters. Cut arguments may be as long as an answer."""
NOTHING = ("", "null", "[]", '""')
"""Texts that services send for a call without arguments."""

_decoder = json.JSONDecoder()


def object_text(written: Any) -> str:
    """The arguments as the text of a JSON object: what was written, if it is one."""
    if not isinstance(written, str):
        if written is None or written == []:
            return "{}"
        written = json.dumps(written, default=str)
    text = well_formed(written)
    if text.strip() in NOTHING:
        return "{}"
    try:
        found, is_mended = decoded(text)
    except (ValueError, RecursionError):
        return unreadable(text)
    if isinstance(found, dict):
        return encoded(found) if is_mended else text
    if isinstance(found, str) and found.lstrip().startswith("{"):  # written as JSON twice
        return object_text(found)
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict):
        return encoded(found[0])
    return unreadable(text)


def decoded(text: str) -> tuple[Any, bool]:
    """The value, and whether halves of characters in it were replaced. Raises as msgspec."""
    try:
        return msgspec.json.decode(text), False
    except ValueError:
        return decode_json(msgspec.json.decode, text.encode()), True


def object_texts(pieces: Sequence[str]) -> list[str]:
    """The arguments of one call, or of several calls that a service wrote as one.

    Some services repeat all that they have sent so far in each piece, or at the end.
    """
    text = "".join(pieces)
    if is_object(text):
        return [object_text(text)]
    if len(pieces) > 1 and is_object(pieces[-1]) and is_growing(pieces):
        return [object_text(pieces[-1])]
    objects = joined_objects(text)
    if objects is None:
        return [object_text(text)]
    return [object_text(one) for one in dict.fromkeys(objects)] or [object_text(None)]


def is_growing(pieces: Sequence[str]) -> bool:
    """Return whether each piece repeats the one before it."""
    return all(later.startswith(earlier) for earlier, later in pairwise(pieces))


def joined_objects(text: str) -> list[str] | None:
    """The JSON objects that the text is made of; None if it is made of anything else.

    Nothing and empty objects next to others are placeholders of the service, and no calls.
    """
    found: list[str] = []
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        try:
            value, end = _decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict) and text[place:end] not in NOTHING:
            return None
        if value:
            found.append(text[place:end])
        place = end
    return found


def is_object(text: str) -> bool:
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def encoded(found: Any) -> str:
    return msgspec.json.encode(found).decode()


def unreadable(text: str) -> str:
    return encoded({UNREADABLE: text[:LONGEST_UNREADABLE]})


def unreadable_text(arguments: dict[str, Any]) -> str | None:
    """Return the text that was written in place of a JSON object; None for other arguments."""
    text = arguments.get(UNREADABLE) if len(arguments) == 1 else None
    return text if isinstance(text, str) else None
