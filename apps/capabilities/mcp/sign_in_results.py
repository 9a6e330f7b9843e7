"""How people answered when they were asked to sign in: calls at the same time ask them once."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable


class SignInResults:
    """Of one session. A call compares `count` to see which answers came while it went on."""

    def __init__(self) -> None:
        self.count = 0
        self.last: dict[Hashable, tuple[int, bool]] = {}
        self.lock = asyncio.Lock()

    async def since(self, began: int, about: Hashable, ask: Callable[[], Awaitable[bool]]) -> bool:
        """The newest answer about something, if it came after `began`; else the answer to `ask`."""
        async with self.lock:
            number, answer = self.last.get(about, (0, False))
            if number <= began:
                answer = await ask()
                self.count += 1
                self.last[about] = (self.count, answer)
            return answer
