"""Defines the list of runs in the admin, with its own search. Active runs come first."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG, PAGE_VAR
from django.core.paginator import InvalidPage, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.console.admin.callers import distinct_titles
from apps.console.admin.rows.named_rows import name_rows
from apps.console.admin.theme import RowList
from apps.console.admin.watch.run_questions import read_questions, record_list
from apps.console.link_choices import LinkChoices, link_choices
from apps.console.operator_rights import visible_applications
from apps.console.run_search import (
    HOURS,
    MOST_LISTED,
    PARAMETERS,
    SOURCES,
    STATES,
    ActiveFirstRuns,
    RunSearch,
)
from apps.insights.sums import costs_of_runs
from apps.live.run_summary import RunSummary

TEXTS = {
    "user": ("User or caller", "anna"),
    "version": ("Version", "3"),
    "tool": ("Tool", "search"),
    "error": ("Error", "status 429"),
}
"""The label and an example for each filter that is a text field."""


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
        questions = read_questions(request, (row.pk for row in self.result_list))
        for row in self.result_list:
            row.question = questions.get(row.pk, "")
        record_list(request, questions.values(), "questions in the list of runs")
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

    @property
    def field_names(self) -> tuple[str, ...]:
        """The parameters that a submitted form with the text fields replaces."""
        return (*TEXTS, PAGE_VAR, ERROR_FLAG)

    @property
    def filled_fields(self) -> int:
        return sum(bool(self.params.get(name)) for name in TEXTS)


def with_figures(rows: Iterable[RunSummary]) -> list[Any]:
    """Add `costs`, `person_name` and the names of `name_rows` to the rows."""
    found: list[Any] = list(rows)
    costs = costs_of_runs([row.pk for row in found])
    name_rows(found, ("bucket",), "application")
    for row in found:
        row.costs = costs[row.pk].costs if row.pk in costs else {}
        row.person_name = row.names[row.bucket]
    return found


def filters(request: HttpRequest) -> list[tuple[str, LinkChoices]]:
    """Return the label and the values of each filter that is a list of links."""
    applications = distinct_titles(visible_applications(request).order_by("title"))
    offered: Mapping[str, tuple[str, Mapping[str, str]]] = {
        "application": ("Application", applications),
        "status": ("State", STATES),
        "door": ("Source", SOURCES),
        "hours": ("Started", HOURS),
    }
    return [
        (label, link_choices(request, name, with_chosen(titles, request.GET.get(name, ""))))
        for name, (label, titles) in offered.items()
    ]


def with_chosen(titles: Mapping[str, str], chosen: str) -> Mapping[str, str]:
    """Return the titles of the values, after "All". Include a chosen value that is unknown, such as
    a deleted application.
    """
    known = {"": "All", **titles}
    return known if chosen in known else {**known, chosen: chosen}
