"""`python -m quickapps_site.serve`: Daphne on uvloop, set up for many streams at a time.

The import order is the point of this module: Twisted takes the event loop that is there when its
reactor is first imported, and Django's app `daphne` imports it.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from quickapps_site import environment as env
from quickapps_site import housekeeping
from quickapps_site.backpressure import FULL, bound_buffers, transport_of, until_taken
from quickapps_site.bodies import most_of
from quickapps_site.connections import bound_connections
from quickapps_site.tuning import (
    keep_content_types,
    lift_limit_of_sent_messages,
    use_direct_writes,
)
from quickapps_site.uploads import bound_bodies

if TYPE_CHECKING:
    from daphne.server import Server

logger = logging.getLogger("quickapps_site.serve")  # it is run as a program, under another name

Ending = Callable[[float], Awaitable[None]]

BACKLOG = 1024
"""Connections that may wait to be accepted; with Twisted's 50, a burst of 200 waits a second."""
BODY_PIECE_BYTES = 1024 * 1024
"""A larger request body reaches the application in several messages."""
GRACE_SECONDS = 3.0
"""How long answers that are being given may go on after the server was told to stop. Containers
are usually killed after ten seconds, and ending what does not end by itself takes its time too."""
FAREWELL_SECONDS = 0.5
CLEAN_UP_SECONDS = 4.0
"""For what was cancelled to let go, and again for connections to be closed."""


PREPARE = "--prepare"


def main(arguments: Sequence[str] = ()) -> int:
    """Serve; `--prepare` brings the database up to date first."""
    use_uvloop()
    set_django_up()  # imports the reactor
    from django.conf import settings
    from django.core.management import CommandError

    from quickapps_site import preparation, static_files

    try:
        if PREPARE in arguments:
            preparation.prepare()
    except CommandError as error:
        logger.error("%s", error)
        return 1
    if not settings.DEBUG:
        static_files.build()
    from quickapps_site.asgi import application  # its middleware lists the static files

    tell_of_content()
    housekeeping.start()
    allow_many_connections()
    keep_what_is_loaded()
    direct = env.boolean("DAPHNE_DIRECT_WRITES", True)
    bound_bodies(most_of(settings.BODY_LIMITS), settings.BODY_SECONDS)
    bound_connections(settings.HEADER_SECONDS, settings.MAX_CONNECTIONS)
    return serve(
        application, settings.HOST, settings.PORT, direct_writes=direct, ending=end_answers
    )


def set_django_up() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
    import django

    django.setup()


async def end_answers(seconds: float) -> None:
    """Those of the chat, which belong to no connection."""
    from apps.live.hub import HUB
    from apps.live.shutdown import close

    await close(HUB, seconds)


async def close_connections() -> None:
    """Say goodbye to MCP servers and end the programs among them; close what is pooled."""
    from apps.workspace.egress import lifetimes

    await lifetimes.close()


def tell_of_content() -> None:
    """Read the predefined content now, so that the log tells of what is broken at once.

    Raises `ImproperlyConfigured` when a whole layer is missing.
    """
    from django.core.exceptions import ImproperlyConfigured
    from django.db import DatabaseError, connection

    from apps.catalog.content.installed import installed
    from apps.catalog.content.review import missing_problems

    try:
        missing = missing_problems(installed())
    except DatabaseError as error:
        logger.error("Predefined content cannot be read from the database: %s", error)
        return
    finally:
        connection.close()
    if missing:
        raise ImproperlyConfigured(f"Predefined content: {' '.join(missing)}")


def use_uvloop() -> None:
    """Make it the event loop of the process, where it exists (not on Windows)."""
    try:
        import uvloop
    except ImportError:
        return
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())


def allow_many_connections() -> None:
    """A streamed answer is two open files, and the usual limit is 1024 of them."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems have no number for "without limit"
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def keep_what_is_loaded() -> None:
    """Code and models never go away: a garbage collection need not look through them."""
    gc.collect()
    gc.freeze()


async def end_nothing(seconds: float) -> None:
    """All that the application does belongs to its connections."""


def serve(
    application: Any, host: str, port: int, *, direct_writes: bool, ending: Ending = end_nothing
) -> int:
    """Serve until SIGTERM or SIGINT; the exit status is 1 when it could not listen.

    `ending` ends what goes on without a connection; it is told for how long that may go on.
    """
    server = make_server(application, host, port, direct_writes=direct_writes, ending=ending)
    if direct_writes:
        use_direct_writes()
        keep_content_types()
    lift_limit_of_sent_messages()
    bound_buffers()
    logger.info("Serving on http://%s:%d", host, port)
    server.run()
    return 1 if server.has_failed else 0


def make_server(
    application: Any, host: str, port: int, *, direct_writes: bool, ending: Ending = end_nothing
) -> Any:
    from autobahn.exception import Disconnected
    from daphne.endpoints import (
        build_endpoint_description_strings,
    )
    from daphne.server import Server
    from twisted.internet.defer import Deferred
    from twisted.web.http import Request

    write: Callable[[Any, bytes], None] = Request.write

    class GracefulServer(Server):  # type: ignore[misc]
        has_failed = False

        def listen_success(self, port: Any) -> None:
            super().listen_success(port)
            self.ports = [*getattr(self, "ports", ()), port]

        def listen_error(self, failure: Any) -> None:
            logger.error("Cannot listen on %s:%d: %s", host, port, failure.getErrorMessage())
            self.has_failed = True
            self.stop()

        async def handle_reply(self, protocol: Any, message: Any) -> None:
            """One more piece of an answer is by far the most frequent message."""
            if direct_writes and goes_on(message) and is_answering(self, protocol):
                write(protocol, message["body"])
                if FULL:
                    await until_taken(transport_of(protocol))
            else:
                transport = transport_of(protocol)  # after the last piece it is not known any more
                # A socket that is closing takes nothing any more; who writes to it is told soon.
                with suppress(Disconnected):
                    await super().handle_reply(protocol, message)
                await until_taken(transport)

        def kill_all_applications(self) -> Any:
            """Called once on the way out; the reactor waits for what is returned."""
            for listening in getattr(self, "ports", ()):
                listening.stopListening()
            return Deferred.fromFuture(asyncio.ensure_future(finish(self, ending)))

    endpoints = build_endpoint_description_strings(host=host, port=port)
    return GracefulServer(
        application,
        endpoints=[f"{endpoint}:backlog={BACKLOG}" for endpoint in endpoints],
        request_buffer_size=BODY_PIECE_BYTES,
        server_name="",
    )


def is_answering(server: Server, protocol: Any) -> bool:
    details = server.connections.get(protocol)
    return bool(
        details
        and "disconnected" not in details
        and protocol._response_started
        and not protocol.finished
        and protocol.channel is not None
    )


def goes_on(message: dict[str, Any]) -> bool:
    is_piece = message["type"] == "http.response.body"
    return is_piece and bool(message.get("more_body") and message.get("body"))


async def finish(server: Server, ending: Ending) -> None:
    """Let answers come to their end, cancel what does not, and close what was shared by all."""
    waiting = [let_finish(server, GRACE_SECONDS), ending(GRACE_SECONDS)]
    for problem in await asyncio.gather(*waiting, return_exceptions=True):
        if problem is not None:
            logger.error("Answers could not be ended properly", exc_info=problem)
    if rest := running(server):  # who was told just now that it is over says goodbye
        await asyncio.wait(rest, timeout=FAREWELL_SECONDS)
    rest = running(server)
    for task in rest:
        task.cancel()
    if rest:
        logger.info("%d connections are cut off because the server stops", len(rest))
        await asyncio.wait(rest, timeout=CLEAN_UP_SECONDS)
    try:
        async with asyncio.timeout(CLEAN_UP_SECONDS):
            await close_connections()
    except Exception:
        logger.exception("Connections could not be closed")


async def let_finish(server: Server, seconds: float) -> None:
    """Wait for HTTP answers."""
    end = time.monotonic() + seconds
    while answers := running(server, "WebRequest"):
        left = end - time.monotonic()
        if left <= 0:
            break
        await asyncio.wait(answers, timeout=left, return_when=asyncio.FIRST_COMPLETED)


def running(server: Server, protocol: str = "") -> list[asyncio.Future[Any]]:
    """The applications that have not ended, of one kind of protocol or of all."""
    found = [
        details["application_instance"]
        for connection, details in server.connections.items()
        if "application_instance" in details and protocol in {"", type(connection).__name__}
    ]
    return [task for task in found if not task.done()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
