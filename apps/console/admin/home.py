"""The blocks of the admin's first page: what needs somebody, runs now and today, money, errors, health.

Each reads by itself, so that one which fails says so and the others are shown.
"""

import logging
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any
from urllib.parse import urlencode

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import connection
from django.db.models import Count, Max, Q, QuerySet, Value
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone

from apps.capabilities.mcp.administration import sessions
from apps.console.admin.callers import caller_names
from apps.console.admin.cells import NOTHING, money
from apps.console.admin.mcp_sessions import may_administer, place_of, redacted_error
from apps.console.admin.mcp_uses import server_key, uses_by_server
from apps.console.admin.needs import Counts, Fact, RowCount, needs
from apps.console.admin.today import compared, read_daily_runs
from apps.console.operated import seen_slugs
from apps.insights.daily_spend import read_daily_spend
from apps.insights.periods import ends_of_sums
from apps.insights.recent_errors import FAILED_TOOL, failed_calls, failed_uses
from apps.insights.sums import of_applications
from apps.live.health import channel_layer_delivers, migrations_are_applied, trouble
from apps.live.leases import oldest_beat
from apps.live.models import Run
from apps.live.run_summary import RunSummary
from apps.notes.sizes import largest_spaces

logger = logging.getLogger(__name__)

RECENT = timedelta(hours=24)
MOST_ERRORS = 6
"""Of runs, and of calls."""
MOST_SPACES = 5
"""Workspaces of notes."""
LEAST_FREE = 0.1
"""Of a disk; with less, somebody has to look after it."""
LATEST_SUMS = timedelta(hours=3)
"""After that, sums of usage are late: they are made every hour."""

Ends = Callable[[], Mapping[str, datetime]]
"""Until when usage is summed up, read once."""
Slugs = frozenset[str] | None
"""Of the applications that the person sees; None: all."""


@dataclass(frozen=True, slots=True)
class Block:
    """`facts` is empty when there is nothing to tell, `has_failed` when they could not be read."""

    title: str
    facts: Sequence[Fact] = ()
    empty: str = ""
    has_failed: bool = False


def blocks(request: HttpRequest, counts: Counts) -> list[Block]:
    """Those that the person may see; `counts` are those of `count_rows`."""
    ends = cache(ends_of_sums)
    may, among = request.user.has_perm, seen_slugs(request)
    sees_runs, sees_usage = may("runs.view_run"), may("insights.view_usagesum")
    sees_rows = may("runs.view_runsummary")
    wanted: list[tuple[bool, str, Callable[[], Iterator[Fact]], str]] = [
        (
            bool(counts),
            "Needs somebody",
            partial(needs, request, counts),
            "Nobody waits, and all changes are published.",
        ),
        (sees_runs, "Runs now", partial(runs_now, among, counts), ""),
        (sees_rows and sees_usage, "Runs today", partial(runs_today, among, ends), ""),
        (
            sees_usage,
            "Spent today",
            partial(spent_today, among, ends),
            "Nothing was spent today or yesterday.",
        ),
        (
            sees_usage and sees_rows,
            "Errors that need somebody",
            partial(errors, among),
            "None in the last 24 hours.",
        ),
        (may_administer(request), "Notes", notes, "Nobody keeps notes."),
        (
            may_administer(request),
            "MCP servers that are down",
            down,
            "None that an application uses, as far as this process knows.",
        ),
        (sees_runs, "Health", partial(health, ends), ""),
    ]
    return [block(title, read, empty) for is_seen, title, read, empty in wanted if is_seen]


def block(title: str, read: Callable[[], Iterator[Fact]], empty: str) -> Block:
    try:
        return Block(title, tuple(read()), empty)
    except Exception:
        logger.exception("The block %r of the first page could not be read", title)
        return Block(title, has_failed=True)


def health(ends: Ends) -> Iterator[Fact]:
    # The database itself has just answered, with the person's session.
    database = "PostgreSQL" if connection.vendor == "postgresql" else "SQLite"
    layer = "Redis" if settings.REDIS_URL else "in memory, for one process"
    yield checked("Database", database_sync_to_async(migrations_are_applied), database)
    yield checked("Channel layer", channel_layer_delivers, layer)
    root = settings.MEDIA_ROOT
    disk = shutil.disk_usage(root if root.exists() else settings.VAR_DIR)
    share = disk.free / disk.total
    free = f"{filesizeformat(disk.free)} free, {share:.0%}"
    yield Fact("Disk of files", free, "good" if share >= LEAST_FREE else "bad")
    until = ends().get("hour")
    if until is None:
        yield Fact("Sums of usage", "none yet")
    else:
        is_late = timezone.now() - until > LATEST_SUMS
        shown = f"until {until:%Y-%m-%d %H:%M} UTC"
        yield Fact("Sums of usage", shown, "bad" if is_late else "good")


def notes() -> Iterator[Fact]:
    """The largest workspaces, by name: how much is in them, never what."""
    sizes = largest_spaces(MOST_SPACES)
    names = caller_names(one.owner for one in sizes)
    for one in sizes:
        size = filesizeformat(one.size)
        words = f"{one.notes:,} note{'' if one.notes == 1 else 's'}, {size} with all versions"
        yield Fact(names[one.owner], words)


def checked(name: str, check: Callable[[], Awaitable[None]], good: str) -> Fact:
    found = async_to_sync(trouble)(name, check)
    return Fact(name, found or good, "bad" if found else "good")


def runs_now(among: Slugs, counts: Counts) -> Iterator[Fact]:
    status = Run.Status
    found = Run.objects.filter(of_applications(among), status__in=Run.OPEN).aggregate(
        running=Count("pk", filter=Q(status=status.RUNNING)),
        waiting=Count("pk", filter=Q(status=status.WAITING)),
        queued=Count("pk", filter=Q(status=status.QUEUED)),
        lost=Count("pk", filter=Q(status=status.RUNNING, beat_at__lt=oldest_beat())),
        processes=Count("holder", filter=Q(status=status.RUNNING) & ~Q(holder=""), distinct=True),
    )
    page = reverse("admin:runs_run_changelist")
    for name, title in (
        ("running", "Running"),
        ("waiting", "Waiting for somebody"),
        ("queued", "Queued"),
    ):
        yield Fact(title, f"{found[name]:,}", link=f"{page}?status={name}")
    going = counts.get("gateway", RowCount()).all
    rows = reverse("admin:runs_runsummary_changelist")
    yield Fact("Over the gateway", f"{going:,}", link=f"{rows}?status=running")
    yield Fact("Processes at work", f"{found['processes']:,}")
    lost = found["lost"]
    if lost:
        yield Fact("Without a living process", f"{lost:,}, to be taken over", "bad", page)


def runs_today(among: Slugs, ends: Ends) -> Iterator[Fact]:
    found = read_daily_runs(timezone.now(), ends(), among)
    page = f"{reverse('admin:runs_runsummary_changelist')}?hours=24"
    yield Fact("Runs", compared(found["today"], found["yesterday"]), link=page)
    failed = found["failed_today"]
    text = compared(failed, found["failed_yesterday"])
    yield Fact("Failed", text, "bad" if failed else "", f"{page}&status=failed")


def spent_today(among: Slugs, ends: Ends) -> Iterator[Fact]:
    spend = read_daily_spend(timezone.now(), among, ends())
    page = f"{reverse('admin:insights_usagesum_changelist')}?days=1"
    for currency in sorted({*spend.today, *spend.yesterday}):
        today, yesterday = spend.today.get(currency), spend.yesterday.get(currency)
        text = money({currency: today}) if today is not None else NOTHING
        if yesterday:
            text += f", {(today or 0) / yesterday - 1:+.0%} against yesterday at this time"
        yield Fact(currency, text, link=page)


def errors(among: Slugs) -> Iterator[Fact]:
    """Grouped by what failed, the most frequent first: runs, then calls of models and tools."""
    since = timezone.now() - RECENT
    status = RunSummary.Status.FAILED
    failed = RunSummary.objects.filter(of_applications(among), status=status, started_at__gte=since)
    runs = reverse("admin:runs_runsummary_changelist")
    by_application = grouped(failed, "application").order_by("-count", "-last")
    for application, count, last in by_application[:MOST_ERRORS]:
        query = urlencode({"status": "failed", "application": application})
        name = f"Failed runs of {application or 'no application'}"
        yield Fact(name, frequency(count, last), link=f"{runs}?{query}")
    tools = f"{reverse('admin:insights_usagesum_changelist')}?by=tool&days=1&sort=-errors"
    deployments = reverse("admin:workspace_deployment_changelist")
    of_tools = grouped(failed_uses(since, among).annotate(kind=Value(FAILED_TOOL)), "kind", "tool")
    of_models = grouped(failed_calls(since, among), "error", "deployment")
    calls = of_models.union(of_tools, all=True).order_by("-count", "-last")
    for kind, name, count, last in calls[:MOST_ERRORS]:
        is_tool = kind == FAILED_TOOL
        link = tools if is_tool else f"{deployments}?{urlencode({'q': name})}"
        yield Fact(f"{kind}: {name}", frequency(count, last), link=link)


def grouped(rows: QuerySet[Any], *by: str) -> QuerySet[Any, Any]:
    """The values of the columns, how many rows have them, and the last time."""
    named: QuerySet[Any, Any] = rows.order_by().values_list(*by)
    found: QuerySet[Any, Any] = named.annotate(count=Count("pk"), last=Max("started_at"))
    return found


def frequency(count: int, last: datetime) -> str:
    times = "once" if count == 1 else f"{count:,} times"
    return f"{times}, last {last:%d %b %H:%M}"


def down() -> Iterator[Fact]:
    """Servers of enabled applications whose sessions of this process have failed.

    Sessions of other processes cannot be seen from here.
    """
    found = [one for one in async_to_sync(sessions)() if one.state == "error"]
    used = uses_by_server() if found else {}
    failed = {
        place_of(session): redacted_error(session)
        for session in found
        if server_key(session.protocol, session.server) in used
    }
    page = reverse("admin:workspace_mcpserver_sessions")
    for place, error in failed.items():
        yield Fact(place, error, "bad", page)
