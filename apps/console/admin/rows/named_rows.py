"""Shows the names of callers and applications in lists. All names of a list are looked up at once."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import SafeString

from apps.console.admin.callers import (
    application_titles,
    caller_names,
    shown_application,
    shown_caller,
)


def name_rows(rows: Iterable[Any], callers: Iterable[str], application: str = "") -> None:
    """Look up the names of the callers in these columns, and the titles of the applications in the
    column `application`. Store them in the rows, for `named_caller` and `named_application`.
    """
    found, columns = list(rows), tuple(callers)
    names = caller_names(getattr(row, column) for row in found for column in columns)
    slugs = (getattr(row, application) for row in found) if application else ()
    titles = application_titles(slugs)
    for row in found:
        row.names, row.titles = names, titles


def named_caller(row: Any, column: str = "bucket") -> str | SafeString:
    """Return a table cell with the name of the caller in this column."""
    bucket = getattr(row, column)
    known = getattr(row, "names", None)  # Missing on the page of a single row.
    return shown_caller(bucket, caller_names([bucket]) if known is None else known)


def named_application(row: Any, column: str = "application") -> str | SafeString:
    """Return a table cell with the title of the application in this column."""
    slug = getattr(row, column)
    known = getattr(row, "titles", None)
    return shown_application(slug, application_titles([slug]) if known is None else known)


class NamedRows:
    """A mixin for the admin of rows with callers or the slug of an application."""

    caller_columns: tuple[str, ...] = ()
    application_column = ""

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)  # type: ignore[misc]  # of the admin
        name_rows(listed.result_list, self.caller_columns, self.application_column)
        return listed
