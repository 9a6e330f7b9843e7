"""Reads the data for the blocks of the admin's home page, such as "Needs attention" and "Health".

If reading a block fails, only that block shows an error message.
"""

import logging
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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

from apps.agent.tool_titles import tool_title
from apps.capabilities.mcp.administration import PooledSession, sessions
from apps.console.admin.callers import application_titles, caller_names, deployment_titles
from apps.console.admin.cells import NOTHING, money, shown_time
from apps.console.admin.connect.mcp_sessions import may_administer, redacted_error, server_label
from apps.console.admin.connect.mcp_uses import server_key, uses_by_server
from apps.console.admin.watch.daily_runs import compare_days, read_daily_runs
from apps.console.admin.watch.error_kinds import error_words
from apps.console.admin.watch.needs import Counts, Fact, RowCount, budgets, needs, used_budgets
from apps.console.admin.watch.recent_changes import recent_changes
from apps.console.operator_rights import seen_slugs, sees_all
from apps.console.run_search import FOR_USERS, TODAY
from apps.insights.daily_spend import read_daily_spend
from apps.insights.periods import ends_of_sums
from apps.insights.recent_errors import FAILED_TOOL, failed_calls, failed_uses
from apps.insights.sums import of_applications
from apps.live.leases import oldest_beat
from apps.live.models import Run
from apps.live.process.health import channel_layer_delivers, migrations_are_applied, trouble
from apps.live.run_summary import FAILED_FOR_USERS, RunSummary
from apps.notes.spaces import largest_spaces
from apps.workspace.local.files.storage import storage

logger = logging.getLogger(__name__)

RECENT = timedelta(hours=24)
MOST_ERRORS = 6
"""The page shows at most this many groups of failed runs, and this many groups of failed calls."""
MOST_SPACES = 5
"""The home page lists at most this many note workspaces."""
MOST_TOOLSETS = 3
"""The page names at most this many toolsets that use an unavailable MCP server."""
LEAST_FREE = 0.1
"""The page shows a warning if a smaller fraction of the disk is free."""
LATEST_SUMS = timedelta(hours=3)
"""The page shows a warning if the hourly usage sums are older than this."""

Ends = Callable[[], Mapping[str, datetime]]
"""A cached function that returns, by span, the time up to which calls have been summed."""
Slugs = frozenset[str] | None
"""The slugs of the applications that the user can see, or None for all applications."""


@dataclass(frozen=True, slots=True)
class HomeBlock:
    title: str
    facts: Sequence[Fact] = ()
    empty: str = ""
    """The text that the block shows if there are no facts."""
    has_failed: bool = False
    """True if the block's facts could not be read."""
    is_wide: bool = False
    """True for a block that takes the whole width of the page."""


def blocks(request: HttpRequest, counts: Counts) -> list[HomeBlock]:
    """Return the blocks that the user may see. `counts` is the result of `count_rows`."""
    ends, used = cache(ends_of_sums), cache(used_budgets)
    may, among = request.user.has_perm, seen_slugs(request)
    sees_runs, sees_usage = may("runs.view_run"), may("insights.view_usagesum")
    sees_rows = may("runs.view_runsummary")
    wanted: list[tuple[bool, str, Callable[[], Iterator[Fact]], str]] = [
        (
            bool(counts) or may("catalog.view_contentitem"),
            "Needs attention",
            partial(needs, request, counts, used),
            "Nothing needs your attention.",
        ),
        (sees_runs, "Runs now", partial(runs_now, among, counts), ""),
        (sees_rows and sees_usage, "Runs today", partial(runs_today, among, ends), ""),
        (
            sees_usage,
            "Spent today",
            partial(spent_today, among, ends),
            "No costs today or yesterday.",
        ),
        (
            request.user.has_perm("insights.view_budget") and sees_all(request.user),
            "Spend against budget",
            partial(budgets, used),
            "No budget has been used yet.",
        ),
        (
            sees_usage and sees_rows,
            "Errors",
            partial(errors, among),
            "No errors in the last 24 hours.",
        ),
        (may_administer(request), "Notes", notes, "There are no notes."),
        (
            may_administer(request),
            "Unavailable MCP servers",
            down,
            "No failed servers in this process.",
        ),
        (sees_runs, "Health", partial(health, ends), ""),
    ]
    found = [block(title, read, empty) for is_seen, title, read, empty in wanted if is_seen]
    changes = block("Recent changes", partial(recent_changes, request), "")
    return [*found, replace(changes, is_wide=True)] if changes.facts else found


def block(title: str, read: Callable[[], Iterator[Fact]], empty: str) -> HomeBlock:
    try:
        return HomeBlock(title, tuple(read()), empty)
    except Exception:
        logger.exception("Could not read the block %r of the home page", title)
        return HomeBlock(title, has_failed=True)


def health(ends: Ends) -> Iterator[Fact]:
    # The database works: the request has just loaded the user's session from it.
    database = "PostgreSQL" if connection.vendor == "postgresql" else "SQLite"
    layer = "Redis" if settings.REDIS_URL else "in memory, for one process"
    yield check_fact("Database", database_sync_to_async(migrations_are_applied), database)
    yield check_fact("Channel layer", channel_layer_delivers, layer)
    yield stored_files()
    until = ends().get("hour")
    if until is None:
        yield Fact("Usage totals", "none yet")
    else:
        is_late = timezone.now() - until > LATEST_SUMS
        shown = f"until {shown_time(until)} UTC"
        yield Fact("Usage totals", shown, "bad" if is_late else "good")


def stored_files() -> Fact:
    if settings.FILES_URL:
        return Fact("Stored files", storage().location)
    root = settings.MEDIA_ROOT
    disk = shutil.disk_usage(root if root.exists() else settings.VAR_DIR)
    share = disk.free / disk.total
    free = f"{filesizeformat(disk.free)} free, {share:.0%}"
    return Fact("File storage", free, "good" if share >= LEAST_FREE else "bad")


def notes() -> Iterator[Fact]:
    """Yield the owners and sizes of the largest note workspaces, but not their contents."""
    sizes = largest_spaces(MOST_SPACES)
    names = caller_names(one.owner for one in sizes)
    for one in sizes:
        size = filesizeformat(one.size)
        words = f"{one.notes:,} note{'' if one.notes == 1 else 's'}, {size} with all versions"
        yield Fact(names[one.owner], words)


def check_fact(name: str, check: Callable[[], Awaitable[None]], good: str) -> Fact:
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
        ("waiting", "Waiting for a user"),
        ("queued", "Queued"),
    ):
        yield Fact(title, f"{found[name]:,}", link=f"{page}?status={name}")
    going = counts.get("gateway", RowCount()).all
    rows = reverse("admin:runs_runsummary_changelist")
    yield Fact("Through the gateway", f"{going:,}", link=f"{rows}?status=running")
    yield Fact("Processes with runs", f"{found['processes']:,}")
    lost = found["lost"]
    if lost:
        yield Fact("Runs without a process", f"{lost:,}, waiting for takeover", "bad", page)


def runs_today(among: Slugs, ends: Ends) -> Iterator[Fact]:
    found = read_daily_runs(timezone.now(), ends(), among)
    page = reverse("admin:runs_runsummary_changelist")
    page += f"?{urlencode({'hours': TODAY, 'door': FOR_USERS})}"
    yield Fact("Runs", compare_days(found["today"], found["yesterday"]), link=page)
    failed = found["failed_today"]
    text = compare_days(failed, found["failed_yesterday"])
    yield Fact("Failed", text, "bad" if failed else "", f"{page}&status=failed")


def spent_today(among: Slugs, ends: Ends) -> Iterator[Fact]:
    spend = read_daily_spend(timezone.now(), among, ends())
    page = f"{reverse('admin:insights_usagesum_changelist')}?days=1"
    for currency in sorted({*spend.today, *spend.yesterday}):
        today, yesterday = spend.today.get(currency), spend.yesterday.get(currency)
        text = money({currency: today}) if today is not None else NOTHING
        if yesterday:
            text += f", {(today or 0) / yesterday - 1:+.0%} compared with this time yesterday"
        yield Fact(currency, text, link=page)


def errors(among: Slugs) -> Iterator[Fact]:
    """Yield the errors from the last 24 hours: failed runs by application, then failed calls by
    error and by deployment or tool. The most frequent groups come first. Test messages of the
    studio do not count.
    """
    since = timezone.now() - RECENT
    rows = RunSummary.objects.filter(of_applications(among), started_at__gte=since)
    failed = rows.filter(FAILED_FOR_USERS)
    runs = reverse("admin:runs_runsummary_changelist")
    counted = {"hours": "24", "door": FOR_USERS}
    by_application = group_rows(failed, "application").order_by("-count", "-last")[:MOST_ERRORS]
    titles = application_titles(slug for slug, *_ in by_application)
    for application, count, last in by_application:
        query = urlencode({**counted, "status": "failed", "application": application})
        name = f"Failed runs of {titles.get(application, application) or 'no application'}"
        yield Fact(name, frequency(count, last), link=f"{runs}?{query}")
    of_tools = group_rows(
        failed_uses(since, among).annotate(kind=Value(FAILED_TOOL)), "kind", "tool"
    )
    of_models = group_rows(failed_calls(since, among), "error", "deployment")
    in_runs = Count("run", distinct=True)
    calls = (
        of_models.annotate(in_runs=in_runs)
        .union(of_tools.annotate(in_runs=in_runs), all=True)
        .order_by("-count", "-last")[:MOST_ERRORS]
    )
    deployments = deployment_titles(name for _, name, *_ in calls)
    for kind, name, count, last, run_count in calls:
        is_tool = kind == FAILED_TOOL
        title = tool_title(name) if is_tool else deployments.get(name, name)
        narrowed = {**counted, "error": kind, **({"tool": name} if is_tool else {})}
        # Each attempt is a call, so a run can have several failed calls with the same cause.
        often = frequency(run_count or count, last)
        yield Fact(f"{error_words(kind)}: {title}", often, link=f"{runs}?{urlencode(narrowed)}")


def group_rows(rows: QuerySet[Any], *by: str) -> QuerySet[Any, Any]:
    """Group the rows by the columns `by`. Each group has the values of the columns, a `count` and
    the `last` start time.
    """
    named: QuerySet[Any, Any] = rows.order_by().values_list(*by)
    found: QuerySet[Any, Any] = named.annotate(count=Count("pk"), last=Max("started_at"))
    return found


def frequency(count: int, last: datetime) -> str:
    times = "once" if count == 1 else f"{count:,} times"
    return f"{times}, last {shown_time(last)}"


def down() -> Iterator[Fact]:
    """Yield the failed MCP servers and the toolsets of enabled applications that use them.
    Considers only the sessions of this process.
    """
    found = [one for one in async_to_sync(sessions)() if one.state == "error"]
    used = uses_by_server() if found else {}
    failed = {server_key(one.protocol, one.server): error_with_host(one) for one in found}
    page = reverse("admin:workspace_mcpserver_sessions")
    for server, error in failed.items():
        if names := sorted({use.toolset for use in used.get(server, ())}):
            more = len(names) - MOST_TOOLSETS
            ending = f" and {more:,} more" if more > 0 else ""
            yield Fact(f"{', '.join(names[:MOST_TOOLSETS])}{ending}", error, "bad", page)


def error_with_host(session: PooledSession) -> str:
    host, error = server_label(session), redacted_error(session)
    return error if host in error else f"{host}: {error}"
