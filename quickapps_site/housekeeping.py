"""Work of every hour: files of questions that were never asked and old rows of runs are deleted."""

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

    try:
        tidy_up_files()
        tidy_up_runs()
    finally:
        connection.close()


def tidy_up_files() -> None:
    from apps.chat import unsent_files

    try:
        if given_up := unsent_files.delete():
            logger.info("Deleted the files of questions that were never asked: %d", given_up)
    except Exception:
        logger.exception("Files of questions that were never asked could not be deleted")


def tidy_up_runs() -> None:
    from apps.live import answered_calls, summaries

    try:
        if lost := summaries.end_abandoned():
            logger.info("Runs that ended with their process: %d", lost)
        if old := summaries.delete_old():
            logger.info("Deleted rows of runs after RUN_ROWS_DAYS: %d", old)
        answered_calls.delete_expired()
    except Exception:
        logger.exception("Rows of runs could not be tidied up")
