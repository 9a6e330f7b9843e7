"""Shows times in lists and on pages of the admin."""

from collections.abc import Callable
from datetime import datetime, tzinfo
from functools import cache
from typing import Any

from django.contrib import admin
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

from apps.datetimes import time_element

NOTHING = "\N{EN DASH}"


def time_cell(at: datetime | None, zone: tzinfo | None = None) -> str | SafeString:
    """Return a time in the zone, or by default in the server's zone. The tooltip contains the seconds
    and the zone. The text omits the zone, because all times in the admin have the same one, except
    in lists with a column for it.
    """
    if at is None:
        return NOTHING
    local = localtime(at, zone)
    return time_element(local, date_format(local, "DATETIME_FORMAT"))


@cache  # Django compares the columns of a list with those that can be sorted.
def time_column(name: str, title: str) -> Callable[[Any], str | SafeString]:
    """Return the column of a list for the model field `name`, which contains times."""

    def column(row: Any) -> str | SafeString:
        return time_cell(getattr(row, name))

    column.__name__ = name  # The name in the column's CSS classes.
    return admin.display(description=title, ordering=name)(column)
