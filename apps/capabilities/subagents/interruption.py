"""Work that somebody may stop by itself."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from apps.errors import ToolError

T = TypeVar("T")


class HelperStopped(ToolError):
    """A person stopped the helper, and nothing else of the answer."""


async def unless_stopped(work: Coroutine[Any, Any, T], wish: asyncio.Event, told: str) -> T:
    """The result of the work, which is cancelled when the wish is set. It is over on return.

    Raises `HelperStopped` with the text `told`.
    """
    task, waiting = asyncio.create_task(work), asyncio.create_task(wish.wait())
    try:
        await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
    finally:
        waiting.cancel()
        task.cancel()
        await asyncio.wait((task,))  # what it holds is given back before anything else goes on
        if not task.cancelled():
            task.exception()  # seen: an error on the way out changes nothing
    raise HelperStopped(told)
