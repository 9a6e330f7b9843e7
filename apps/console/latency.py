"""`GET /dev/ai-latency`: delays of the last hour, as a page of the admin's look or as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
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

from apps.console.admin.usage import Cell, Line
from apps.insights.latency import (
    PERIOD,
    LatencyReport,
    ModelLatency,
    Seconds,
    ToolLatency,
    latency_report,
)

OPERATORS = "insights.view_dailyusage"
"""The permission with which somebody sees the calls of all people."""
SIGN_IN = "Sign in first: the delays are those of your own calls, or of all with permission."
MINUTES = int(PERIOD.total_seconds() // 60)


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    heading: str
    lines: Sequence[Line]


@require_safe
@never_cache
def ai_latency(request: HttpRequest) -> HttpResponse:
    """Of everybody's calls for operators, of one's own for other people."""
    if not settings.DEV_ENDPOINTS:
        raise Http404
    wants_page = request.get_preferred_type(["text/html", "application/json"]) == "text/html"
    user = request.user
    if not user.is_authenticated:
        if wants_page:
            return redirect(f"{reverse('login')}?next={request.path}")
        return JsonResponse({"error": {"message": SIGN_IN, "code": "unauthorized"}}, status=401)
    sees_all = user.has_perm(OPERATORS)
    found = latency_report(timezone.now(), None if sees_all else f"user-{user.pk}")
    if wants_page:
        return page(request, found, sees_all=sees_all)
    scope = {"scope": "all" if sees_all else "own", "minutes": MINUTES}
    return JsonResponse({**scope, **asdict(found)})


def page(request: HttpRequest, found: LatencyReport, *, sees_all: bool) -> HttpResponse:
    tables = (
        Table(
            "Models", "Model", [Line(f"{m.provider}: {m.model}", cells(m)) for m in found.models]
        ),
        Table(
            "Tools", "Tool", [Line(f"{t.tool} ({t.location})", tool_cells(t)) for t in found.tools]
        ),
        Table(
            "Server and clients",
            "Where",
            [Line(t.location, tool_cells(t)) for t in found.locations],
        ),
    )
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": "AI latency",
        "tables": tables,
        "sees_all": sees_all,
        "minutes": MINUTES,
    }
    return TemplateResponse(request, "admin/usage/latency.html", context)


def cells(one: ModelLatency) -> list[Cell]:
    return [
        Cell("Calls", one.calls),
        Cell("Errors", one.error_rate, "share"),
        *duration_cells("First text", one.first_text_seconds),
        *duration_cells("Turn", one.turn_seconds),
        Cell("Cache hits", one.cache_hit_rate, "share"),
    ]


def tool_cells(one: ToolLatency) -> list[Cell]:
    return [
        Cell("Calls", one.calls),
        Cell("Errors", one.error_rate, "share"),
        *duration_cells("Duration", one.seconds),
    ]


def duration_cells(name: str, seconds: Seconds) -> list[Cell]:
    return [Cell(f"{name} {percent}", value, "seconds") for percent, value in seconds.items()]
