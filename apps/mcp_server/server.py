"""The MCP server: one for all applications, built on the SDK's low-level API."""

import re
import zlib
from typing import Any

from cryptography.fernet import InvalidToken
from mcp.server import Server, ServerRequestContext
from mcp.server.request_state import (
    InvalidRequestState,
    RequestStateBoundary,
    RequestStateSecurity,
)

from apps.doors.sealed_state import packed, unpacked
from apps.mcp_server.calls import call_tool
from apps.mcp_server.prompts import get_prompt, list_prompts
from apps.mcp_server.requests import admitted
from apps.mcp_server.resources import complete, list_resources, list_templates, read_resource
from apps.mcp_server.tools import list_tools
from apps.runs.asking_ledger import LONGEST

NAME = "quickapps"
VERSION = "1"
INSTRUCTIONS = (
    "Each tool is an application that answers a message. Send everything that it has to know: a "
    "call starts a new conversation."
)


_sealed = re.compile(r"[A-Za-z0-9_-]+={0,2}")


class SealedStates:
    """Encrypts `requestState` with the keys of this installation, so that every process can decrypt
    it.
    """

    def seal(self, payload: bytes) -> str:
        return packed(payload)

    def unseal(self, token: str) -> bytes:
        if not _sealed.fullmatch(token):  # Base64 decoding would ignore any text after the padding.
            raise InvalidRequestState("seal")
        try:
            return unpacked(token)
        except (InvalidToken, zlib.error, ValueError) as error:
            raise InvalidRequestState("seal") from error


def principal(context: ServerRequestContext[Any, Any]) -> str:
    """Return the only caller who may send back a `requestState`."""
    caller = admitted(context).caller
    return f"{caller.kind}:{caller.bucket}"


def make_server() -> Server[Any]:
    server = Server(
        NAME,
        version=VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        # No schema here contains a header. Without this, each call would list all tools.
        get_tool_input_schema=lambda name: None,
    )
    # The door creates the request's span itself, and the state contains the deadline for the
    # answer.
    security = RequestStateSecurity(codec=SealedStates(), ttl=LONGEST, bind_principal=principal)
    server.middleware[:] = [RequestStateBoundary(security, default_audience=NAME)]
    return server
