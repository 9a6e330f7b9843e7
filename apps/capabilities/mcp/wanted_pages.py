"""Calls that a server makes only after the person has opened a page, to sign in or to agree.

The server refuses the call with the addresses. The person opens them and says when they are done;
then the call is made once more.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from apps.capabilities.mcp.connection_failures import ConnectionFailed
from apps.capabilities.mcp.elicitation import MOST_AT_ONCE, ElicitationDesk, GoingCall
from apps.capabilities.mcp.elicitation_forms import NotAskable

NOT_OPENED = "{} The person did not open the page that it needs."

T = TypeVar("T")


async def call_after_pages(
    desk: ElicitationDesk, going: GoingCall, call: Callable[[], Awaitable[T]]
) -> T:
    """Make the call, where somebody can be asked once more after the pages that it needs.

    Raises `ConnectionFailed`.
    """
    try:
        return await call()
    except ConnectionFailed as failure:
        is_askable = "elicitation" in going.ledger.can_ask
        if not is_askable or not 0 < len(failure.pages) <= MOST_AT_ONCE:
            raise
        try:
            if not await desk.show_pages(going, failure.pages):
                raise replace(failure, text=NOT_OPENED.format(failure.text)) from failure
        except NotAskable:
            raise failure from None
    return await call()
