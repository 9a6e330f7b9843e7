"""Holds the newest events of a run in memory, for viewers."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from uuid import UUID

from apps.live.events import NumberedEvent, StreamEvent, after, length

MOST_STORED = 2_000
"""Up to this many stored events remain in memory for viewers that lag slightly behind."""


class RunLog:
    """The newest events of a run, in memory.

    Events up to the number `written` are in the journal. Events up to `announced` were sent to
    other processes. `first` is the number of the oldest event in memory.
    """

    def __init__(
        self, stream: UUID, run: UUID, first: int, written: Sequence[StreamEvent] = ()
    ) -> None:
        self.stream = stream
        self.run = run
        self.first = first
        self.events: list[StreamEvent] = []
        self.numbers: list[int] = []
        """The number of each event. The number of a text event is that of its last character."""
        self.is_over = False
        self.most_stored = MOST_STORED
        self.wake: Callable[[], None] = lambda: None
        for event in written:
            self.append(event)
        self.written = self.announced = self.last

    @property
    def last(self) -> int:
        return self.numbers[-1] if self.numbers else self.first - 1

    def append(self, event: StreamEvent) -> None:
        if size := length(event):
            self.numbers.append(self.last + size)
            self.events.append(event)
            self.wake()

    def after(self, number: int, limit: int | None = None) -> list[NumberedEvent]:
        """Return up to `limit` events after `number`, which must be at least `first - 1`."""
        start = bisect_right(self.numbers, number)
        end = None if limit is None else start + limit
        found = [
            (last, self.run, event)
            for last, event in zip(self.numbers[start:end], self.events[start:end], strict=True)
        ]
        if found and (rest := found[0][0] - number) < length(found[0][2]):
            last, run, event = found[0]
            found[0] = last, run, after(event, length(event) - rest)
        return found

    def mark_written(self, number: int) -> None:
        """Mark the events up to `number` as stored, and drop the oldest stored events."""
        self.written = number
        surplus = bisect_right(self.numbers, number) - self.most_stored
        if surplus > 0:
            self.first = self.numbers[surplus - 1] + 1
            del self.events[:surplus]
            del self.numbers[:surplus]
