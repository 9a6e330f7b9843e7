"""The names of tools as models write them: with prefixes, blanks or control tokens around them."""

import logging
import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from apps.agent.assembly import Reply

logger = logging.getLogger(__name__)

_valid = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_invalid = re.compile(r"[^a-zA-Z0-9_-]+")
_token = re.compile(r"<\|?[^<>|]*\|?>?")
"""A control token of a model's template, as `<|channel|>`, which may be cut off."""
_separator = re.compile(r"[.:/\\=\s]+")
_number = re.compile(r":\d+$")
"""Kimi numbers the calls of an answer: `functions.search:0`."""
_between = re.compile(r"[\W_]+")
NAMESPACES = ("functions", "function", "default_api", "tools", "tool", "mcp")
_namespace = re.compile(rf"[\W_]*(?:{'|'.join(NAMESPACES)})[\W_]+(?=.)", re.IGNORECASE)
LONGEST = 200
NAMELESS = "unnamed_tool"


def with_called_names(reply: Reply, known: Collection[str]) -> Reply:
    """The answer with calls of the tools that its model means."""
    calls = reply.message.tool_calls
    if all(call.name in known for call in calls):
        return reply
    named = tuple(replace(call, name=called_name(call.name, known)) for call in calls)
    for call, one in zip(calls, named, strict=True):
        if call.name != one.name:
            logger.info("The model called the tool %r, read as %r", call.name[:LONGEST], one.name)
    return replace(reply, message=replace(reply.message, tool_calls=named))


def called_name(written: str, known: Collection[str]) -> str:
    """The known tool that the name can only mean; else the name as services accept it."""
    if written in known:
        return written
    folded: dict[str, set[str]] = {}
    for name in known:
        folded.setdefault(fold(name), set()).add(name)
    for candidate in candidates(written[:LONGEST]):
        if candidate in known:
            return candidate
        meant = folded.get(fold(candidate), ())
        if len(meant) == 1:
            return next(iter(meant))
    name = usable_name(written)
    while name in known:  # one of several that may be meant
        name = f"{name[:60]}_{len(name)}"
    return name


def usable_name(written: str) -> str:
    """The name in the characters that OpenAI's API accepts."""
    if is_usable(written):
        return written
    return _invalid.sub("_", written.strip()).strip("_")[:64] or NAMELESS


def is_usable(name: str) -> bool:
    return _valid.fullmatch(name) is not None


def candidates(written: str) -> Iterator[str]:
    """The names that it may stand for, the longest first."""
    for part in (written, *_token.split(written)):
        text = _number.sub("", part.strip())
        for start in (0, *(found.end() for found in _separator.finditer(text))):
            candidate = text[start:]
            if not fold(candidate):
                continue
            yield candidate
            if spaced := _namespace.match(candidate):
                yield candidate[spaced.end() :]


def fold(name: str) -> str:
    return _between.sub("_", name.casefold()).strip("_")
