"""Defines the list of runs in the admin, with its own search. Active runs come first."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import PAGE_VAR
from django.core.paginator import InvalidPage, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.console.admin.callers import (
    application_titles,
    caller_names,
    distinct_titles,
    shown_application,
    shown_caller,
)
from apps.console.admin.theme import RowList
from apps.console.operator_rights import visible_applications
from apps.console.run_search import (
    HOURS,
    MOST_LISTED,
    PARAMETERS,
    STATES,
    ActiveFirstRuns,
    RunSearch,
)
from apps.insights.sums import costs_of_runs
from apps.live import doors
from apps.live.run_summary import RunSummary

TEXTS = {
    "q": ("Error reference, run, user or application", "1a2b3c4d"),
    "user": ("User or caller", "anna"),
    "version": ("Version", "3"),
    "tool": ("Tool", "search"),
    "error": ("Error", "status 429"),
}
"""The label and an example for each text field in the search form."""


class RunList(RowList):
    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        """Return the URL parameters of Django's filters, without the search parameters."""
        found: dict[str, Any] = super().get_filters_params(params)
        return {name: value for name, value in found.items() if name not in PARAMETERS}

    def get_queryset(
        self, request: HttpRequest, exclude_parameters: Any = None
    ) -> QuerySet[RunSummary]:
        """Raise `IncorrectLookupParameters` for invalid search parameters."""
        try:
            self.search = RunSearch.of(request.GET)
        except ValueError as error:
            raise IncorrectLookupParameters(error) from error
        self.root_queryset = self.search.summaries(request)
        rows: QuerySet[RunSummary] = super().get_queryset(request, exclude_parameters)
        return rows

    def get_results(self, request: HttpRequest) -> None:
        rows = ActiveFirstRuns(self.search.active_runs(request), self.queryset)
        paginator = Paginator(rows, self.list_per_page)
        try:
            page = paginator.page(self.page_num)
        except InvalidPage as error:
            raise IncorrectLookupParameters from error
        self.result_list = with_figures(page.object_list)
        self.result_count = self.full_result_count = paginator.count
        self.show_full_result_count, self.show_admin_actions = False, False
        self.can_show_all, self.multi_page = False, paginator.num_pages > 1
        self.paginator = paginator

    @property
    def is_cut(self) -> bool:
        return bool(self.result_count >= MOST_LISTED)

    @property
    def fields(self) -> Iterable[Mapping[str, str]]:
        asked = self.params
        return [
            {"name": name, "label": label, "value": asked.get(name, ""), "example": example}
            for name, (label, example) in TEXTS.items()
        ]

    @property
    def is_narrowed(self) -> bool:
        """True if the search has any condition other than the search text."""
        return any(self.params.get(name) for name in PARAMETERS if name != "q")

    def choices_of(self, name: str, label: str, options: Mapping[str, str]) -> Mapping[str, Any]:
        chosen = self.params.get(name, "")
        known = options if chosen in ("", *options) else {**options, chosen: chosen}
        return {"name": name, "label": label, "chosen": chosen, "options": known}


def with_figures(rows: Iterable[RunSummary]) -> list[Any]:
    """Add `costs`, `person_name`, `shown_person` and `shown_application` to the rows."""
    found: list[Any] = list(rows)
    costs = costs_of_runs([row.pk for row in found])
    names = caller_names(row.bucket for row in found)
    titles = application_titles(row.application for row in found)
    for row in found:
        row.costs = costs[row.pk].costs if row.pk in costs else {}
        row.person_name = names[row.bucket]
        row.shown_person = shown_caller(row.bucket, names)
        row.shown_application = shown_application(row.application, titles)
    return found


def selects(request: HttpRequest, listed: RunList) -> list[Mapping[str, Any]]:
    """Return the select inputs for the search form."""
    applications = distinct_titles(visible_applications(request).order_by("title"))
    return [
        listed.choices_of("application", "Application", applications),
        listed.choices_of("status", "State", STATES),
        listed.choices_of("door", "Source", doors.LABELS),
        listed.choices_of("hours", "Started in the last", HOURS),
    ]


def preserved_parameters(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the URL parameters that a new search preserves, such as the order."""
    left = (*PARAMETERS, PAGE_VAR, "e")
    return [(name, str(value)) for name, value in request.GET.items() if name not in left]
