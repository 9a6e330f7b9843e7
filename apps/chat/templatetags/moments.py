"""Template filters for dates and times. All pages show them with these filters, or in the language's
`DATETIME_FORMAT` (`quickapps_site/formats`). Scripts use `momentText` in `durations.js`.
"""

from datetime import datetime, timedelta

from django import template
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.timezone import now

from apps.datetimes import time_ago, time_element

register = template.Library()

RECENT = timedelta(days=7)


@register.filter(expects_localtime=True)
def moment(at: datetime) -> SafeString:
    """Return a `<time>` element with a text such as `5 minutes ago`, the date after a week, or the
    date and time if `at` is in the future. The tooltip contains the full time.
    """
    age = now() - at
    if age < timedelta(minutes=-1):
        return full_moment(at)
    return time_element(at, time_ago(at) if age < RECENT else date_format(at, "DATE_FORMAT"))


@register.filter(expects_localtime=True)
def full_moment(at: datetime) -> SafeString:
    """Return a `<time>` element with the date and time. The tooltip contains the seconds."""
    return time_element(at, f"{date_format(at, 'DATETIME_FORMAT')} {at:%Z}")
