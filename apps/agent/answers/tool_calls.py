"""Assembles the tool calls and reasoning of an answer, and matches called names to tools.

Models write prefixes, spaces or control tokens around tool names.
"""

import logging
import re
import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import attrgetter

from apps.agent.call_arguments import object_texts
from apps.agent.growing_arguments import ObjectEnd
from apps.agent.messages import Thoughts, ToolCall
from apps.agent.model import UNNUMBERED, ReasoningDelta, Reply, ThoughtPart, ToolCallDelta

logger = logging.getLogger(__name__)

MOST_CALLS = 1_000
"""The maximum number of tool calls in an answer. Models make a few dozen at most. Each call creates
a stage, an asyncio task and a step.
"""
LONGEST_NAME = 1_000
"""Tool names are truncated to this many characters. Services accept up to 64."""
_valid = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_invalid = re.compile(r"[^a-zA-Z0-9_-]+")
_token = re.compile(r"<\|?[^<>|]*\|?>?")
"""Matches a control token of a model's template, such as `<|channel|>`, even if it is
incomplete.
"""
_separator = re.compile(r"[.:/\\=\s]+")
_number = re.compile(r":\d+$")
"""Matches the number that Kimi appends to a tool name, such as `functions.search:0`."""
_between = re.compile(r"[\W_]+")
NAMESPACES = ("functions", "function", "default_api", "tools", "tool", "mcp")
_namespace = re.compile(rf"[\W_]*(?:{'|'.join(NAMESPACES)})[\W_]+(?=.)", re.IGNORECASE)
LONGEST = 200
NAMELESS = "unnamed_tool"


@dataclass(slots=True)
class GrowingCall:
    """A tool call that the model is still writing. Some services give several calls the same
    `index`.
    """

    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    end: ObjectEnd = field(default_factory=ObjectEnd)

    @property
    def is_complete(self) -> bool:
        """Return True if the arguments received so far form a JSON object."""
        return self.end.is_reached(self.arguments)

    def has_received(self, arguments: str) -> bool:
        """Return True if the arguments received so far are exactly `arguments`."""
        return len(arguments) == self.end.length and arguments == "".join(self.arguments)

    @property
    def has_placeholder(self) -> bool:
        """Return True if the only text received so far is an empty object, which some services send
        before the arguments.
        """
        return len(self.arguments) == 1 and self.arguments[0].strip() == "{}"

    def becomes(self, call: ToolCall) -> bool:
        """Return True if `call` is the complete form of this call."""
        return (self.name, object_texts(self.arguments)[0]) == (call.name, call.arguments)


@dataclass(slots=True)
class GrowingCalls:
    """Assembles the tool calls of an answer from deltas. `names` are the tools that may be called.

    Some services number the calls from 0 or 1, some send the number 0 for all calls, and some send
    no number. Services send IDs and names once, with every delta, or never.
    """

    names: Collection[str] = ()
    calls: list[GrowingCall] = field(default_factory=list)
    latest: dict[int, GrowingCall] = field(default_factory=dict)
    """The newest tool call for each number that the service has used. The next delta with the same
    number continues this call.
    """
    by_id: dict[str, GrowingCall] = field(default_factory=dict)
    """The first tool call with each ID, by ID."""
    by_number_and_id: dict[tuple[int, str], GrowingCall] = field(default_factory=dict)

    def feed(self, delta: ToolCallDelta) -> GrowingCall:
        """Add a delta to the tool call to which it belongs, and return that call."""
        call = self.latest.get(delta.index)
        if call is None or delta.name or (delta.id and delta.id != call.id):
            call = self.latest[delta.index] = self.find(delta, call)
        if delta.arguments:
            call.arguments.append(delta.arguments)
        return call

    def find(self, delta: ToolCallDelta, call: GrowingCall | None) -> GrowingCall:
        """Return the call to which a delta belongs, or create one. `call` is the latest call with
        the same number, or None.

        The ID and the name determine the call, because the number alone does not identify a call.
        """
        if call is None:
            call = self.continued(delta)
        elif delta.id and call.id and delta.id != call.id:
            known = self.by_number_and_id.get((delta.index, delta.id))
            call = known if known is not None or delta.name else call
        if call is None or (delta.name and self.is_another(delta, call)):
            call = self.latest[UNNUMBERED] = GrowingCall(delta.index)
            self.calls.append(call)
        if delta.id and not call.id:
            call.id = delta.id
            self.by_id.setdefault(call.id, call)
            self.by_number_and_id.setdefault((call.index, call.id), call)
        if delta.name:
            self.extend_name(call, delta.name)
        return call

    def extend_name(self, call: GrowingCall, more: str) -> None:
        """Append `more` to the call's name. Once arguments have arrived, services send either the
        rest of the name or the whole name again.
        """
        name = joined_name(call.name, more)
        if not call.arguments or name in self.names or call.name not in self.names:
            call.name = name

    def continued(self, delta: ToolCallDelta) -> GrowingCall | None:
        """Return the call that a delta with a new number continues, or None if it begins a new
        call. Some services number the deltas, not the calls.
        """
        if delta.name and not delta.id:
            return None
        if not delta.id:
            return self.calls[-1] if self.calls else None
        call = self.by_id.get(delta.id)
        is_begun = call is not None and bool(call.arguments or not delta.name)
        return call if is_begun else None

    def is_another(self, delta: ToolCallDelta, call: GrowingCall) -> bool:
        """Return True if a delta with a name begins a new call even though it has the same number
        as `call`.
        """
        is_other_tool = (
            delta.name != call.name and call.name in self.names and delta.name in self.names
        )
        if not call.arguments:
            return is_other_tool
        if delta.name == call.name and not delta.arguments.strip():
            return False  # the service repeats the name at the end
        if not call.is_complete:
            return is_other_tool and not (delta.id and delta.id == call.id)
        is_same = bool(delta.id) and delta.name == call.name
        return not (is_same and (call.has_received(delta.arguments) or call.has_placeholder))

    def complete(self, used_ids: Collection[str]) -> tuple[ToolCall, ...]:
        """Return the complete calls, sorted by number. Missing IDs, and IDs in `used_ids`, are
        replaced.
        """
        completed = self.completed(set(used_ids))
        calls = tuple(islice(completed, MOST_CALLS))
        if next(completed, None) is not None:
            logger.warning(
                "A model made more than %d tool calls at once; dropped the rest", MOST_CALLS
            )
        return calls

    def completed(self, used: set[str]) -> Iterator[ToolCall]:
        for call in sorted(self.calls, key=attrgetter("index")):
            for text in object_texts(call.arguments):
                yield ToolCall(unused_id(call.id, used), call.name, text)


def joined_name(known: str, more: str) -> str:
    """Append `more` to the beginning of a name. If `more` starts with that beginning, return
    `more`.
    """
    return (more if more.startswith(known) else known + more)[:LONGEST_NAME]


def unused_id(id: str, used: set[str]) -> str:
    """Return the ID, or a random one if it is empty or already used, because results are matched to
    calls by ID.
    """
    if not id or id in used:
        id = f"call_{uuid.uuid4().hex}"
    used.add(id)
    return id


@dataclass(slots=True)
class GrowingThoughts:
    """Assembles a model's reasoning from deltas. The object is truthy once it contains something to
    store.
    """

    texts: list[str] = field(default_factory=list)
    name: str = ""
    """The field in which the service sends plain reasoning, or ""."""
    parts: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.texts or self.parts)

    def feed(self, delta: ReasoningDelta) -> None:
        if delta.text or not self.name:
            self.name = delta.name
        if delta.text:
            self.texts.append(delta.text)

    def take(self, part: ThoughtPart) -> None:
        self.parts[part.name] = part.text

    def complete(self, model: str, *, has_calls: bool) -> Thoughts | None:
        """Return the reasoning to send back in later requests, or None. It consists of the
        service's own parts or, if there are none and the answer has tool calls, of the plain
        reasoning.
        """
        parts = self.parts
        if not parts and has_calls and self.name:
            parts = {self.name: "".join(self.texts)}
        return Thoughts(parts, model) if parts else None


def with_called_names(reply: Reply, tool_names: Collection[str]) -> Reply:
    """Correct the tool names of an answer: replace each with the known name that the model meant."""
    calls = reply.message.tool_calls
    if all(call.name in tool_names for call in calls):
        return reply
    named = tuple(replace(call, name=called_name(call.name, tool_names)) for call in calls)
    for call, one in zip(calls, named, strict=True):
        if call.name != one.name:
            logger.info(
                "The model called the unknown tool %r; treated it as %r",
                call.name[:LONGEST],
                one.name,
            )
    return replace(reply, message=replace(reply.message, tool_calls=named))


def called_name(written: str, tool_names: Collection[str]) -> str:
    """Return the known tool name that the model meant. If none or several match, return a valid
    name that is not in `tool_names`.
    """
    if written in tool_names:
        return written
    folded: dict[str, set[str]] = {}
    for name in tool_names:
        folded.setdefault(fold(name), set()).add(name)
    for candidate in candidates(written[:LONGEST]):
        if candidate in tool_names:
            return candidate
        meant = folded.get(fold(candidate), ())
        if len(meant) == 1:
            return next(iter(meant))
    name = usable_name(written)
    while name in tool_names:  # the name could mean several tools
        name = f"{name[:60]}_{len(name)}"
    return name


def usable_name(written: str) -> str:
    """Replace the characters in a tool name that OpenAI's API rejects."""
    if is_tool_name(written):
        return written
    return _invalid.sub("_", written.strip()).strip("_")[:64] or NAMELESS


def is_tool_name(name: str) -> bool:
    return _valid.fullmatch(name) is not None


def candidates(written: str) -> Iterator[str]:
    """Yield the substrings of `written` that may be the name of a tool, longest first."""
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
