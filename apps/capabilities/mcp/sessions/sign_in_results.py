"""Stores the answers of users to sign-in requests, so that concurrent calls cause only one
request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable


class SignInResults:
    """The sign-in answers of one session. `count` is the number of answers, with which a call finds
    the answers that arrived while it ran.
    """

    def __init__(self) -> None:
        self.count = 0
        self.last: dict[Hashable, tuple[int, bool]] = {}
        self.lock = asyncio.Lock()

    async def since(self, began: int, about: Hashable, ask: Callable[[], Awaitable[bool]]) -> bool:
        """Return the newest answer about `about` if it arrived after the count `began`, otherwise
        call `ask`.
        """
        async with self.lock:
            number, answer = self.last.get(about, (0, False))
            if number <= began:
                answer = await ask()
                self.count += 1
                self.last[about] = (self.count, answer)
            return answer
