"""Shares the user's answers to sign-in requests between concurrent calls."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable


class SignInResults:
    """The user's answers to the sign-in requests of one session.

    When a call starts, it stores the number of answers, so that it can recognize later answers.
    """

    def __init__(self) -> None:
        self.count = 0
        self.last: dict[Hashable, tuple[int, bool]] = {}
        self.lock = asyncio.Lock()

    async def since(self, began: int, about: Hashable, ask: Callable[[], Awaitable[bool]]) -> bool:
        """Return the answer for the key `about` if it arrived after answer number `began`.
        Otherwise, call `ask`.
        """
        async with self.lock:
            number, answer = self.last.get(about, (0, False))
            if number <= began:
                answer = await ask()
                self.count += 1
                self.last[about] = (self.count, answer)
            return answer
