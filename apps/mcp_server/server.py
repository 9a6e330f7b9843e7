"""Defines the MCP server for all applications. It uses the SDK's low-level API."""

import re
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from cryptography.fernet import InvalidToken
from mcp.server import Server, ServerRequestContext
from mcp.server.request_state import (
    InvalidRequestState,
    RequestStateBoundary,
    RequestStateSecurity,
)
from mcp.shared.exceptions import MCPError

from apps.doors.answer_headers import failure_headers
from apps.doors.sealed_state import packed, unpacked
from apps.mcp_server.calls import call_tool
from apps.mcp_server.content import failure_error
from apps.mcp_server.prompts import get_prompt, list_prompts
from apps.mcp_server.requests import admitted
from apps.mcp_server.resources import complete, list_resources, list_templates, read_resource
from apps.mcp_server.tasks import (
    EXTENSION,
    TaskParams,
    UpdateParams,
    cancel_task,
    get_task,
    update_task,
)
from apps.mcp_server.tools import list_tools
from apps.runs.asking_ledger import LONGEST
from apps.runs.failures import WITH_LIMITS, failure

NAME = "quickapps"
VERSION = "1"
INSTRUCTIONS = (
    "Each tool is an application that answers a message. Send everything that it has to know: a "
    "call starts a new conversation."
)

Params = TypeVar("Params")
Result = TypeVar("Result")
Handle = Callable[[ServerRequestContext[Any, Any], Params], Awaitable[Result]]

_sealed = re.compile(r"[A-Za-z0-9_-]+={0,2}")


class SealedStates:
    """Encrypts `requestState` with the installation's keys, so that any process can decrypt it."""

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
    """Return the ID of the caller to whom a `requestState` is bound."""
    caller = admitted(context).caller
    return f"{caller.kind}:{caller.bucket}"


def guarded(handle: Handle[Params, Result]) -> Handle[Params, Result]:
    """Decorate a handler so that it raises only `MCPError`, because the SDK sends the text of every
    error to the client.
    """

    async def guard(context: ServerRequestContext[Any, Any], params: Params) -> Result:
        try:
            return await handle(context, params)
        except MCPError:
            raise
        except Exception as error:
            found = failure(error, WITH_LIMITS)
            admitted(context).answer_headers.extend(failure_headers(found, error))
            raise failure_error(found) from error

    return guard


def make_server() -> Server[Any]:
    handle_call: Any = guarded(call_tool)  # The SDK's type excludes results from extensions.
    server = Server(
        NAME,
        version=VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=guarded(list_tools),
        on_call_tool=handle_call,
        on_list_resources=guarded(list_resources),
        on_list_resource_templates=guarded(list_templates),
        on_read_resource=guarded(read_resource),
        on_list_prompts=guarded(list_prompts),
        on_get_prompt=guarded(get_prompt),
        on_completion=guarded(complete),
        # No schema here contains a header. Without this, each call would list all tools.
        get_tool_input_schema=lambda name: None,
    )
    server.extensions[EXTENSION] = {}
    server.add_request_handler("tasks/get", TaskParams, guarded(get_task))
    server.add_request_handler("tasks/update", UpdateParams, guarded(update_task))
    server.add_request_handler("tasks/cancel", TaskParams, guarded(cancel_task))
    # The consumer creates the request's span itself, and the state contains the deadline for the
    # answer.
    security = RequestStateSecurity(codec=SealedStates(), ttl=LONGEST, bind_principal=principal)
    server.middleware[:] = [RequestStateBoundary(security, default_audience=NAME)]
    return server
