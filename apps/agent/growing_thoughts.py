"""A model's reasoning, put together from the pieces that it streams."""

from apps.agent.messages import Thoughts
from apps.agent.model import ReasoningDelta, ThoughtPart


class GrowingThoughts:
    """True once there is something to keep."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.name = ""
        """The service's name for reasoning; "" if it sends none."""
        self.parts: dict[str, str] = {}

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
        """Text alone is wanted back of answers with calls, parts are of any."""
        parts = self.parts
        if not parts and has_calls and self.name:
            parts = {self.name: "".join(self.texts)}
        return Thoughts(parts, model) if parts else None
