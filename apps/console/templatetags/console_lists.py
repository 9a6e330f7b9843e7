"""Defines template filters for the search and the filters of lists in the admin."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.contrib.admin import ChoicesFieldListFilter, ListFilter
from django.contrib.admin.views.main import ERROR_FLAG, PAGE_VAR, SEARCH_VAR
from django.http import QueryDict
from django.utils.text import capfirst

from apps.console import menu
from apps.console.link_choices import LinkChoices, LinkOption

register = template.Library()

NOT_KEPT = (SEARCH_VAR, PAGE_VAR, "page", ERROR_FLAG)
"""The query parameters that a new search replaces."""


@register.filter
def kept_parameters(query: QueryDict) -> dict[str, list[str]]:
    """Return the query parameters that a new search preserves, such as filters and the order."""
    return {name: texts for name, texts in query.lists() if name not in NOT_KEPT}


@register.filter
def offered(choices: Iterable[Mapping[str, Any]], filter: ListFilter) -> LinkChoices:
    """Convert the choices of one of Django's list filters for `admin/choice.html`. The labels of a
    model field's choices are in lower case.
    """
    title = capfirst if isinstance(filter, ChoicesFieldListFilter) else str
    return LinkChoices(
        [
            LinkOption(title(str(one["display"])), one["query_string"], bool(one["selected"]))
            for one in choices
        ]
    )


@register.filter
def row_name(opts: Any, count: int = 1) -> str:
    """Return what a list calls one of its rows, or its rows if the count is not 1."""
    return menu.row_name(opts, count)
