"""Work of every hour: files of questions that were never asked are deleted."""

from __future__ import annotations

import logging
import threading
import time

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 3600.0


def start() -> None:
    """Tidy up now and every hour, in a thread. Several processes do no harm."""
    threading.Thread(target=run_forever, name="housekeeping", daemon=True).start()


def run_forever() -> None:
    while True:
        tidy_up()
        time.sleep(PAUSE_SECONDS)


def tidy_up() -> None:
    from django.db import connection

    from apps.chat import unsent_files

    try:
        if given_up := unsent_files.delete():
            logger.info("Deleted the files of questions that were never asked: %d", given_up)
    except Exception:
        logger.exception("Files of questions that were never asked could not be deleted")
    finally:
        connection.close()
