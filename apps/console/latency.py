"""Serves `GET /dev/ai-latency`: the latency of model and tool calls in the last hour, as a page or
as JSON.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.accounts.caller import bucket_of
from apps.console.admin.cells import Cell, Column, Table
from apps.console.admin.watch.usage_charts import latency_charts
from apps.console.operator_rights import seen_slugs
from apps.insights.figures import UsageReport, report
from apps.insights.latency import (
    PERIOD,
    LatencyReport,
    ModelLatency,
    Seconds,
    ToolLatency,
    latency_report,
)
from apps.live.history.run_rows import count_runs

OPERATORS = "insights.view_usagesum"
"""The permission to see the latency of all users' calls."""
SIGN_IN = "Sign in first. You see the latency of your own calls, or of all calls if you have the permission."
OF_MODELS = (
    *("Calls", "Errors", "First token p50", "First token p95"),
    *("Turn p50", "Turn p95", "Cache hits"),
)
OF_TOOLS = ("Calls", "Errors", "Duration p50", "Duration p95")
MINUTES = int(PERIOD.total_seconds() // 60)


@require_safe
@never_cache
def ai_latency(request: HttpRequest) -> HttpResponse:
    """Show the latency of all calls or, without the permission `OPERATORS`, the user's own
    calls.
    """
    if not settings.DEV_ENDPOINTS:
        raise Http404
    wants_page = request.get_preferred_type(["text/html", "application/json"]) == "text/html"
    user = request.user
    if not user.is_authenticated:
        if wants_page:
            return redirect(f"{reverse('login')}?next={request.path}")
        return JsonResponse({"error": {"message": SIGN_IN, "code": "unauthorized"}}, status=401)
    sees_all = user.has_perm(OPERATORS)
    own, among = (None, seen_slugs(request)) if sees_all else (bucket_of(user.pk), None)
    found = latency_report(timezone.now(), own, among)
    if wants_page:
        return page(request, found, sees_all=sees_all)
    scope = {"scope": "all" if sees_all else "own", "minutes": MINUTES}
    return JsonResponse({**scope, **asdict(found)})


def page(request: HttpRequest, found: LatencyReport, *, sees_all: bool) -> HttpResponse:
    models = [(Cell(f"{m.provider}: {m.model}"), *cells(m)) for m in found.models]
    tools = [(Cell(f"{t.tool} ({t.location})"), *tool_cells(t)) for t in found.tools]
    places = [(Cell(t.location), *tool_cells(t)) for t in found.locations]
    tables = (
        Table("models", "Models", columns("Model", *OF_MODELS), models),
        Table("tools", "Tools", columns("Tool", *OF_TOOLS), tools),
        Table("locations", "Server and clients", columns("Where", *OF_TOOLS), places),
    )
    charts = latency_charts(usage_report(request)) if sees_all else []
    context: dict[str, Any] = {
        "charts": charts,
        **admin.site.each_context(request),
        "title": "Latency",
        "tables": tables,
        "sees_all": sees_all,
        "period": f"{MINUTES} minutes",
    }
    return TemplateResponse(request, "admin/usage/latency.html", context)


def usage_report(request: HttpRequest) -> UsageReport:
    """Return the total usage for the last 24 hours, for the charts."""
    return report("deployment", timedelta(days=1), count_runs, most=0, among=seen_slugs(request))


def columns(heading: str, *titles: str) -> Sequence[Column]:
    return [Column(heading, is_text=True), *map(Column, titles)]


def cells(one: ModelLatency) -> list[Cell]:
    return [
        Cell(one.calls),
        Cell(one.error_rate, "share"),
        *durations(one.first_text_seconds),
        *durations(one.turn_seconds),
        Cell(one.cache_hit_rate, "share"),
    ]


def tool_cells(one: ToolLatency) -> list[Cell]:
    return [Cell(one.calls), Cell(one.error_rate, "share"), *durations(one.seconds)]


def durations(seconds: Seconds) -> list[Cell]:
    """Return table cells with the p50 and the p95. The tooltip of the p95 shows the p99."""
    p99 = Cell(seconds["p99"], "seconds")
    hint = "" if p99.value is None else f"p99: {p99.text}"
    return [Cell(seconds["p50"], "seconds"), Cell(seconds["p95"], "seconds", hint=hint)]


def is_offered(request: HttpRequest) -> bool:
    """Return True if the admin menu shows the latency page to this user."""
    return bool(settings.DEV_ENDPOINTS and request.user.has_perm(OPERATORS))
