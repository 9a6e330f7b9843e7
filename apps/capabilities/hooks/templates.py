"""Renders hook arguments, which are JSON-e templates, with data from the conversation.

A short template could need unlimited time or memory, so a separate thread renders it with limits.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import jsone
import msgspec
from jsone.interpreter import Interpreter

from apps.agent.messages import ModelMessage
from apps.capabilities.wrappers.arguments import recorded_arguments

MOST_SECONDS = 5.0
"""The timeout in seconds for rendering a template. Rendering usually takes milliseconds."""
MOST_CHARACTERS = 2_000_000
MOST_ITEMS = 100_000
"""The maximum number of items in one list or object, and of all nested items in the result."""
MOST_BITS = 4096
TOO_LARGE = "the template produces a value that is too large"

_binary = Interpreter.visit_BinOp.__code__


class TemplateRefused(Exception):
    """Raised if a template cannot be rendered. The message never quotes the conversation."""


def has_expressions(template: Any) -> bool:
    match template:
        case str():
            return "${" in template
        case dict():
            return any(
                k.startswith("$") or has_expressions(k) or has_expressions(v)
                for k, v in template.items()
            )
        case list():
            return any(map(has_expressions, template))
        case _:
            return False


async def render_template(
    template: Mapping[str, Any], context: Mapping[str, Any]
) -> dict[str, Any]:
    """Render a template in another thread, within limits. Raises `TemplateRefused` on failure."""
    return await asyncio.to_thread(render, template, context)


def render(
    template: Mapping[str, Any], context: Mapping[str, Any], seconds: float = MOST_SECONDS
) -> dict[str, Any]:
    """Render a template in this thread, within limits. Raises `TemplateRefused` on failure."""
    names = {**context, "range": bounded_range, "join": bounded_join}
    try:
        with limit_seconds(seconds):
            arguments = jsone.render(without_second_reading(dict(template)), names)
            remaining_items(arguments)
        msgspec.json.encode(arguments)
    except TemplateRefused:
        raise
    except Exception as error:  # noqa: BLE001 - any error; its text may quote the conversation
        raise TemplateRefused(
            f"the template cannot be evaluated ({type(error).__name__})"
        ) from None
    if not isinstance(arguments, dict):
        raise TemplateRefused("the template does not produce an object")
    return arguments


@contextmanager
def limit_seconds(seconds: float) -> Iterator[None]:
    """Limit the time of the block and the size of its values.

    Raises `TemplateRefused` in the block if a limit is exceeded.
    """
    end = time.monotonic() + seconds

    def watch(frame: FrameType, event: str, value: Any) -> None:
        if time.monotonic() > end:
            raise TemplateRefused(f"the template takes longer than {seconds:g} seconds")
        if event == "return":
            check_size(value)
        elif (
            # Even a power of small numbers can exhaust memory, and its computation cannot be
            # interrupted.
            event == "call"
            and frame.f_code is _binary
            and frame.f_locals["node"].token.kind == "**"
        ):
            raise TemplateRefused("the template uses the operator **, which is not supported")

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
        raise TemplateRefused(TOO_LARGE)


def remaining_items(value: Any, left: int = MOST_ITEMS) -> int:
    """Subtract the number of nested items in `value` from `left`. Raises `TemplateRefused` if the
    result is negative.
    """
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        left = remaining_items(item, left - 1)
        if left < 0:
            raise TemplateRefused(TOO_LARGE)
    return left


def bounded_range(start: Any, stop: Any, step: Any = 1) -> list[int]:
    numbers = range(start, stop, step)
    if len(numbers) > MOST_ITEMS:
        raise TemplateRefused(TOO_LARGE)
    return list(numbers)


def bounded_join(items: list[Any], separator: Any) -> str:
    texts = [str(item) for item in items]
    if sum(map(len, texts)) + len(str(separator)) * len(texts) > MOST_CHARACTERS:
        raise TemplateRefused(TOO_LARGE)
    return str(separator).join(texts)


def without_second_reading(template: Any) -> Any:
    """Replace each `$find` in the template with equivalent operators.

    JSON-e renders the result of `$find` a second time, and would evaluate expressions in user text.
    """
    if isinstance(template, list):
        return [without_second_reading(item) for item in template]
    if not isinstance(template, dict):
        return template
    written = {key: without_second_reading(item) for key, item in template.items()}
    each = next((key for key in written if key.startswith("each(")), "")
    if set(written) != {"$find", each} or not isinstance(written[each], str):
        return written  # The template has no `$find`, or rendering will reject it.
    item = each.removeprefix("each(").partition(",")[0].rstrip(")").strip()
    kept = {"$if": written[each], "then": {"item": {"$eval": item}}}
    return {
        "$let": {"found": {"$map": written["$find"], each: kept}},
        "in": {"$if": "len(found) > 0", "then": {"$eval": "found[0].item"}},
    }


def template_context(event: str, messages: Sequence[ModelMessage], **names: Any) -> dict[str, Any]:
    seen = [plain_message(message) for message in messages]
    return {
        "event": event,
        "messages": seen,
        "last_user_message": last_message(seen, "user"),
        "last_assistant_message": last_message(seen, "assistant"),
        **names,
    }


def last_message(seen: Sequence[Mapping[str, Any]], role: str) -> Mapping[str, Any] | None:
    """Return the newest message with this role and without tool calls, or None."""
    of_role = (m for m in reversed(seen) if m["role"] == role and not m["tool_calls"])
    return next(of_role, None)


def plain_message(message: ModelMessage) -> dict[str, Any]:
    return {
        "role": message.role,
        "content": message.text if message.text.strip() else "",
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": recorded_arguments(call)}
            for call in message.tool_calls
        ],
        "tool_call_id": message.tool_call_id,
    }
