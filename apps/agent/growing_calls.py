"""The tool calls of an answer while they arrive in pieces."""

import uuid
from collections.abc import Collection
from operator import attrgetter

from apps.agent.early_stages import GrowingCall
from apps.agent.messages import ToolCall
from apps.agent.model import ToolCallDelta


class GrowingCalls:
    def __init__(self) -> None:
        self.calls: list[GrowingCall] = []
        self.latest: dict[int, GrowingCall] = {}
        """The call that a piece of each number continues."""

    def __len__(self) -> int:
        return len(self.calls)

    def feed(self, delta: ToolCallDelta) -> GrowingCall:
        """The call that the piece belongs to, with the piece."""
        call = self.latest.get(delta.index)
        if call is None or (delta.id and call.id and delta.id != call.id):
            call = self.latest[delta.index] = self.find(delta)
        call.id = call.id or delta.id
        call.name += delta.name
        if delta.arguments:
            call.arguments.append(delta.arguments)
        return call

    def find(self, delta: ToolCallDelta) -> GrowingCall:
        """The call of a piece that the number alone does not tell: some services number all 0."""
        numbered = (call for call in self.calls if call.index == delta.index)
        call = next((call for call in numbered if call.id == delta.id), None)
        if call is None:
            call = GrowingCall(delta.index)
            self.calls.append(call)
        return call

    def complete(self, taken: Collection[str]) -> tuple[ToolCall, ...]:
        """The calls in the order of their numbers, with ids that are not `taken`."""
        used = set(taken)
        return tuple(
            ToolCall(unused(call.id, used), call.name, "".join(call.arguments))
            for call in sorted(self.calls, key=attrgetter("index"))
        )


def unused(id: str, used: set[str]) -> str:
    """The id, or a new one if it is empty or used: results are matched to calls by it."""
    if not id or id in used:
        id = f"call_{uuid.uuid4().hex}"
    used.add(id)
    return id
