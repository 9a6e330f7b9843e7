"""Defines the admin pages that show, compare and stop runs of test cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from apps.cases.attempts import ATTEMPT_SECONDS
from apps.cases.models import CaseResult, CaseRun
from apps.cases.runner import stop
from apps.catalog.history.differences import Line, line_difference
from apps.console.admin.cells import money
from apps.console.admin.evaluate.cases import BADGE
from apps.console.admin.list_cells import account_cell
from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.operator_rights import may_rule, of_seen
from apps.console.time_cells import time_cell
from apps.integers import read_integer

FRAGMENT = "X-Fragment"
"""If a request has this header, the response contains only the results of the run. The page uses
this for live updates.
"""
SILENT_SECONDS = ATTEMPT_SECONDS + 60
"""A run without progress for this many seconds counts as interrupted."""
STATES = {
    CaseRun.State.PASSED: "console-good",
    CaseRun.State.FAILED: "console-bad",
    CaseRun.State.STOPPED: "console-bad",
}


@dataclass(frozen=True, slots=True)
class ShownFailure:
    text: str
    lines: Sequence[Line] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class ShownResult:
    row: CaseResult
    failures: Sequence[ShownFailure]
    cost: str


@dataclass(frozen=True, slots=True)
class Pair:
    """The results of two runs for the same test case."""

    name: str
    sides: tuple[Sequence[ShownResult], Sequence[ShownResult]]

    @property
    def has_changed(self) -> bool:
        first, second = ([one.row.passed for one in side] for side in self.sides)
        return first != second


def shown_result(row: CaseResult) -> ShownResult:
    failures = [
        ShownFailure(
            one["text"],
            line_difference(one["expected"].splitlines(), one["actual"].splitlines())
            if one.get("kind") == "equals"
            else (),
            f"Expected and actual answer: {row.name}, result {row.pk}, {number}",
        )
        for number, one in enumerate(row.failures, start=1)
    ]
    costs = {name: Decimal(cost) for name, cost in row.costs.items()}
    return ShownResult(row, failures, money(costs) if costs else "")


@admin.register(CaseRun)
class CaseRunAdmin(ReadOnlyAdmin[CaseRun]):
    list_display = (
        "started",
        "application",
        "version",
        "mode",
        "state_shown",
        "share",
        "starter",
    )
    list_filter = ("mode", "state")
    list_select_related = ("application", "started_by")
    search_fields = ("application__title", "application__slug")
    search_help_text = "Application"
    ordering = ("-pk",)
    actions = ("compare_selected",)

    class Media:
        css = {"all": ("console/pages.css", "console/evaluate/cases.css")}

    def get_queryset(self, request: HttpRequest) -> QuerySet[CaseRun]:
        rows: QuerySet[CaseRun] = super().get_queryset(request)
        return rows.filter(of_seen(request, "application__slug")).annotate(
            made=Count("results"), passed=Count("results", filter=Q(results__passed=True))
        )

    @admin.display(description="started", ordering="pk")
    def started(self, run: CaseRun) -> str | SafeString:
        return time_cell(run.started_at)

    @admin.display(description="version", ordering="target")
    def version(self, run: CaseRun) -> str:
        return target_title(run.target)

    @admin.display(description="started by", ordering="started_by__username")
    def starter(self, run: CaseRun) -> str:
        return account_cell(run.started_by) if run.started_by else "A build"

    @admin.display(description="state", ordering="state")
    def state_shown(self, run: CaseRun) -> SafeString:
        return format_html(BADGE, STATES.get(CaseRun.State(run.state), ""), state_words(run))

    @admin.display(description="passed")
    def share(self, run: Any) -> str:
        return f"{run.passed} of {run.total}"

    @admin.action(description="Compare the two selected runs", permissions=["view"])
    def compare_selected(
        self, request: HttpRequest, rows: QuerySet[CaseRun]
    ) -> HttpResponse | None:
        numbers = list(rows.order_by("pk").values_list("pk", flat=True))
        if len(numbers) != 2:
            self.message_user(request, "Select two runs.", "error")
            return None
        return redirect(f"{self.url('compare')}?a={numbers[0]}&b={numbers[1]}")

    def get_urls(self) -> list[URLPattern]:
        return [
            self.viewer_path("compare/", require_safe(self.compare_view), "compare"),
            self.staff_path("<int:number>/stop/", require_POST(self.stop_view), "stop"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the results of a run. A request with the header `FRAGMENT` gets only the results."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        run = self.found(request, object_id)
        others = self.get_queryset(request).filter(application=run.application).exclude(pk=run.pk)
        context = {
            "run": run,
            "state": state_words(run),
            "kind": STATES.get(CaseRun.State(run.state), ""),
            "is_going": is_active(run),
            "results": [shown_result(one) for one in run.results.select_related("case")],
            "others": list(others[:20]),
            "may_stop": may_run(request, run),
        }
        if request.headers.get(FRAGMENT):
            return TemplateResponse(request, "admin/cases/results.html", context)
        return self.page(
            request, "admin/cases/run.html", f"Test cases of {run.application}", context
        )

    def compare_view(self, request: HttpRequest) -> HttpResponse:
        """Show two runs side by side. Raises `Http404` if either run does not exist."""
        runs = (
            self.found(request, request.GET.get("a", "")),
            self.found(request, request.GET.get("b", "")),
        )
        titles = [f"Run {run.pk}: {target_title(run.target)}" for run in runs]
        context = {"columns": [*zip(titles, runs, strict=True)], "pairs": pairs_of(*runs)}
        return self.page(request, "admin/cases/compare.html", "Compare two runs", context)

    def stop_view(self, request: HttpRequest, number: int) -> HttpResponse:
        """Stop a run and its current attempts. Raises `PermissionDenied` if the user may not run
        the application's test cases.
        """
        run = self.found(request, str(number))
        if not may_run(request, run):
            raise PermissionDenied
        if stop(run):
            self.log_change(request, run, "Stopped.")
        return redirect(self.url("change", run.pk))

    def found(self, request: HttpRequest, number: str) -> Any:
        """Return the run with this ID. Raises `Http404` if there is none or the user may not see
        it.
        """
        return get_object_or_404(self.get_queryset(request), pk=read_integer(number))


def may_run(request: HttpRequest, run: CaseRun) -> bool:
    may = request.user.has_perm("cases.add_caserun")
    return bool(may and may_rule(request, run.application))


def is_active(run: CaseRun) -> bool:
    silent = timezone.now() - run.seen_at
    return run.state == CaseRun.State.RUNNING and silent < timedelta(seconds=SILENT_SECONDS)


def target_title(target: str) -> str:
    """Return the name of a run's draft or version, such as "Draft", "Live" or "Version 3"."""
    return f"Version {target}" if target.isdecimal() else target.capitalize()


def state_words(run: CaseRun) -> str:
    if run.state == CaseRun.State.RUNNING:
        return "running" if is_active(run) else "interrupted"
    return str(run.get_state_display()).lower()


def pairs_of(first: CaseRun, second: CaseRun) -> list[Pair]:
    """Pair the results of both runs by test case. Test cases with different results come first."""
    sides: tuple[dict[str, list[ShownResult]], dict[str, list[ShownResult]]] = ({}, {})
    for run, side in zip((first, second), sides, strict=True):
        for row in run.results.all():
            side.setdefault(row.name, []).append(shown_result(row))
    names = sorted({*sides[0], *sides[1]})
    pairs = [Pair(name, (sides[0].get(name, ()), sides[1].get(name, ()))) for name in names]
    return sorted(pairs, key=lambda pair: not pair.has_changed)
