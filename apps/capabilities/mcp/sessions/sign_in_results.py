"""Shares the user's answers to sign-in requests between concurrent calls, so that the user is asked
only once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable


class SignInResults:
    """The user's answers to the sign-in requests of one session. `count` is the number of answers
    so far.

    A call remembers this number at its start, to find answers that arrived in the meantime.
    """

    def __init__(self) -> None:
        self.count = 0
        self.last: dict[Hashable, tuple[int, bool]] = {}
        self.lock = asyncio.Lock()

    async def since(self, began: int, about: Hashable, ask: Callable[[], Awaitable[bool]]) -> bool:
        """Return the newest answer for the key `about` if it arrived after answer number `began`.
        Otherwise, call `ask`, and return its answer.
        """
        async with self.lock:
            number, answer = self.last.get(about, (0, False))
            if number <= began:
                answer = await ask()
                self.count += 1
                self.last[about] = (self.count, answer)
            return answer
