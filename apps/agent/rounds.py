"""How often the models of one answer may be asked: its own, and those of its helpers."""

from __future__ import annotations

from dataclasses import dataclass

from apps.errors import StepLimitReached

UNLIMITED = -1


@dataclass(slots=True)
class Rounds:
    """`used` counts the calls of models, those of runs inside included; `most` is the limit.

    The rounds of a run inside count in those of the run around it, its `outer` ones.
    """

    most: int = UNLIMITED
    used: int = 0
    outer: Rounds | None = None

    def take(self) -> None:
        """Count a call that is about to be made. Raises `StepLimitReached`."""
        if self.most != UNLIMITED and self.used >= self.most:
            raise StepLimitReached(self.most)
        around = self.outer
        while around is not None:
            # One is left to whoever asked for the help, or its results would be of no use.
            if around.most != UNLIMITED and around.used >= around.most - 1:
                raise StepLimitReached(around.most)
            around = around.outer
        self.count(1)

    def count(self, calls: int) -> None:
        """Count calls that were made already."""
        here: Rounds | None = self
        while here is not None:
            here.used += calls
            here = here.outer
