"""Work that is done once for all who want it, and whose results are kept while there is room."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


class Once(Generic[T]):
    """Results by key; whoever wants one that is on its way waits for the same.

    At most `room` is kept, measured by `size`; what was not used for longest goes first. Failures
    are told to all who wait and then forgotten. Work that nobody waits for any more is cancelled.
    """

    def __init__(self, room: int, size: Callable[[T], int]) -> None:
        self.room = room
        self.size = size
        self.kept: dict[str, T] = {}
        self.used = 0
        self.flights: dict[str, Flight[T]] = {}

    async def get(self, key: str, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if key in self.kept:
            found = self.kept[key] = self.kept.pop(key)
            return found
        flight = self.flights.get(key)
        if flight is None:
            flight = self.flights[key] = Flight(asyncio.create_task(make()))
        flight.waiting += 1
        try:
            result = await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if flight.task.done() or not flight.waiting:
                flight.task.cancel()
                self.land(key, flight)
        return result

    def land(self, key: str, flight: Flight[T]) -> None:
        """Take a flight that is over off the list, and keep what it brought."""
        if self.flights.get(key) is not flight:
            return
        del self.flights[key]
        task = flight.task
        if task.done() and not task.cancelled() and task.exception() is None:
            self.keep(key, task.result())

    def keep(self, key: str, result: T) -> None:
        size = self.size(result)
        if size > self.room:
            return
        self.kept[key] = result
        self.used += size
        while self.used > self.room:
            oldest = next(iter(self.kept))
            self.used -= self.size(self.kept.pop(oldest))

    def forget(self, is_stale: Callable[[T], bool]) -> None:
        """Drop results that do not hold any more. What is on its way may be one, so it is not kept."""
        self.flights.clear()
        for key in [key for key, result in self.kept.items() if is_stale(result)]:
            self.used -= self.size(self.kept.pop(key))
