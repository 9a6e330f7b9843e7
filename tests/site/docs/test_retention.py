"""The page about retention agrees with the recurring jobs, the settings and the code's own times."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

from allauth.account import app_settings
from django.conf import settings

from apps.accounts.oauth import programs
from apps.conversations import temporary
from apps.conversations.files import unsent
from apps.conversations.keeping import arrangement
from apps.insights import rollups as usage
from apps.live.history import compaction
from apps.tasks import failures
from apps.tasks.task import all_chores
from apps.triggers import old_deliveries as triggers
from apps.workspace.local.files import leftovers
from apps.workspace.local.tools import description_pins
from apps.workspace.memories import limits

PAGE = Path(__file__).parents[3] / "docs" / "retention.md"
DELETES_NOTHING = {
    "apps.catalog.application_uploads.adopt_uploads",
    "apps.triggers.schedules.clock.sweep",
    "apps.live.history.run_rows.sum_up_usage",
    "apps.live.history.run_rows.end_abandoned",
    "apps.live.process.indexing.index",
    "apps.insights.budgets.reservations.release_all_lapsed",
    "apps.triggers.outgoing.attempts.enqueue_overdue",
}


def rows() -> list[list[str]]:
    """Return the rows of the table: the data, its lifetime, the setting, the job."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "`" in line]
    return [row for row in found if len(row) == 4]


def test_every_recurring_job_that_deletes_has_a_row():
    documented = {row[3].strip("`") for row in rows()}

    assert documented == {chore.work for chore in all_chores()} - DELETES_NOTHING


def test_times_of_settings_are_their_defaults():
    named = {(name, row[1]) for row in rows() if (name := row[2].strip("`")).isupper()}

    told = {(name, int(re.findall(r"\d+", period)[0])) for name, period in named}

    assert told == {(name, getattr(settings, name)) for name, _ in named}


def test_fixed_times_are_those_of_the_code():
    known = {
        "a conversation that its user deleted": [arrangement.UNDO.seconds],
        "a temporary conversation": [
            temporary.GRACE // timedelta(minutes=1),
            temporary.STAY // timedelta(hours=1),
        ],
        "files of questions that were not sent": [unsent.HOURS],
        "full records of runs on the chat page": [compaction.COMPACTED_AFTER.days],
        "the spending of each past hour, day or month for a [budget](budgets.md)": [
            settings.USAGE_DAYS,
            usage.LONGEST_WINDOW_DAYS,
        ],
        "accounts whose email address was not confirmed": [
            app_settings.EMAIL_CONFIRMATION_EXPIRE_DAYS
        ],
        "programs that no user has connected": [programs.UNCONNECTED.days],
        "received webhook calls": [triggers.CALL_DAYS],
        "outgoing webhook deliveries": [triggers.DELIVERY_DAYS],
        "emails that cannot be sent": [triggers.MAIL_DAYS],
        "the original memories from a merge, which are needed to undo the merge": [
            limits.MERGES_KEPT_DAYS
        ],
        "descriptions of [MCP tools](mcp.md#changed-tool-descriptions) that their servers no longer list": [
            description_pins.UNUSED.days
        ],
        "stored files that the database does not refer to": [leftovers.HOURS],
        "failed jobs": [failures.FAILURE_DAYS],
    }

    told = {row[0]: [int(one) for one in re.findall(r"\d+", row[1])] for row in rows()}

    assert {name: told[name] for name in known} == known
