"""The answers of users who were asked to sign in. Concurrent calls share one question."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable


class SignInResults:
    """Collects the sign-in answers of one session. A call compares `count` to find the answers that
    arrived while it ran.
    """

    def __init__(self) -> None:
        self.count = 0
        self.last: dict[Hashable, tuple[int, bool]] = {}
        self.lock = asyncio.Lock()

    async def since(self, began: int, about: Hashable, ask: Callable[[], Awaitable[bool]]) -> bool:
        """Return the newest answer about `about` if it arrived after `began`, else call `ask`."""
        async with self.lock:
            number, answer = self.last.get(about, (0, False))
            if number <= began:
                answer = await ask()
                self.count += 1
                self.last[about] = (self.count, answer)
            return answer
