"""Opens and closes sessions with MCP servers. A separate task owns each session; any task may use
it.
"""

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from copy import copy
from dataclasses import replace
from typing import Any, Literal, TypeVar

import mcp_types as types
from mcp import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from apps.capabilities.mcp.messages.redaction import SentCredentials
from apps.capabilities.mcp.sessions.elicitation import Elicit
from apps.capabilities.mcp.sessions.endpoints import ServerEndpoint
from apps.capabilities.mcp.sessions.failures import (
    ENDED,
    ConnectionFailed,
    describe,
    is_closed,
    leaves,
    read_failure,
)
from apps.capabilities.mcp.sessions.processes import StderrTail
from apps.capabilities.mcp.sessions.revisions import HandshakeServers, refuses_handshake
from apps.capabilities.mcp.sessions.streams import open_streams
from apps.workspace.egress.request_context import CURRENT, RequestContext

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 8.0
"""The timeout in seconds for closing a connection. Ending a program takes up to three seconds, and
notifying a service up to five.
"""
LAST_WORDS_SECONDS = 2.0
LISTEN_AGAIN_SECONDS = (1.0, 5.0, 30.0, 60.0)
"""The pauses in seconds before attempts to reopen a lost notification stream."""
INFO = types.Implementation(name="QuickApps", version="1")

T = TypeVar("T")
LIST_CHANGES = (types.ToolListChangedNotification, types.ResourceListChangedNotification)


class SessionConnection:
    """A session with a server. The connections of a pool share `handshakes`.

    `changed` is called when the server reports that its lists changed. With `elicit`, the server
    may ask the user.
    """

    def __init__(
        self,
        endpoint: ServerEndpoint,
        changed: Callable[[], None],
        elicit: Elicit | None = None,
        handshakes: HandshakeServers | None = None,
    ) -> None:
        self.elicit = elicit
        self.handshakes = HandshakeServers() if handshakes is None else handshakes
        self.endpoint = endpoint
        self.changed = changed
        self.errors = StderrTail()
        self.sent = SentCredentials()
        self.client: Client | None = None
        self.failure: ConnectionFailed | None = None
        self.settled = asyncio.Event()
        self.stopping = asyncio.Event()
        self.opened_at = 0.0
        self.active_requests = 0
        self.is_lost = False
        self.task: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return self.client is not None and not self.stopping.is_set()

    @property
    def is_over(self) -> bool:
        return self.task is not None and self.task.done()

    async def open(self, context: RequestContext, seconds: float) -> None:
        """Open the session. Raises `ConnectionFailed` if it cannot be opened."""
        self.sent.add_named(context.headers.items())
        if self.endpoint.program is not None:
            self.sent.add_named(self.endpoint.program.environment)
        work = self.run(context, seconds)
        # The task must not inherit the context of the first run, because later runs use the session
        # too.
        self.task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        await self.settled.wait()
        if self.failure is not None:
            raise copy(self.failure)

    async def run(self, context: RequestContext, seconds: float) -> None:
        CURRENT.set(context)
        context.opens = True
        try:
            error = await self.serve_either(context, seconds)
            if error is not None and (self.failure is None or self.failure.text == ENDED):
                self.failure = self.with_last_words(read_failure(error, context))
        finally:
            self.client = None
            self.stopping.set()
            self.settled.set()

    async def serve_either(self, context: RequestContext, seconds: float) -> BaseException | None:
        """Run the session with the newer protocol revision if possible, otherwise with the older
        revision. Return the error that ended the session, if any.

        The older revision is tried first for stdio and SSE, for servers that needed it within the
        last hour, and if the server may ask the user. Many tools ask questions only in the older
        revision.
        """
        url, known = self.endpoint.url, self.handshakes
        is_older = self.endpoint.protocol != "streamable_http" or self.endpoint.seat
        if not is_older and url not in known:
            return await self.serve("auto", context, seconds)
        error = await self.serve("legacy", context, seconds)
        if error is None or not refuses_handshake(leaves(error)):
            return error
        known.discard(url)
        context.forget_outcome()
        return await self.serve("auto", context, seconds)

    async def serve(
        self, mode: Literal["legacy", "auto"], context: RequestContext, seconds: float
    ) -> BaseException | None:
        """Stay connected until `stopping` is set. Return the error that ended the session."""
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
                # Validation with a server's schema may never end, so `OutputSchema` validates
                # results within limits.
                client.session.validate_tool_result = leave_unchecked  # type: ignore[method-assign]
                self.opened_at = asyncio.get_running_loop().time()
                context.opens = False
                context.forget_outcome()  # The server may have rejected the newer revision.
                is_modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
                if mode == "auto" and not is_modern:
                    self.handshakes.add(self.endpoint.url)
                if is_modern and reports_changes(client.server_capabilities):
                    listening = asyncio.create_task(self.listen(client, context))
                    stack.push_async_callback(cancel, listening)
                self.settled.set()
                await self.stopping.wait()
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - tasks of the SDK raise anything
            return error
        return None

    async def listen(self, client: Client, context: RequestContext) -> None:
        """Subscribe to changes to the server's lists. The newer protocol revision requires this."""
        CURRENT.set(replace(context.fresh(), listens=True))
        for seconds in (*LISTEN_AGAIN_SECONDS, None):
            try:
                async with client.listen(
                    tools_list_changed=True, resources_list_changed=True
                ) as changes:
                    async for _ in changes:
                        self.changed()
                return
            except (MCPError, SubscriptionLost) as error:
                logger.info(
                    "Lost the subscription to changes from %s: %s",
                    self.endpoint.title,
                    describe(error),
                )
            if seconds is None:
                return
            await asyncio.sleep(seconds)
            self.changed()  # The lists may have changed in the meantime.

    def end(self, failure: ConnectionFailed) -> None:
        if self.stopping.is_set() or self.client is None:
            return  # The error from opening or closing the session is more precise.
        self.failure = self.failure or self.with_last_words(failure)
        self.stopping.set()

    def abort(self, context: RequestContext) -> None:
        """End the session because a message was not delivered. Otherwise, a request in that message
        would wait forever.
        """
        if self.stopping.is_set():
            return
        self.failure = self.failure or read_failure(ConnectionError("not delivered"), context)
        self.stopping.set()
        if self.client is None and self.task is not None:
            self.task.cancel()  # The handshake is still waiting.

    def with_last_words(self, failure: ConnectionFailed) -> ConnectionFailed:
        failure.last_words = failure.last_words or self.errors.text
        return failure

    async def on_message(self, message: Any) -> None:
        if isinstance(message, LIST_CHANGES):
            self.changed()

    async def ask(self, context: RequestContext, question: Callable[[Client], Awaitable[T]]) -> T:
        """Send a request with the session's client. Raises `ConnectionFailed` or `TimeoutError` if
        it fails.
        """
        client = self.client
        if client is None:
            raise copy(self.failure or ConnectionFailed("the connection was closed."))
        self.sent.add_named(context.headers.items())
        token = CURRENT.set(context)
        self.active_requests += 1
        try:
            return await question(client)
        except TimeoutError:
            raise
        except Exception as error:
            raise await self.explain(error, context) from error
        finally:
            CURRENT.reset(token)
            self.active_requests -= 1
            if self.is_lost:
                self.end_unused()

    def end_unused(self) -> None:
        """End the session as soon as no request is running in it."""
        self.is_lost = True
        if not self.active_requests:
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


def reports_changes(capabilities: types.ServerCapabilities) -> bool:
    lists = (capabilities.tools, capabilities.resources)
    return any(one is not None and one.list_changed for one in lists)


async def cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


async def leave_unchecked(name: str, result: types.CallToolResult) -> None:
    """Accept every result, in place of the SDK's validation."""
