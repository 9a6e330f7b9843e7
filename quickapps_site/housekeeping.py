"""Work of every hour, which deletes what nobody asks for any more, and more often sums of usage
and deleted conversations."""

import itertools
import logging
import threading
import time

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 600.0
"""Between two looks for hours of usage to sum up; until then, the page reads their rows."""
LOOKS_IN_HOUR = 6
LOOKS_IN_DAY = 24 * LOOKS_IN_HOUR


def start() -> None:
    """Tidy up now and every hour, in a thread. Several processes do no harm."""
    threading.Thread(target=run_forever, name="housekeeping", daemon=True).start()


def run_forever() -> None:
    for look in itertools.count():
        tidy_up(
            is_hourly=look % LOOKS_IN_HOUR == 0,
            # Not at the start: the whole storage is searched.
            is_daily=look % LOOKS_IN_DAY == LOOKS_IN_HOUR,
        )
        time.sleep(PAUSE_SECONDS)


def tidy_up(*, is_hourly: bool, is_daily: bool = False) -> None:
    from django.db import connection

    try:
        tidy_up_usage()
        tidy_up_budgets()
        tidy_up_conversations()
        if is_hourly:
            tidy_up_old_conversations()
            tidy_up_files()
            tidy_up_runs()
            tidy_up_audit()
            tidy_up_accounts()
            tidy_up_sessions()
            tidy_up_memories()
            tidy_up_servers()
            tidy_up_triggers()
        if is_daily:
            tidy_up_storage()
    finally:
        connection.close()


def tidy_up_conversations() -> None:
    from apps.chat import arrangement
    from apps.chat.shares import links

    try:
        if erased := arrangement.erase_deleted():
            logger.info("Erased conversations that were deleted: %d", erased)
        if erased := arrangement.erase_temporary():
            logger.info("Erased temporary conversations: %d", erased)
    except Exception:
        logger.exception("Deleted conversations could not be erased")
    try:
        if expired := links.erase_expired():
            logger.info("Erased links whose time was over: %d", expired)
    except Exception:
        logger.exception("Links whose time was over could not be erased")


def tidy_up_old_conversations() -> None:
    from apps.chat import retention

    try:
        if erased := retention.erase_untouched():
            logger.info("Erased conversations that were untouched for too long: %d", erased)
    except Exception:
        logger.exception("Old conversations could not be erased")


def tidy_up_files() -> None:
    from apps.chat import unsent_files

    try:
        if given_up := unsent_files.delete():
            logger.info("Deleted the files of questions that were never asked: %d", given_up)
    except Exception:
        logger.exception("Files of questions that were never asked could not be deleted")


def tidy_up_storage() -> None:
    from apps.workspace.local.leftovers import delete_leftovers

    try:
        if unused := delete_leftovers():
            logger.info("Deleted unused bytes in the storage: %d", unused)
    except Exception:
        logger.exception("Unused bytes in the storage could not be deleted")


def tidy_up_runs() -> None:
    from apps.live import answered_calls, sent_requests, summaries

    try:
        if lost := summaries.end_abandoned():
            logger.info("Runs that ended with their process: %d", lost)
        if old := summaries.delete_old():
            logger.info("Deleted rows of runs after RUN_ROWS_DAYS: %d", old)
        if old := sent_requests.delete_old():
            logger.info("Deleted requests to models after RUN_ROWS_DAYS: %d", old)
        answered_calls.delete_expired()
    except Exception:
        logger.exception("Rows of runs could not be tidied up")


def tidy_up_usage() -> None:
    from apps.insights import upkeep
    from apps.live.run_counts import count_runs

    try:
        if spans := upkeep.sum_up_all(count_runs):
            logger.info("Hours and days whose calls were summed up: %d", spans)
        if old := upkeep.delete_old():
            logger.info("Deleted rows of calls after USAGE_DAYS: %d", old)
    except Exception:
        logger.exception("Rows of calls could not be tidied up")


def tidy_up_budgets() -> None:
    from apps.insights import upkeep
    from apps.insights.budgets.reservations import release_all_lapsed

    try:
        release_all_lapsed()
        if old := upkeep.delete_old_windows():
            logger.info("Deleted windows of budgets after USAGE_DAYS: %d", old)
    except Exception:
        logger.exception("Budgets could not be tidied up")


def tidy_up_audit() -> None:
    from apps.accounts import audit

    try:
        if old := audit.delete_old():
            logger.info("Deleted events of the audit after AUDIT_DAYS: %d", old)
    except Exception:
        logger.exception("Events of the audit could not be tidied up")


def tidy_up_accounts() -> None:
    from apps.accounts import sign_up

    try:
        if late := sign_up.delete_unconfirmed():
            logger.info("Deleted accounts whose address nobody confirmed: %d", late)
    except Exception:
        logger.exception("Accounts that nobody confirmed could not be tidied up")


def tidy_up_sessions() -> None:
    from importlib import import_module

    from django.conf import settings

    try:
        import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    except Exception:
        logger.exception("Sessions that have expired could not be deleted")


def tidy_up_memories() -> None:
    from apps.workspace.local.remembered import delete_old_merges

    try:
        if old := delete_old_merges():
            logger.info("Deleted merges of memories that cannot be undone any more: %d", old)
    except Exception:
        logger.exception("Merges of memories could not be tidied up")


def tidy_up_servers() -> None:
    from apps.live.interactions import awaited_accounts
    from apps.workspace.local.description_pins import delete_unused
    from apps.workspace.local.tool_accounts import delete_unfinished

    try:
        if unused := delete_unused():
            logger.info("Deleted descriptions of tools that nobody lists any more: %d", unused)
        if unfinished := delete_unfinished(awaited_accounts()):
            logger.info("Deleted sign-ins that nobody finished: %d", unfinished)
    except Exception:
        logger.exception("What is kept of servers of tools could not be tidied up")


def tidy_up_triggers() -> None:
    from apps.triggers import upkeep

    try:
        if old := upkeep.delete_old():
            logger.info("Deleted old messages of webhooks, and old deliveries: %d", old)
    except Exception:
        logger.exception("Messages of webhooks and deliveries could not be tidied up")
