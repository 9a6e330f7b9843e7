"""Renders the studio's sections about an application: versions, test cases, runs and usage.

The page requests a section when the user opens it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.cases.latest_results import latest_statuses
from apps.cases.models import Case
from apps.catalog.models import Application
from apps.catalog.versions.drafts import draft_of
from apps.console.admin.evaluate.case_run_start import RUN
from apps.console.admin.rows.named_rows import named_caller
from apps.console.admin.watch.run_contents import may_read, record_contents
from apps.console.admin.watch.run_list import with_figures
from apps.console.admin.watch.run_outcome import read_transcript
from apps.console.admin.watch.usage_tables import tiles
from apps.console.admin.watch.waterfall import duration
from apps.console.operator_rights import PUBLISH
from apps.console.studio.access import application_seen, may_change_application
from apps.insights.figures import report
from apps.live.history.run_rows import count_runs
from apps.live.run_summary import FAILED_FOR_USERS, RunSummary

MOST_VERSIONS = 5
MOST_CASES = 10
MOST_RUNS = 5
USAGE_PERIOD = timedelta(days=30)

Context = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Panel:
    """A section about an application. `permission` is "" if everyone who sees the application may
    see the section.
    """

    permission: str
    context: Callable[[HttpRequest, Application], Context]


def versions_context(request: HttpRequest, row: Application) -> Context:
    draft = draft_of(row)
    return {
        "versions": row.versions.select_related("author").defer("document")[:MOST_VERSIONS],
        "draft": draft if draft.pk else None,
        "count": row.versions.count(),
        "may_publish": may_change_application(request, row) and request.user.has_perm(PUBLISH),
    }


def cases_context(request: HttpRequest, row: Application) -> Context:
    cases = Case.objects.filter(application=row).order_by("name")
    shown: list[Any] = [*cases[:MOST_CASES]]
    found = latest_statuses([case.pk for case in shown])
    for case in shown:
        case.found = found.get(case.pk)
    may_change = may_change_application(request, row)
    return {
        "cases": shown,
        "count": cases.count(),
        "may_run": may_change and request.user.has_perm(RUN),
        "may_add": may_change and request.user.has_perm("cases.add_case"),
    }


def runs_context(request: HttpRequest, row: Application) -> Context:
    """Return the latest runs, with their questions if the user may read contents. Record this
    access in the audit log.
    """
    rows = RunSummary.objects.filter(application=row.slug)
    runs = with_figures(rows.order_by("-started_at")[:MOST_RUNS])
    for run in runs:
        run.person = named_caller(run)
        run.question = read_transcript(run.pk).question if may_read(request) else ""
        run.took = "" if run.seconds is None else duration(run.seconds)
    if any(run.question for run in runs):
        subject = "questions of the latest runs"
        record_contents(request, row.slug, None, subject, is_allowed=True)
    failed = rows.filter(FAILED_FOR_USERS).count()
    return {"runs": runs, "count": f"{rows.count():,}", "failed": failed and f"{failed:,}"}


def usage_context(request: HttpRequest, row: Application) -> Context:
    found = report(
        "application", USAGE_PERIOD, count_runs, most=0, among={row.slug}, with_percentiles=False
    )
    sums = found.total.sums
    has_figures = bool(sums.runs or sums.calls or found.tools.sums.calls)
    return {"tiles": tiles(found) if has_figures else []}


PANELS: Mapping[str, Panel] = {
    "versions": Panel("", versions_context),
    "cases": Panel("cases.view_case", cases_context),
    "runs": Panel("runs.view_runsummary", runs_context),
    "usage": Panel("insights.view_usagesum", usage_context),
}


@require_safe
def panel(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Render a section. Raises `Http404` if it does not exist, and `PermissionDenied` if the user
    may not see it.
    """
    row = application_seen(request, pk)
    if name not in PANELS:
        raise Http404
    if not may_see(request, PANELS[name]):
        raise PermissionDenied
    context = {"row": row, **PANELS[name].context(request, row)}
    return TemplateResponse(request, f"admin/studio/panels/{name}.html", context)


def panel_urls(request: HttpRequest, row: Application) -> dict[str, str]:
    """Return the URLs of the sections that the user may see, by name."""
    return {
        name: reverse("studio:panel", args=[row.pk, name])
        for name, one in PANELS.items()
        if may_see(request, one)
    }


def may_see(request: HttpRequest, shown: Panel) -> bool:
    return not shown.permission or request.user.has_perm(shown.permission)
