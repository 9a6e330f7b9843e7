"""One session with one server. A task of its own enters and leaves it; any task may use it."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from copy import copy
from typing import Any, Literal, TypeVar

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError

from apps.capabilities.mcp.connection_failures import (
    ENDED,
    ConnectionFailed,
    is_closed,
    leaves,
    read_failure,
)
from apps.capabilities.mcp.elicitation import Elicit
from apps.capabilities.mcp.endpoints import Endpoint
from apps.capabilities.mcp.processes import StderrTail
from apps.capabilities.mcp.redaction import SentCredentials
from apps.capabilities.mcp.streams import open_streams
from apps.workspace.egress.request_context import CURRENT, RequestContext

CLOSE_SECONDS = 8.0
"""For a program that has to be killed (three times a second), and telling a service (five)."""
LAST_WORDS_SECONDS = 2.0
INFO = types.Implementation(name="QuickApps", version="1")

T = TypeVar("T")
LIST_CHANGES = (types.ToolListChangedNotification, types.ResourceListChangedNotification)


class Connection:
    """`changed` is called when the server says that its lists have changed. With `elicit`, the
    server is told that it may ask a person.
    """

    def __init__(
        self, endpoint: Endpoint, changed: Callable[[], None], elicit: Elicit | None = None
    ) -> None:
        self.elicit = elicit
        self.endpoint = endpoint
        self.changed = changed
        self.errors = StderrTail()
        self.sent = SentCredentials()
        self.client: Client | None = None
        self.failure: ConnectionFailed | None = None
        self.settled = asyncio.Event()
        self.stopping = asyncio.Event()
        self.opened_at = 0.0
        self.asked = 0
        self.is_lost = False
        self.task: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return self.client is not None and not self.stopping.is_set()

    @property
    def is_over(self) -> bool:
        return self.task is not None and self.task.done()

    async def open(self, context: RequestContext, seconds: float) -> None:
        """Raises `ConnectionFailed`."""
        self.sent.add_named(context.headers.items())
        if self.endpoint.program is not None:
            self.sent.add_named(self.endpoint.program.environment)
        work = self.run(context, seconds)
        # Later runs must not see anything of the run that happens to be first.
        self.task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        await self.settled.wait()
        if self.failure is not None:
            raise copy(self.failure)

    async def run(self, context: RequestContext, seconds: float) -> None:
        CURRENT.set(context)
        try:
            error = await self.serve("legacy", seconds)
            if error is not None and is_modern_only(error):
                error = await self.serve("auto", seconds)
            if error is not None and (self.failure is None or self.failure.text == ENDED):
                self.failure = self.with_last_words(read_failure(error, context))
        finally:
            self.client = None
            self.stopping.set()
            self.settled.set()

    async def serve(self, mode: Literal["legacy", "auto"], seconds: float) -> BaseException | None:
        """Connect, and stay connected until `stopping` is set; return what went wrong.

        The older handshake comes first: only with it a server keeps a session for its client and
        tells when its tools change. A server that speaks only the newer one refuses by a code.
        """
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(seconds):
                    client = Client(
                        open_streams(self.endpoint, self.errors, self.end, self.abort, self.sent),
                        mode=mode,
                        cache=None,
                        message_handler=self.on_message,
                        client_info=INFO,
                        elicitation_callback=self.elicit,
                    )
                    self.client = await stack.enter_async_context(client)
                # A server's schema may take forever to check; `OutputSchema` does it in bounds.
                client.session.validate_tool_result = leave_unchecked  # type: ignore[method-assign]
                self.opened_at = asyncio.get_running_loop().time()
                self.settled.set()
                await self.stopping.wait()
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - tasks of the SDK raise anything
            return error
        return None

    def end(self, failure: ConnectionFailed) -> None:
        if self.stopping.is_set() or self.client is None:
            return  # it is being closed or opened, and that tells more
        self.failure = self.failure or self.with_last_words(failure)
        self.stopping.set()

    def abort(self, context: RequestContext) -> None:
        """A message was lost, so there will be no answer to it."""
        if self.stopping.is_set():
            return
        self.failure = self.failure or read_failure(ConnectionError("not delivered"), context)
        self.stopping.set()
        if self.client is None and self.task is not None:
            self.task.cancel()  # the handshake is what waits

    def with_last_words(self, failure: ConnectionFailed) -> ConnectionFailed:
        failure.last_words = failure.last_words or self.errors.text
        return failure

    async def on_message(self, message: Any) -> None:
        if isinstance(message, LIST_CHANGES):
            self.changed()

    async def ask(self, context: RequestContext, question: Callable[[Client], Awaitable[T]]) -> T:
        """Raises `ConnectionFailed`, `TimeoutError`."""
        client = self.client
        if client is None:
            raise copy(self.failure or ConnectionFailed("the connection was closed."))
        self.sent.add_named(context.headers.items())
        token = CURRENT.set(context)
        self.asked += 1
        try:
            return await question(client)
        except TimeoutError:
            raise
        except Exception as error:
            raise await self.explain(error, context) from error
        finally:
            CURRENT.reset(token)
            self.asked -= 1
            if self.is_lost:
                self.end_unused()

    def end_unused(self) -> None:
        """End the session as soon as nothing is asked in it."""
        self.is_lost = True
        if not self.asked:
            self.stopping.set()

    async def explain(self, error: Exception, context: RequestContext) -> ConnectionFailed:
        if is_closed(error) and not context.failure and self.task is not None:
            await asyncio.wait([self.task], timeout=LAST_WORDS_SECONDS)
            if self.failure is not None:
                return copy(self.failure)
        return read_failure(error, context)

    async def close(self) -> None:
        self.stopping.set()
        task = self.task
        if task is None or task is asyncio.current_task():
            return
        await asyncio.wait([task], timeout=CLOSE_SECONDS)
        if not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=CLOSE_SECONDS)


async def leave_unchecked(name: str, result: types.CallToolResult) -> None:
    """Stands in for the check of results by the SDK."""


def is_modern_only(error: BaseException) -> bool:
    return any(
        isinstance(leaf, MCPError) and leaf.code == types.UNSUPPORTED_PROTOCOL_VERSION
        for leaf in leaves(error)
    )
