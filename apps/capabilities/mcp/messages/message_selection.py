"""Skips the messages of an event stream that would make a call fail.

In the SDK, a call fails at the first invalid message. The SDK also treats any response on a call's
stream as the response to this call.
"""

import logging
from collections.abc import Callable
from functools import partial

import msgspec
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from apps.capabilities.mcp.messages.bare import Envelope, is_answer

logger = logging.getLogger(__name__)
NO_ID = (b"", b"null")
"""The IDs in responses of servers that could not read the request's ID."""


class MessageSelection:
    """Selects the messages that the SDK reads in one session, and logs the first skipped one."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.has_logged = False

    def of(self, request: bytes) -> Callable[[bytes], bool]:
        """Return a filter for the messages on this request's stream."""
        return partial(self.takes, id_of(request))

    def takes(self, asked: bytes, message: bytes) -> bool:
        """Return True if the SDK should read the message. `asked` is the ID of the stream's
        request, or b"".
        """
        if is_answer(message):
            if not asked or (found := id_of(message)) in (*NO_ID, asked):
                return True
            self.log(f"a response to another request ({found[:40]!r} instead of {asked!r})")
            return False
        try:
            jsonrpc_message_adapter.validate_json(message, by_name=False)
        except (ValidationError, RecursionError):
            self.log("a message that is not JSON-RPC")
            return False
        return True

    def log(self, what: str) -> None:
        if not self.has_logged:
            self.has_logged = True
            logger.warning("The MCP server %s sent %s, which is skipped.", self.title, what)


def id_of(message: bytes) -> bytes:
    """Return the ID of a message without quotes, or b"" if it has none."""
    try:
        written = msgspec.json.decode(message, type=Envelope).id
    except msgspec.DecodeError:
        return b""
    return b"" if written is msgspec.UNSET else bytes(written).strip(b'" \t\r\n')
