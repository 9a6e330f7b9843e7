"""Builds the table of the latest errors: one row for each run and cause."""

from collections.abc import Collection
from datetime import datetime

from django.utils.text import Truncator

from apps.console.admin.callers import application_titles, caller_names, deployment_titles
from apps.console.admin.cells import Cell, Column, Table
from apps.console.admin.watch.error_kinds import error_words, with_attempts
from apps.console.admin.watch.usage_tables import Links, named_cell, tool_cell
from apps.insights.recent_errors import FAILED_TOOL, Failure, last_failures
from apps.insights.sums import of_applications
from apps.live.run_summary import FAILED_FOR_USERS, RunSummary

COLUMNS = (
    Column("When", is_text=True),
    Column("Error", is_text=True),
    Column("Attempts", is_extra=True),
    Column("Message", is_extra=True),
    Column("Deployment or tool", is_text=True),
    Column("Application", is_text=True),
    Column("Caller", is_text=True),
    Column("Run", is_text=True),
)
SHOWN_MESSAGE = 160
"""The page shows this many characters of a service's message. The run's page shows all of it."""
RUN_FAILED = "Run failed"
"""The error of a failed run without a failed call."""


def latest_errors_table(
    since: datetime, most: int, among: Collection[str] | None, links: Links
) -> Table:
    """Return a table of up to `most` failures, newest first."""
    runs = RunSummary.objects.filter(of_applications(among))
    failed = runs.filter(FAILED_FOR_USERS, started_at__gte=since)
    failures = last_failures(since, most, among)
    with_calls = {one.run for one in failures}
    failures += [
        Failure(run.started_at, run.application, run.bucket, run.pk, "", RUN_FAILED)
        for run in failed.order_by("-started_at")[:most]
        if run.pk not in with_calls
    ]
    failures = sorted(failures, key=lambda one: one.last_at, reverse=True)[:most]
    known = runs.in_bulk({one.run for one in failures if one.run is not None})
    callers = caller_names(one.bucket for one in failures)
    applications = application_titles(one.application for one in failures)
    deployments = deployment_titles(one.name for one in failures)

    def row(one: Failure) -> list[Cell]:
        to_application = links.to("application", one.application)
        return [
            Cell(one.last_at),
            error_cell(one, links),
            Cell(one.attempts),
            Cell(message_of(one, links)),
            tool_cell(one.name) if one.kind == FAILED_TOOL else named_cell(one.name, deployments),
            named_cell(one.application, applications, to_application),
            named_cell(one.bucket, callers),
            run_cell(one, known.get(one.run) if one.run else None, links),
        ]

    return Table("last-errors", "Latest errors", COLUMNS, [row(one) for one in failures])


def error_cell(one: Failure, links: Links) -> Cell:
    words = error_words(one.kind)
    note = Truncator(message_of(one, links)).chars(SHOWN_MESSAGE)
    return Cell(with_attempts(words, one.attempts), download=words, note=note)


def message_of(one: Failure, links: Links) -> str:
    """Return the service's message, which only users who can see the run may read."""
    return one.said if links.runs else ""


def run_cell(one: Failure, run: RunSummary | None, links: Links) -> Cell:
    """Return a cell with the outcome of the run, which links to its page. The download has its
    ID.
    """
    if one.run is None:
        return Cell(None)
    outcome = "Open" if run is None else run.get_status_display()
    reference = "" if run is None else run.error_reference
    return Cell(outcome, link=links.to_run(one.run), below=reference, download=str(one.run))
