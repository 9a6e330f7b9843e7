"""The tool calls of an answer while they arrive in pieces."""

import logging
import uuid
from collections.abc import Collection, Iterator
from itertools import islice
from operator import attrgetter

from apps.agent.call_arguments import object_texts
from apps.agent.early_stages import GrowingCall
from apps.agent.messages import ToolCall
from apps.agent.model import UNNUMBERED, ToolCallDelta

logger = logging.getLogger(__name__)

MOST_CALLS = 1_000
"""The limit for one answer. Models make some dozens at once; each call has a stage, a task and a step."""
LONGEST_NAME = 1_000
"""The limit in characters. Services accept names of up to 64."""


class GrowingCalls:
    """`names` are the tools that may be called.

    Services number calls from 0 or 1, all with 0, or not at all; they send ids and names once, with
    every piece, or never.
    """

    def __init__(self, names: Collection[str] = ()) -> None:
        self.names = names
        self.calls: list[GrowingCall] = []
        self.latest: dict[int, GrowingCall] = {}
        """The call that a piece of each number continues."""
        self.by_id: dict[str, GrowingCall] = {}
        """The first call of each id."""
        self.by_number_and_id: dict[tuple[int, str], GrowingCall] = {}

    def __len__(self) -> int:
        return len(self.calls)

    def feed(self, delta: ToolCallDelta) -> GrowingCall:
        """The call that the piece belongs to, with the piece."""
        call = self.latest.get(delta.index)
        if call is None or delta.name or (delta.id and delta.id != call.id):
            call = self.latest[delta.index] = self.find(delta, call)
        if delta.arguments:
            call.arguments.append(delta.arguments)
        return call

    def find(self, delta: ToolCallDelta, call: GrowingCall | None) -> GrowingCall:
        """The call of a piece that its number alone does not tell, with the id and name of the piece.

        `call` is the latest one of that number.
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
        """Take a piece of the name. With the arguments come the rest of it, or all of it again."""
        name = joined_name(call.name, more)
        if not call.arguments or name in self.names or call.name not in self.names:
            call.name = name

    def continued(self, delta: ToolCallDelta) -> GrowingCall | None:
        """The call that a piece with a new number continues: some services number the pieces."""
        if delta.name and not delta.id:
            return None
        if not delta.id:
            return self.calls[-1] if self.calls else None
        call = self.by_id.get(delta.id)
        is_begun = call is not None and bool(call.arguments or not delta.name)
        return call if is_begun else None

    def is_another(self, delta: ToolCallDelta, call: GrowingCall) -> bool:
        """Return whether a piece with a name begins a new call, although its number and id are those of
        the call."""
        is_other_tool = (
            delta.name != call.name and call.name in self.names and delta.name in self.names
        )
        if not call.arguments:
            return is_other_tool
        if delta.name == call.name and not delta.arguments.strip():
            return False  # the name comes again at the end
        if not call.is_complete:
            return is_other_tool and not (delta.id and delta.id == call.id)
        is_same = bool(delta.id) and delta.name == call.name
        return not (is_same and (call.has_said(delta.arguments) or call.has_placeholder))

    def complete(self, taken: Collection[str]) -> tuple[ToolCall, ...]:
        """The calls in the order of their numbers, with ids that are not `taken`."""
        completed = self.completed(set(taken))
        calls = tuple(islice(completed, MOST_CALLS))
        if next(completed, None) is not None:
            logger.warning(
                "A model made more than %d calls at once: others are left out", MOST_CALLS
            )
        return calls

    def completed(self, used: set[str]) -> Iterator[ToolCall]:
        for call in sorted(self.calls, key=attrgetter("index")):
            for text in object_texts(call.arguments):
                yield ToolCall(unused(call.id, used), call.name, text)


def joined_name(known: str, more: str) -> str:
    """Names come whole, in pieces, or with each piece all of it so far."""
    return (more if more.startswith(known) else known + more)[:LONGEST_NAME]


def unused(id: str, used: set[str]) -> str:
    """The id, or a new one if it is empty or used: results are matched to calls by it."""
    if not id or id in used:
        id = f"call_{uuid.uuid4().hex}"
    used.add(id)
    return id
