"""How a connection to a server fails, and in what words a toolset's report tells it."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
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

from apps.capabilities.wrappers.texts import one_line, shortened
from apps.errors import EgressRefused, InitializationIssue, ToolError, Unsupported
from apps.workspace.egress.request_context import RequestContext, SSEError

MESSAGE_CHARACTERS = 500
DETAIL_CHARACTERS = 4_000
ENDED = "the server ended the connection."
"""All that is known when messages stop coming; an exception that follows knows more."""
TERMINATED = "Session terminated"
NO_SERVER = (
    "the address does not behave as an MCP server; probably there is none at it (404), or the "
    "session has ended."
)
UNPARSED = "Failed to parse "
"""Begins what the SDK says of a message that it cannot read; what follows has its own words."""
VERSION = "Unsupported protocol version from the server: "
"""Begins what the SDK says of a version that it does not speak, which follows."""
VERSION_CHARACTERS = 40
CONNECTION = "connection"
SERVER_CODES = range(-32099, -31999)
"""Of JSON-RPC; a server decides what they mean."""
STAND_INS = frozenset({"Server returned an error response", "Not Found"})
"""What the SDK says for an HTTP status; the request context knows which it was."""


@dataclass(eq=False)
class ConnectionFailed(Exception):
    """`text` is a sentence about the server, `details` what lay under it.

    `last_words` are what a program wrote to stderr: for administrators only. `status` is the HTTP
    status of a refusal, 0 for any other failure. `pages` are what the person has to open before the
    call can be made. One that is kept is raised as a copy: it would gather a trace with each time it
    is raised.
    """

    text: str
    _: KW_ONLY
    kind: str = CONNECTION
    details: str = ""
    last_words: str = ""
    needs_sign_in: bool = False
    timed_out: bool = False
    status: int = 0
    retry_after: float | None = None
    pages: tuple[ElicitRequestURLParams, ...] = ()

    def message(self, label: str) -> str:
        """For the report about the toolset `label`."""
        if self.needs_sign_in:
            return f"Authentication required for toolset '{label}'"
        prefix = {"http": "HTTP error for", "mcp": "MCP error for"}.get(self.kind, "Toolset")
        return f"{prefix} {label}: {self.text}"

    def issue(self, label: str) -> InitializationIssue:
        return InitializationIssue(self.message(label), details=self.details)


def read_failure(error: BaseException, context: RequestContext) -> ConnectionFailed:
    found = list(leaves(error))
    details = shortened("\n".join(map(describe, found)), DETAIL_CHARACTERS)
    failed = partial(ConnectionFailed, details=details)
    known = next((leaf for leaf in found if isinstance(leaf, ConnectionFailed)), None)
    if known is not None:
        return known
    if context.status == HTTPStatus.UNAUTHORIZED:
        return failed("it asks for a sign-in.", kind="http", needs_sign_in=True)
    first = found[0]
    if context.failure:
        return failed(context.failure, timed_out=context.timed_out)
    says_more = isinstance(first, MCPError) and first.message not in STAND_INS
    if context.status and not says_more:
        refused = partial(failed, status=context.status, retry_after=context.retry_after)
        return refused(context.status_line, kind="http")
    text, kind = sentence_of(first)
    return failed(
        text, kind=kind, timed_out=isinstance(first, TimeoutError), pages=wanted_pages(first)
    )


def wanted_pages(error: BaseException) -> tuple[ElicitRequestURLParams, ...]:
    if not isinstance(error, MCPError) or error.code != URL_ELICITATION_REQUIRED:
        return ()
    try:
        return tuple(UrlElicitationRequiredError.from_error(error.error).elicitations)
    except Exception:  # noqa: BLE001 - a server may send anything for its list
        return ()


def sentence_of(error: BaseException) -> tuple[str, str]:
    """What is wrong with the server, and the kind of failure."""
    if is_unreadable(error):
        return "the server's answer does not follow the protocol.", CONNECTION
    match error:
        case MCPError() if error.message == TERMINATED:
            return NO_SERVER, "mcp"
        case MCPError() if is_closed(error):
            return ENDED, CONNECTION
        case MCPError():
            return one_line(error.message, MESSAGE_CHARACTERS) or "without a message", "mcp"
        case TimeoutError():
            return "the server did not answer in time.", CONNECTION
        case SSEError():
            return "the server sent an event that is too large, or nonsense.", CONNECTION
        case EgressRefused() | ToolError() | Unsupported():
            return str(error), CONNECTION
        case _:
            return refused_version(error) or "the connection failed.", CONNECTION


def refused_version(error: BaseException) -> str:
    """The sentence about a server of another version; "" for any other error."""
    if not (isinstance(error, RuntimeError) and str(error).startswith(VERSION)):
        return ""
    version = one_line(str(error).removeprefix(VERSION), VERSION_CHARACTERS)
    return f"the server speaks a version of MCP that is not supported: {version}"


def has_lost_session(context: RequestContext) -> bool:
    """Whether the server did nothing because it does not know the session any more.

    A 404 always says so, a 400 in words. Only the first answer counts: a later one may refuse an
    answer of ours to what the server asked meanwhile.
    """
    if context.first_status == HTTPStatus.BAD_REQUEST:
        return is_about_session(context.refusal)
    return context.first_status == HTTPStatus.NOT_FOUND


def is_about_session(refusal: bytes) -> bool:
    """Servers use codes of their own for it, never those of wrong arguments."""
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
    """An error of JSON-RPC. The SDK takes none without an `id`, which servers leave out of these."""

    error: RefusalError


def is_unreadable(error: BaseException) -> bool:
    if isinstance(error, MCPError):
        return error.code == PARSE_ERROR and error.message.startswith(UNPARSED)
    return isinstance(error, ValidationError)


def is_closed(error: BaseException) -> bool:
    """Whether the session ended under a question; servers use the same code for errors of theirs."""
    return (
        isinstance(error, MCPError)
        and error.code == CONNECTION_CLOSED
        and error.message == "Connection closed"
    )


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group of groups, in order; the error itself if it is none."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def describe(error: BaseException) -> str:
    """One line for users: texts of libraries have addresses and what servers sent."""
    if isinstance(error, MCPError) and not is_unreadable(error):
        return f"MCPError: {one_line(error.message, MESSAGE_CHARACTERS)}"
    if isinstance(error, ConnectionFailed):
        return error.details or error.text
    return type(error).__name__
