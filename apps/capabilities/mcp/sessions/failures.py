"""Describes failed connections to MCP servers in sentences for users."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from http import HTTPStatus

import msgspec
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    PARSE_ERROR,
    URL_ELICITATION_REQUIRED,
    ElicitRequestURLParams,
)
from pydantic import ValidationError

from apps.capabilities.wrappers.value_texts import one_line, shorten_text
from apps.errors import EgressRefused, InitializationIssue, ToolError, Unsupported
from apps.workspace.egress.challenges import challenge_field
from apps.workspace.egress.request_context import RequestContext, SSEError

MESSAGE_CHARACTERS = 500
DETAIL_CHARACTERS = 4_000
ENDED = "the server ended the connection."
"""The failure text for a connection that ended without an exception."""
TERMINATED = "Session terminated"
NO_SERVER = (
    "the URL does not behave as an MCP server; probably there is none at it (404), or the "
    "session has ended."
)
UNPARSED = "Failed to parse "
"""The prefix of the SDK's message about input that it cannot parse."""
VERSION = "Unsupported protocol version from the server: "
"""The prefix of the SDK's message about an unsupported protocol version."""
VERSION_CHARACTERS = 40
CONNECTION = "connection"
SERVER_CODES = range(-32099, -31999)
"""The JSON-RPC error codes whose meaning each server defines itself."""
STAND_INS = frozenset({"Server returned an error response", "Not Found"})
"""The SDK reports HTTP errors with these texts. The request context contains the status code."""


@dataclass(eq=False)
class ConnectionFailed(Exception):
    """Raised if a connection or request fails.

    A stored failure is raised as a copy, because each raise extends the traceback.
    """

    text: str
    """The reason for the failure, in one sentence."""
    _: KW_ONLY
    kind: str = CONNECTION
    details: str = ""
    """The causes of the failure, one per line."""
    last_words: str = ""
    """The end of a program's stderr output, or the reason why it cannot be started. Only
    administrators see this text.
    """
    needs_sign_in: bool = False
    needs_scope: bool = False
    """True if the user's sign-in lacks a scope."""
    challenge: str = field(default="", repr=False)
    """The `WWW-Authenticate` header of the response."""
    timed_out: bool = False
    status: int = 0
    """The HTTP status if the server rejected the request, otherwise 0."""
    retry_after: float | None = None
    pages: tuple[ElicitRequestURLParams, ...] = ()
    """The pages that the user must open before the call is possible."""

    @property
    def refuses_account(self) -> bool:
        """Return True if the failure may be resolved by signing in again."""
        return self.needs_sign_in or self.needs_scope

    def message(self, label: str) -> str:
        """Return a sentence about the failure for users. `label` is the name of the toolset."""
        if self.needs_sign_in:
            return f"Authentication required for toolset '{label}'"
        prefix = {"http": "HTTP error for", "mcp": "MCP error for"}.get(self.kind, "Toolset")
        return f"{prefix} {label}: {self.text}"

    def issue(self, label: str) -> InitializationIssue:
        return InitializationIssue(self.message(label), details=self.details)


def read_failure(error: BaseException, context: RequestContext) -> ConnectionFailed:
    found = list(leaves(error))
    details = shorten_text("\n".join(map(describe, found)), DETAIL_CHARACTERS)
    failed = partial(ConnectionFailed, details=details)
    known = next((leaf for leaf in found if isinstance(leaf, ConnectionFailed)), None)
    if known is not None:
        return known
    if context.status == HTTPStatus.UNAUTHORIZED:
        challenge = context.challenge
        return failed(
            "it requires a sign-in.", kind="http", needs_sign_in=True, challenge=challenge
        )
    if context.needs_sign_in:
        return missing_scope(context, details)
    first = found[0]
    if context.failure:
        return failed(context.failure, timed_out=context.timed_out)
    says_more = isinstance(first, MCPError) and first.message not in STAND_INS
    if context.status and not says_more:
        refused = partial(failed, status=context.status, retry_after=context.retry_after)
        return refused(context.status_line, kind="http")
    text, kind = sentence_of(first)
    return failed(
        text, kind=kind, timed_out=isinstance(first, TimeoutError), pages=required_pages(first)
    )


def missing_scope(context: RequestContext, details: str) -> ConnectionFailed:
    scope = one_line(challenge_field(context.challenge, "scope"), MESSAGE_CHARACTERS)
    lack = f"; the token lacks the scope {scope!r}." if scope else "; the token lacks a scope."
    return ConnectionFailed(
        f"{context.status_line}{lack}",
        kind="http",
        details=details,
        status=context.status,
        needs_scope=True,
        challenge=context.challenge,
    )


def required_pages(error: BaseException) -> tuple[ElicitRequestURLParams, ...]:
    if not isinstance(error, MCPError) or error.code != URL_ELICITATION_REQUIRED:
        return ()
    try:
        return tuple(UrlElicitationRequiredError.from_error(error.error).elicitations)
    except Exception:  # noqa: BLE001 - a server may send anything for its list
        return ()


def sentence_of(error: BaseException) -> tuple[str, str]:
    """Return a sentence about the error, and the kind of failure."""
    if is_unreadable(error):
        return "the server's response does not follow the protocol.", CONNECTION
    match error:
        case MCPError() if error.message == TERMINATED:
            return NO_SERVER, "mcp"
        case MCPError() if is_closed(error):
            return ENDED, CONNECTION
        case MCPError():
            return one_line(error.message, MESSAGE_CHARACTERS) or "without a message", "mcp"
        case TimeoutError():
            return "the server timed out.", CONNECTION
        case SSEError():
            return "the server sent an event that is too large or cannot be read.", CONNECTION
        case EgressRefused() | ToolError() | Unsupported():
            return str(error), CONNECTION
        case _:
            return refused_version(error) or "the connection failed.", CONNECTION


def refused_version(error: BaseException) -> str:
    """Return a sentence if the error is about an unsupported protocol version, otherwise ""."""
    if not (isinstance(error, RuntimeError) and str(error).startswith(VERSION)):
        return ""
    version = one_line(str(error).removeprefix(VERSION), VERSION_CHARACTERS)
    return f"the server uses an unsupported version of MCP: {version}"


def has_lost_session(context: RequestContext) -> bool:
    """Return True if the server rejected the request because it no longer knows the session.

    Status 404 always means this. Status 400 means it only if the error is about the session. Only
    the first response counts, because a later one may reject our answer to the server's question.
    """
    if context.first_status == HTTPStatus.BAD_REQUEST:
        return is_about_session(context.refusal)
    return context.first_status == HTTPStatus.NOT_FOUND


def is_about_session(refusal: bytes) -> bool:
    """Return True if the body of a rejection is about the session.

    Servers use different codes for such errors, but never the code for invalid arguments.
    """
    try:
        error = msgspec.json.decode(refusal, type=Refusal).error
    except (msgspec.DecodeError, UnicodeError):
        return False
    is_refused = error.code == INVALID_REQUEST or error.code in SERVER_CODES
    return is_refused and "session" in error.message.lower()


class RefusalError(msgspec.Struct):
    code: int
    message: str


class Refusal(msgspec.Struct):
    """A JSON-RPC error, possibly without an `id`. The SDK rejects an error without an `id`."""

    error: RefusalError


def is_unreadable(error: BaseException) -> bool:
    if isinstance(error, MCPError):
        return error.code == PARSE_ERROR and error.message.startswith(UNPARSED)
    return isinstance(error, ValidationError)


def is_closed(error: BaseException) -> bool:
    """Return True if the error suggests that the session ended during the request. A server may use
    the same error code and message for other failures.
    """
    return (
        isinstance(error, MCPError)
        and error.code == CONNECTION_CLOSED
        and error.message == "Connection closed"
    )


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions in nested exception groups, or the exception itself if it is not a
    group.
    """
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def describe(error: BaseException) -> str:
    """Describe the error on one line, without the URLs and server texts that library errors can
    contain.
    """
    if isinstance(error, MCPError) and not is_unreadable(error):
        return f"MCPError: {one_line(error.message, MESSAGE_CHARACTERS)}"
    if isinstance(error, ConnectionFailed):
        return error.details or error.text
    return type(error).__name__
