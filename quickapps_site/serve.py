"""Runs the site on uvicorn, for many concurrent streams: `python -m quickapps_site.serve`."""

import gc
import logging
import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import django
from django.conf import settings
from django.core.management import CommandError
from django.db import connection

from apps.workspace.local.files import file_threads
from quickapps_site.server.graceful_server import (
    GracefulServer,
    Shutdown,
    listen,
    make_config,
    url_host,
)

# The logger's name is not `__name__`, because the module has a different name when it runs as a
# program.
logger = logging.getLogger("quickapps_site.serve")

PREPARE = "--prepare"
ROLES = {"--web": "web", "--worker": "worker"}
"""Maps command line flags to values of the setting `ROLE`."""
ONE_PROCESS = (
    "ROLE is %r, but with SQLite one process serves the site and runs the background jobs: start it "
    "without --web, --worker and ROLE, or set DATABASE_URL to a PostgreSQL database."
)
YOUNG_OBJECTS = 10_000
"""The number of new objects, a few megabytes, that triggers a garbage collection."""


def main(arguments: Sequence[str] = ()) -> int:
    """Serve the site until it is stopped, and return the exit status. `--prepare` first updates the
    database; `--web` and `--worker` set `ROLE`.
    """
    # Garbage collection is disabled until all modules are loaded, because loading them produces
    # hardly any garbage.
    gc.disable()
    for flag in ROLES.keys() & set(arguments):
        os.environ["ROLE"] = ROLES[flag]
    set_django_up()
    if settings.ROLE != "all" and connection.vendor == "sqlite":
        logger.error(ONE_PROCESS, settings.ROLE)
        return 1
    if status := run_in_child(partial(make_ready, prepare=PREPARE in arguments)):
        return status
    # These modules need Django, and the middleware lists the static files, which exist by now.
    from apps.live.process.health import announce_end
    from quickapps_site.asgi import application
    from quickapps_site.server.lifespan import end_answers
    from quickapps_site.startup import first_look

    first_look.check_predefined_content()
    first_look.check_installation()
    if settings.ROLE != "worker":
        first_look.offer_setup(settings.HOST, settings.PORT)
    file_threads.start()
    allow_many_connections()
    freeze_loaded_objects()
    return serve(
        application,
        settings.HOST,
        settings.PORT,
        trusted_proxies=settings.TRUSTED_PROXIES,
        stopping=Shutdown(
            settings.SHUTDOWN_GRACE_SECONDS,
            settings.SHUTDOWN_DRAIN_SECONDS,
            announce_end,
            end_answers,
        ),
    )


def run_in_child(work: Callable[[], int]) -> int:
    """Run `work` in a forked process, whose memory is freed when it ends. Return its exit status."""
    if "fork" not in multiprocessing.get_all_start_methods():  # This is the case on Windows.
        return work()
    child = multiprocessing.get_context("fork").Process(target=lambda: sys.exit(work()))
    child.start()
    child.join()
    return child.exitcode or 0


def make_ready(*, prepare: bool) -> int:
    """Build the static files and, with `prepare`, first update the database. Return the exit
    status.
    """
    # Imported only in the child process.
    from quickapps_site.assets import static_files
    from quickapps_site.startup import preparation

    try:
        if prepare:
            preparation.prepare()
    except CommandError as error:
        logger.error("%s", error)
        return 1
    if not settings.DEBUG and settings.ROLE != "worker":
        static_files.build()
    return 0


def set_django_up() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
    django.setup()


def allow_many_connections() -> None:
    # A streamed answer needs two open files, and the default limit is 1024.
    try:
        import resource
    except ImportError:  # Windows does not have this function.
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # Some systems have no number for "unlimited".
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def freeze_loaded_objects() -> None:
    # Code and models are never freed, so garbage collections can skip them.
    gc.collect()
    gc.freeze()
    # Requests leave no garbage, but many concurrent ones use more than 700 objects, the default
    # threshold, so collections would run repeatedly.
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
    gc.enable()


def serve(
    application: Any,
    host: str,
    port: int,
    *,
    trusted_proxies: Sequence[str] = (),
    stopping: Shutdown,
) -> int:
    """Serve the application until SIGTERM or SIGINT. Return the exit status: 1 if the server cannot
    listen, else 0.
    """
    try:
        listening = listen(host, port)
    except OSError as error:
        logger.error("Cannot listen on %s:%d: %s", host, port, error)
        return 1
    logger.info("Serving on http://%s:%d", url_host(host), port)
    config = make_config(application, trusted_proxies=trusted_proxies)
    GracefulServer(config, stopping).run([listening])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
