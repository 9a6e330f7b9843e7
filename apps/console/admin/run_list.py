"""The list of runs in the admin: a search of its own, and those that go on before the others."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import PAGE_VAR
from django.core.paginator import InvalidPage, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.console.admin.callers import caller_names, shown_caller
from apps.console.admin.theme import RowList
from apps.console.operated import seen
from apps.console.run_search import (
    DOORS,
    HOURS,
    MOST_LISTED,
    PARAMETERS,
    STATES,
    GoingFirst,
    RunSearch,
)
from apps.insights.costs import costs_of_runs
from apps.live.run_summary import RunSummary

TEXTS = {
    "q": ("Error reference, run, person or application", "1a2b3c4d"),
    "user": ("Person or caller", "anna"),
    "version": ("Version", "3"),
    "tool": ("Tool", "search"),
    "error": ("Error of a call", "status 429"),
}
"""By parameter: the label, and an example."""


class RunList(RowList):
    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        """What is left for Django to filter by: nothing that the search reads."""
        found: dict[str, Any] = super().get_filters_params(params)
        return {name: value for name, value in found.items() if name not in PARAMETERS}

    def get_queryset(
        self, request: HttpRequest, exclude_parameters: Any = None
    ) -> QuerySet[RunSummary]:
        """Raises IncorrectLookupParameters."""
        try:
            self.search = RunSearch.of(request.GET)
        except ValueError as error:
            raise IncorrectLookupParameters(error) from error
        self.root_queryset = self.search.over(request)
        rows: QuerySet[RunSummary] = super().get_queryset(request, exclude_parameters)
        return rows

    def get_results(self, request: HttpRequest) -> None:
        rows = GoingFirst(self.search.going(request), self.queryset)
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
        """By more than the words."""
        return any(self.params.get(name) for name in PARAMETERS if name != "q")

    def choices_of(self, name: str, label: str, options: Mapping[str, str]) -> Mapping[str, Any]:
        chosen = self.params.get(name, "")
        known = options if chosen in ("", *options) else {**options, chosen: chosen}
        return {"name": name, "label": label, "chosen": chosen, "options": known}


def with_figures(rows: Iterable[RunSummary]) -> list[Any]:
    """The rows with their `costs`, and the caller as a `person_name` and as `shown_person`, in a few
    queries for all.
    """
    found: list[Any] = list(rows)
    costs = costs_of_runs([row.pk for row in found])
    names = caller_names(row.bucket for row in found)
    for row in found:
        row.costs = costs[row.pk].costs if row.pk in costs else {}
        row.person_name = names[row.bucket]
        row.shown_person = shown_caller(row.bucket, names)
    return found


def selects(request: HttpRequest, listed: RunList) -> list[Mapping[str, Any]]:
    """The choices of the search; the applications are those that the person sees."""
    applications = dict(seen(request).order_by("title").values_list("slug", "title"))
    return [
        listed.choices_of("application", "Application", applications),
        listed.choices_of("status", "State", STATES),
        listed.choices_of("door", "Door", DOORS),
        listed.choices_of("hours", "Began in the last", HOURS),
    ]


def kept_parameters(request: HttpRequest) -> list[tuple[str, str]]:
    """What the search leaves as it is, such as the order."""
    left = (*PARAMETERS, PAGE_VAR, "e")
    return [(name, str(value)) for name, value in request.GET.items() if name not in left]
