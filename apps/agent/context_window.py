"""The room that a model has for a conversation, and what happens when it is full."""

from typing import Literal

import msgspec

Strategy = Literal["summarise", "trim", "refuse"]


class Window(msgspec.Struct, frozen=True):
    """How much a model reads, in tokens: `size` None if that is unknown. From the share `at` on, a
    conversation is cut by the `strategy`. `asked` is the most that the client wants a request to
    have, None for no wish.
    """

    size: int | None = None
    strategy: Strategy = "summarise"
    at: float = 0.8
    asked: int | None = None

    @property
    def limit(self) -> int | None:
        """What a request may have at all."""
        known = [size for size in (self.size, self.asked) if size is not None]
        return min(known, default=None)

    @property
    def most(self) -> float:
        """What a request may have before anything is cut."""
        known = [] if self.size is None else [self.size * self.at]
        return min((*known, *([] if self.asked is None else [float(self.asked)])))
