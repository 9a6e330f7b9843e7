"""Stores the answers of users to sign-in requests, so that concurrent calls cause only one
request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable


class SignInResults:
    """The users' answers to the sign-in requests of one session. `count` is the number of answers
    so far.

    A call compares it with the number at its start, to find the answers that arrived in the
    meantime.
    """

    def __init__(self) -> None:
        self.count = 0
        self.last: dict[Hashable, tuple[int, bool]] = {}
        self.lock = asyncio.Lock()

    async def since(self, began: int, about: Hashable, ask: Callable[[], Awaitable[bool]]) -> bool:
        """Return the newest answer for the key `about` if more than `began` answers had arrived
        with it. Otherwise, call `ask` and return its answer.
        """
        async with self.lock:
            number, answer = self.last.get(about, (0, False))
            if number <= began:
                answer = await ask()
                self.count += 1
                self.last[about] = (self.count, answer)
            return answer
