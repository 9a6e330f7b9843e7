"""`GET /dev/ai-latency`: delays of the last hour, as a page of the admin's look or as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
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

from apps.accounts.buckets import bucket_of
from apps.console.admin.cells import Cell, Column, Table
from apps.console.operated import seen_slugs
from apps.insights.latency import (
    PERIOD,
    LatencyReport,
    ModelLatency,
    Seconds,
    ToolLatency,
    latency_report,
)

OPERATORS = "insights.view_usagesum"
"""The permission with which somebody sees the calls of all people."""
SIGN_IN = "Sign in first: the delays are those of your own calls, or of all with permission."
OF_MODELS = (
    *("Calls", "Errors"),
    *("First text p50", "First text p95", "First text p99"),
    *("Turn p50", "Turn p95", "Turn p99"),
    "Cache hits",
)
OF_TOOLS = ("Calls", "Errors", "Duration p50", "Duration p95", "Duration p99")
MINUTES = int(PERIOD.total_seconds() // 60)


@require_safe
@never_cache
def ai_latency(request: HttpRequest) -> HttpResponse:
    """Of everybody's calls of the applications that operators see, of one's own for other people."""
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
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": "AI latency",
        "tables": tables,
        "sees_all": sees_all,
        "period": f"{MINUTES} minutes",
    }
    return TemplateResponse(request, "admin/usage/latency.html", context)


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
    return [Cell(value, "seconds") for value in seconds.values()]
