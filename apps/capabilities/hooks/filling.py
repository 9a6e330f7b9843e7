"""The arguments of a hook: a JSON-e template, filled in with what was said.

Whoever writes an application writes its templates, and a few words of one can ask for more than a
computer has. So each is filled in on a thread of its own, and what it makes on the way is watched.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

import jsone
import msgspec
from jsone.interpreter import Interpreter

MOST_SECONDS = 5.0
"""For what takes milliseconds."""
MOST_CHARACTERS = 2_000_000
MOST_ITEMS = 100_000
"""Of a list or an object, and in the whole of what comes out."""
MOST_BITS = 4096

_power = Interpreter.visit_BinOp.__code__


class FillingRefused(Exception):
    """A template cannot be filled in. The text holds nothing of what was said."""


def changes(template: Any) -> bool:
    """Whether a template comes out different from how it is written."""
    match template:
        case str():
            return "${" in template
        case dict():
            return any(k.startswith("$") or changes(k) or changes(v) for k, v in template.items())
        case list():
            return any(map(changes, template))
        case _:
            return False


async def filled(template: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """Raises `FillingRefused`."""
    return await asyncio.to_thread(fill, template, context)


def fill(
    template: Mapping[str, Any], context: Mapping[str, Any], seconds: float = MOST_SECONDS
) -> dict[str, Any]:
    """Raises `FillingRefused`."""
    names = {**context, "range": bounded_range, "join": bounded_join}
    try:
        with watched(seconds):
            arguments = jsone.render(without_second_reading(dict(template)), names)
            count(arguments)
        msgspec.json.encode(arguments)
    except FillingRefused:
        raise
    except Exception as error:  # noqa: BLE001 - of many kinds; their texts may quote what was said
        raise FillingRefused(f"the template cannot be evaluated ({type(error).__name__})") from None
    if not isinstance(arguments, dict):
        raise FillingRefused("the template does not make an object")
    return arguments


@contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Raise `FillingRefused` in this thread as soon as the work in the block grows too large."""
    end = time.monotonic() + seconds

    def watch(frame: FrameType, event: str, value: Any) -> None:
        if time.monotonic() > end:
            raise FillingRefused(f"the template takes longer than {seconds:g} seconds")
        if event == "return":
            check_size(value)
        elif event == "call" and frame.f_code is _power:
            check_operator(frame.f_locals["node"])

    before: Callable[..., Any] | None = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)


def check_size(value: Any) -> None:
    match value:
        case str():
            is_small = len(value) <= MOST_CHARACTERS
        case list() | dict():
            is_small = len(value) <= MOST_ITEMS
        case int():
            is_small = value.bit_length() <= MOST_BITS
        case _:
            is_small = True
    if not is_small:
        raise FillingRefused("the template makes something too large")


def check_operator(node: Any) -> None:
    """A power of small numbers may be larger than the memory, and cannot be interrupted."""
    if node.token.kind == "**":
        raise FillingRefused("the template has the operator **, which is not available")


def count(value: Any, left: int = MOST_ITEMS) -> int:
    """How many more items there may be. What stands in many places counts in each."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        left = count(item, left - 1)
        if left < 0:
            raise FillingRefused("the template makes something too large")
    return left


def bounded_range(start: Any, stop: Any, step: Any = 1) -> list[int]:
    numbers = range(start, stop, step)
    check_count(len(numbers))
    return list(numbers)


def bounded_join(items: list[Any], separator: Any) -> str:
    texts = [str(item) for item in items]
    length = sum(map(len, texts)) + len(str(separator)) * len(texts)
    if length > MOST_CHARACTERS:
        raise FillingRefused("the template makes something too large")
    return str(separator).join(texts)


def check_count(items: int) -> None:
    if items > MOST_ITEMS:
        raise FillingRefused("the template makes something too large")


def without_second_reading(template: Any) -> Any:
    """The template with `$find` written in other words.

    The library takes what `$find` finds for a template and fills it in again: expressions that
    somebody typed into a conversation would be evaluated.
    """
    if isinstance(template, list):
        return [without_second_reading(item) for item in template]
    if not isinstance(template, dict):
        return template
    written = {key: without_second_reading(item) for key, item in template.items()}
    each = next((key for key in written if key.startswith("each(")), "")
    if set(written) != {"$find", each} or not isinstance(written[each], str):
        return written  # without `$find`, or refused when it is filled in
    item = each.removeprefix("each(").partition(",")[0].rstrip(")").strip()
    kept = {"$if": written[each], "then": {"item": {"$eval": item}}}
    return {
        "$let": {"found": {"$map": written["$find"], each: kept}},
        "in": {"$if": "len(found) > 0", "then": {"$eval": "found[0].item"}},
    }
