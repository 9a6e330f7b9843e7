"""Converts requests to a normalized form that identifies them in recordings. The form contains no
secrets, IDs, dates or times.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import regex

from apps.agent.messages import ModelMessage, to_dict
from apps.agent.model import ModelRequest
from apps.live.events import storable_value
from apps.live.history.sent_requests import HEADERS
from apps.manifest.secrets import reads_as_credential

HIDDEN_TEXT = "(hidden)"
SHORTEST_SECRET = 6
"""Secrets with fewer characters are not masked, because they may be parts of words."""
SHOWN = 160
"""The description of a difference quotes at most this many characters from each of the two texts.
"""

_month = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)"
)
_weekday = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_volatile = regex.compile(
    "|".join(
        (
            r"(?P<id>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b[0-9a-f]{32}\b)",
            r"(?P<time>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z| ?[+-]\d\d:?\d\d)?)?"
            rf"|\b{_weekday}(?:, )?|\b\d{{1,2}}\.? {_month},? \d{{4}}\b"
            rf"|\b{_month} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b"
            r"|\b\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?\b"
            r"|\b1[5-9]\d{8}(?:\d{3})?\b)",
        )
    )
)


def scrub_text(text: str) -> str:
    """Replace IDs, dates and times in the text with placeholders."""
    return _volatile.sub(lambda found: f"<{found.lastgroup}>", text)


@dataclass(frozen=True, slots=True)
class Mask:
    """Removes this installation's secrets from texts."""

    secrets: Sequence[str] = ()

    def text(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN_TEXT)
        return text

    def value(self, value: Any) -> Any:
        """Remove secrets, and characters that a database cannot store, from a JSON value."""
        return storable_value(self.masked(value))

    def masked(self, value: Any, *, in_headers: bool = False) -> Any:
        if isinstance(value, str):
            return HIDDEN_TEXT if in_headers else self.text(value)
        if isinstance(value, Mapping):
            return {
                key: self.masked(
                    member,
                    in_headers=key == HEADERS
                    or in_headers
                    or (isinstance(member, str) and reads_as_credential(key)),
                )
                for key, member in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.masked(item) for item in value]
        return value

    def arguments(self, text: str) -> str:
        """Remove secrets from a tool call's arguments. `text` is the JSON that the model wrote."""
        try:
            return msgspec.json.encode(self.masked(msgspec.json.decode(text))).decode()
        except (msgspec.DecodeError, UnicodeError):
            return self.text(text)

    def reply(self, written: Mapping[str, Any]) -> Any:
        """Remove secrets from a serialized `RecordedReply`."""
        found = self.value(written)
        for call in found["reply"]["message"]["tool_calls"]:
            call["arguments"] = self.arguments(call["arguments"])
        return found


def mask_of(secrets: Iterable[str]) -> Mask:
    """Return a mask for these secrets. It replaces longer secrets first."""
    found = {one for one in secrets if len(one) >= SHORTEST_SECRET}
    return Mask(tuple(sorted(found, key=lambda one: (-len(one), one))))


def stable(value: Any) -> Any:
    """Replace IDs, dates and times in a JSON value with placeholders."""
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, Mapping):
        return {key: stable(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [stable(item) for item in value]
    return value


def request_digest(value: Any) -> str:
    written = msgspec.json.encode(value, order="deterministic", enc_hook=str)
    return hashlib.blake2b(written, digest_size=16).hexdigest()


Form = dict[str, Any]
"""A model request as `deployment`, `messages`, `tools` and `parameters`."""


def model_form(deployment: str, request: ModelRequest, mask: Mask) -> Form:
    """Convert a model request to the normalized form that identifies it in recordings."""
    tools = [
        {"name": one.name, "description": one.description, "parameters": one.parameters}
        for one in request.tools
    ]
    form = {
        "deployment": deployment,
        "messages": message_forms(request.messages, mask),
        "tools": [*tools, *request.static_tools],
        "parameters": dict(request.parameters),
    }
    found: Form = stable(mask.value(msgspec.to_builtins(form, enc_hook=str)))
    return found


def message_forms(messages: Sequence[ModelMessage], mask: Mask) -> list[dict[str, Any]]:
    """Convert the messages to JSON without their states. Numbers replace the IDs of tool calls."""
    numbers: dict[str, str] = {}
    found = []
    for message in messages:
        form = to_dict(message)
        custom = {k: v for k, v in form.pop("custom_content", {}).items() if k != "state"}
        if custom:
            form["custom_content"] = custom
        for call in form.get("tool_calls", ()):
            numbers[call["id"]] = call["id"] = f"call-{len(numbers) + 1}"
            call["function"]["arguments"] = mask.arguments(call["function"]["arguments"])
        if "tool_call_id" in form:
            form["tool_call_id"] = numbers.get(form["tool_call_id"], "call")
        found.append(form)
    return found


def tool_form(name: str, arguments: Mapping[str, Any], mask: Mask) -> Form:
    return {"name": name, "arguments": stable(mask.value(dict(arguments)))}


# --- Differences ---------------------------------------------------------------------------------


def first_difference(recorded: Form, current: Form) -> str:
    """Return a sentence about the first difference between a recorded model request and a new one."""
    if recorded["deployment"] != current["deployment"]:
        return f"The recording is of {recorded['deployment']!r}, but the run calls {current['deployment']!r}."
    if found := message_difference(recorded["messages"], current["messages"]):
        return found
    if found := tool_difference(recorded["tools"], current["tools"]):
        return found
    names = sorted({*recorded["parameters"], *current["parameters"]})
    for name in names:
        before, after = recorded["parameters"].get(name), current["parameters"].get(name)
        if before != after:
            return f"The parameter {name} was {show_value(before)} and is now {show_value(after)}."
    return "The recording has this request fewer times."


def message_difference(recorded: Sequence[Any], current: Sequence[Any]) -> str:
    for number, (before, after) in enumerate(zip(recorded, current, strict=False), start=1):
        if before == after:
            continue
        what = "The system prompt" if after["role"] == "system" else f"Message {number}"
        old, new = around(message_text(before), message_text(after))
        return f"{what} ({after['role']}) was recorded as {old} and is now {new}."
    if len(recorded) != len(current):
        return f"The recording has {len(recorded)} messages, and the request has {len(current)}."
    return ""


def tool_difference(recorded: Sequence[Any], current: Sequence[Any]) -> str:
    before, after = {name_of(one): one for one in recorded}, {name_of(one): one for one in current}
    if gone := sorted(before.keys() - after.keys()):
        return f"The tools {', '.join(gone)} are no longer offered."
    if new := sorted(after.keys() - before.keys()):
        return f"The tools {', '.join(new)} are new."
    if changed := sorted(name for name in before if before[name] != after[name]):
        return f"The description or the parameters of the tool {changed[0]} have changed."
    return "" if list(before) == list(after) else "The order of the tools has changed."


def name_of(tool: Mapping[str, Any]) -> str:
    return str(tool.get("name") or tool.get("type") or "tool")


def message_text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    rest = {k: v for k, v in message.items() if k not in ("role", "content")}
    written = msgspec.json.encode(rest, enc_hook=str).decode() if rest else ""
    text = content if isinstance(content, str) else msgspec.json.encode(content).decode()
    return f"{text} {written}".strip()


def around(before: str, after: str) -> tuple[str, str]:
    """Return both texts from shortly before their first difference."""
    same = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        same += 1
    start = max(same - SHOWN // 4, 0)
    return show_value(before[start:], cut_before=start > 0), show_value(
        after[start:], cut_before=start > 0
    )


def show_value(value: Any, *, cut_before: bool = False) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()
    short = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    return f"“{'…' if cut_before else ''}{short}”"
