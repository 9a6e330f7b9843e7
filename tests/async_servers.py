"""The end of asyncio's servers."""

import asyncio

TURNS = 3
"""The turns of the event loop in which it accepts the connections of the listener's queue and begins
to handle them.
"""


async def accept_waiting() -> None:
    """Accept the connections that wait, because asyncio loses them, unclosed, if their server closes
    in between.
    """
    for _ in range(TURNS):
        await asyncio.sleep(0)
