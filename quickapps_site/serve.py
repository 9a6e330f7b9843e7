"""`python -m quickapps_site.serve`: the site on uvicorn, set up for many streams at a time."""

import gc
import logging
import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from quickapps_site import housekeeping
from quickapps_site.lifespan import end_answers
from quickapps_site.server import Ending, GracefulServer, listen, make_config

logger = logging.getLogger("quickapps_site.serve")  # it is run as a program, under another name

PREPARE = "--prepare"
YOUNG_OBJECTS = 10_000
"""New objects after which the garbage collector looks at them: some megabytes."""


def main(arguments: Sequence[str] = ()) -> int:
    """Serve; `--prepare` brings the database up to date first."""
    gc.disable()  # until all is loaded: hardly anything of it is garbage
    set_django_up()
    from django.conf import settings

    if status := run_in_child(partial(make_ready, prepare=PREPARE in arguments)):
        return status
    from quickapps_site.asgi import application  # its middleware lists the static files

    check_predefined_content()
    offer_setup(settings.HOST, settings.PORT)
    housekeeping.start()
    allow_many_connections()
    freeze_loaded_objects()
    return serve(
        application,
        settings.HOST,
        settings.PORT,
        trusted_proxies=settings.TRUSTED_PROXIES,
        ending=end_answers,
    )


def run_in_child(work: Callable[[], int]) -> int:
    """Run `work` in a forked process, so that its memory is freed; return the exit status."""
    if "fork" not in multiprocessing.get_all_start_methods():  # Windows
        return work()
    child = multiprocessing.get_context("fork").Process(target=lambda: sys.exit(work()))
    child.start()
    child.join()
    return child.exitcode or 0


def make_ready(*, prepare: bool) -> int:
    """Prepare the database if wanted, and build the static files; return the exit status."""
    from django.conf import settings
    from django.core.management import CommandError

    from quickapps_site import preparation, static_files

    try:
        if prepare:
            preparation.prepare()
    except CommandError as error:
        logger.error("%s", error)
        return 1
    if not settings.DEBUG:
        static_files.build()
    return 0


def set_django_up() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
    import django

    django.setup()


def check_predefined_content() -> None:
    """Read predefined content and managed directories now: the log tells at once what is broken.

    Raises `ImproperlyConfigured` when a whole layer is missing.
    """
    from django.core.exceptions import ImproperlyConfigured
    from django.db import DatabaseError, connection

    from apps.catalog.application_files import managed
    from apps.catalog.content.installed import installed
    from apps.catalog.content.review import missing_problems

    try:
        missing = missing_problems(installed())
        managed.load_at_start()
    except DatabaseError as error:
        logger.error("Predefined content cannot be read from the database: %s", error)
        return
    finally:
        connection.close()
    if missing:
        raise ImproperlyConfigured(f"Predefined content: {' '.join(missing)}")


def offer_setup(host: str, port: int) -> None:
    """Say in the log how to make the first administrator, where there is none."""
    from django.db import DatabaseError, connection

    from apps.accounts import first_run

    try:
        token = first_run.offer()
    except DatabaseError:
        return  # there are no tables yet, which the log says already
    finally:
        connection.close()
    if token:
        page = f"http://{address(host)}:{port}/setup/"
        logger.warning("Nobody administrates yet: open %s and enter the token %s", page, token)


def address(host: str) -> str:
    """The host as it stands in an address."""
    return f"[{host}]" if ":" in host else host


def allow_many_connections() -> None:
    # A streamed answer is two open files, and the usual limit is 1024 of them.
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems have no number for "without limit"
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def freeze_loaded_objects() -> None:
    # Code and models never go away: a garbage collection need not look through them.
    gc.collect()
    gc.freeze()
    # Requests leave nothing to the collector, but what many at once are made of is more than 700
    # objects, the usual number, so it would look at them again and again.
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
    gc.enable()


async def no_ending(seconds: float) -> None:
    """For an application that does nothing beside its connections."""


def serve(
    application: Any,
    host: str,
    port: int,
    *,
    trusted_proxies: Sequence[str] = (),
    ending: Ending = no_ending,
) -> int:
    """Serve until SIGTERM or SIGINT; the exit status is 1 when it could not listen."""
    try:
        listening = listen(host, port)
    except OSError as error:
        logger.error("Cannot listen on %s:%d: %s", host, port, error)
        return 1
    logger.info("Serving on http://%s:%d", address(host), port)
    config = make_config(application, trusted_proxies=trusted_proxies)
    GracefulServer(config, ending).run([listening])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
