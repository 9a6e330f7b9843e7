"""Converts the arguments of each tool call to the text of one JSON object, because services reject
conversations with other arguments.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from apps.agent.surrogates import decode_json, well_formed

UNREADABLE = "unreadable_arguments"
"""The key under which the arguments of a call are stored if they are not a JSON object. In this
case, the model sees its own text, and no tool is called.
"""
LONGEST_UNREADABLE = 2_000
"""Unreadable arguments are truncated to this many characters. They can be as long as a whole answer
if the answer was cut off within a call.
"""
PROBLEM = "problem"
"""The key that stores why a truncated text is not a JSON object."""
TEXT_INPUT = "input"
"""The name of the only argument of a tool that takes plain text."""
NOTHING = ("", "null", "[]", '""')
"""The texts that services send for a call without arguments."""

_decoder = json.JSONDecoder()


def object_text(written: Any) -> str:
    """Return the model's arguments as the text of a JSON object. If they are not an object, wrap
    them in one.
    """
    if not isinstance(written, str):
        if written is None or written == []:
            return "{}"
        written = json.dumps(written, default=str)
    text = well_formed(written)
    if text.strip() in NOTHING:
        return "{}"
    try:
        found, is_repaired = decoded(text)
    except (ValueError, RecursionError) as error:
        return unreadable(text, not_json(error))
    if isinstance(found, dict):
        return encode_json(found) if is_repaired else text
    if isinstance(found, str) and found.lstrip().startswith("{"):  # double-encoded JSON
        return object_text(found)
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict):
        return encode_json(found[0])
    return unreadable(text, not_object(found))


def text_arguments(text: str) -> str:
    """Return the JSON arguments for a tool that takes plain text."""
    return encode_json({TEXT_INPUT: well_formed(text)})


def input_text(arguments: str) -> str:
    """Return the text from the JSON arguments of a tool that takes plain text. If the model wrote
    other arguments, return them unchanged.
    """
    found = msgspec.json.decode(arguments)
    text = found.get(TEXT_INPUT)
    return text if isinstance(text, str) else arguments


def decoded(text: str) -> tuple[Any, bool]:
    """Decode JSON, with lone surrogates replaced. Return the value, and True if the text contained
    surrogates. Raises msgspec's errors.
    """
    try:
        return msgspec.json.decode(text), False
    except ValueError:
        return decode_json(msgspec.json.decode, text.encode()), True


def object_texts(parts: Sequence[str]) -> list[str]:
    """Return the arguments of one call, or of each call if a service has joined several.

    `parts` are the parts of the text in order of arrival. Some services repeat the whole text in
    each part, or in the last one.
    """
    text = "".join(parts)
    if is_object(text):
        return [object_text(text)]
    if len(parts) > 1 and is_object(parts[-1]) and is_growing(parts):
        return [object_text(parts[-1])]
    objects = joined_objects(text)
    if objects is None:
        return [object_text(text)]
    different: dict[str, str] = {}
    for one in objects:
        different.setdefault(json.dumps(json.loads(one), sort_keys=True), one)
    return [object_text(one) for one in different.values()] or [object_text(None)]


def is_growing(parts: Sequence[str]) -> bool:
    """Return True if each part begins with the previous part."""
    return all(later.startswith(earlier) for earlier, later in pairwise(parts))


def joined_objects(text: str) -> list[str] | None:
    """Split a text that consists of several JSON objects into the objects, or return None if it
    contains anything else.

    Empty values next to objects are placeholders, and are omitted.
    """
    found: list[str] = []
    index = 0
    while index < len(text):
        if text[index].isspace():
            index += 1
            continue
        try:
            value, end = _decoder.raw_decode(text, index)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict) and text[index:end] not in NOTHING:
            return None
        if value:
            found.append(text[index:end])
        index = end
    return found


def is_object(text: str) -> bool:
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def encode_json(found: Any) -> str:
    return msgspec.json.encode(found).decode()


def not_json(error: Exception) -> str:
    return (
        f"The arguments are not valid JSON: {error}. The tool was not called. Send one JSON object."
    )


def not_object(found: Any) -> str:
    return f"The arguments are a JSON {type(found).__name__}. Send one JSON object."


def unreadable(text: str, problem: str) -> str:
    if len(text) <= LONGEST_UNREADABLE:
        return encode_json({UNREADABLE: text})
    return encode_json({UNREADABLE: text[:LONGEST_UNREADABLE], PROBLEM: problem})


def unreadable_text(arguments: dict[str, Any]) -> str | None:
    """Return the arguments that the model wrote if they were not a JSON object, otherwise None."""
    text = arguments.get(UNREADABLE) if arguments.keys() <= {UNREADABLE, PROBLEM} else None
    return text if isinstance(text, str) else None
