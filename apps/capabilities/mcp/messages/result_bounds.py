"""Limits the number of values in a server's response before other code processes it.

A message within the size limit can have millions of values, and validating them would block the
event loop.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCResponse

from apps.capabilities.wrappers.value_texts import one_line

MOST_VALUES = 200_000
"""The maximum number of values in one field of a response, or in all entries of a list."""
MOST_COUNTED = 5 * MOST_VALUES
"""The limit on counted values in the entries of a list, including omitted entries. Once it is
reached, all further entries are omitted.
"""
MOST_NAMED = 10
MOST_PARTS = 1_000
"""The maximum number of parts in a call's result, or of contents in a resource."""
MOST_LISTED = 5_000
"""The maximum number of tools or other entries in a list."""
LISTS = ("tools", "resources", "resourceTemplates", "prompts")
LEFT_OUT = "quickapps.left_out"
"""The key in a list's `_meta` for sentences about omitted entries."""

Object = dict[str, Any]


def bound_message(item: SessionMessage | Exception) -> SessionMessage | Exception:
    """Limit the number of values in the message, and remove any `LEFT_OUT` key that the server
    sent.
    """
    if isinstance(item, Exception):
        return item
    match item.message:
        case JSONRPCResponse() as message:
            result = bounded_result(message.result)
            if result is message.result:
                return item
            return replace(item, message=message.model_copy(update={"result": result}))
        case JSONRPCError() as message if exceeds(message.error.data, MOST_VALUES):
            error = message.error.model_copy(update={"data": None})
            return replace(item, message=message.model_copy(update={"error": error}))
        case _:
            return item


def bounded_result(result: Object) -> Object:
    found = result
    if isinstance(meta := result.get("_meta"), dict) and LEFT_OUT in meta:
        found = {**found, "_meta": {key: meta[key] for key in meta if key != LEFT_OUT}}
    for key, value in result.items():
        if key in LISTS:
            found = with_bounded_list(found, key)
        elif key in ("content", "contents") and isinstance(value, list):
            found = with_bounded_parts(found, key)
        elif exceeds(value, MOST_VALUES):
            found = {name: one for name, one in found.items() if name != key}
            if key != "_meta":
                note = f"(“{key}” is left out: it has more than {MOST_VALUES:,} values.)"
                found = with_note(found, "content", note)
    return found


def with_bounded_list(result: Object, key: str) -> Object:
    entries = result[key]
    entries = list(entries.values()) if isinstance(entries, dict) else entries
    if not isinstance(entries, list):
        return result
    kept = first_entries(entries, MOST_LISTED)
    if (lost := len(entries) - len(kept)) == 0:
        return result
    reason = (
        f"{lost:,} of the {len(entries):,} {key} are left out{names_of_missing(entries, kept)}: the "
        f"limit per list is {MOST_LISTED:,} entries with {MOST_VALUES:,} values."
    )
    return with_left_out({**result, key: kept}, [reason])


def names_of_missing(entries: list[Any], kept: list[Any]) -> str:
    """Return the names of the first omitted entries in parentheses, or "" if they have no names."""
    there = {id(one) for one in kept}
    missing = islice((one for one in entries if id(one) not in there), MOST_NAMED)
    names = [one["name"] for one in missing if isinstance(one, dict) and "name" in one]
    found = ", ".join(repr(one_line(name)) for name in names if isinstance(name, str))
    return f" ({found})" if found else ""


def with_bounded_parts(result: Object, key: str) -> Object:
    kept = first_entries(result[key], MOST_PARTS)
    if (lost := len(result[key]) - len(kept)) == 0:
        return result
    note = (
        f"({lost:,} more parts of the result are left out: it can have up to {MOST_PARTS:,} parts, "
        f"with up to {MOST_VALUES:,} values.)"
    )
    return with_note({**result, key: kept}, key, note)


def with_note(result: Object, key: str, note: str) -> Object:
    part = {"type": "text", "text": note} if key == "content" else {"uri": "", "text": note}
    parts = result.get(key, [])
    return {**result, key: [*(parts if isinstance(parts, list) else [parts]), part]}


def with_left_out(result: Object, reasons: Sequence[str]) -> Object:
    """Add `reasons` to the sentences about omitted entries in the result's `_meta`."""
    meta = result.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    return {**result, "_meta": {**meta, LEFT_OUT: [*meta.get(LEFT_OUT, ()), *reasons]}}


def first_entries(entries: list[Any], most: int) -> list[Any]:
    """Return the first entries that fit within the limits. Skip an entry that is too large for the
    remaining space.
    """
    left, countable = MOST_VALUES, MOST_COUNTED
    kept: list[Any] = []
    for entry in entries[:most]:
        size = 1 + count(entry, left)
        countable -= min(size, left + 1)
        if countable < 0:
            break
        if size <= left:
            left -= size
            kept.append(entry)
    return kept


def exceeds(value: Any, most: int) -> bool:
    return count(value, most) > most


def count(value: Any, most: int) -> int:
    """Count the values in `value`, including nested ones. Stop once the count exceeds `most`."""
    found, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            found += len(one)
            if found > most:
                break
            waiting.extend(one.values() if isinstance(one, dict) else one)
    return found
