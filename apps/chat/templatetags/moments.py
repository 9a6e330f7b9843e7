"""The template filter for how long ago something happened."""

from datetime import datetime, timedelta

from django import template
from django.utils.timesince import timesince
from django.utils.timezone import now
from django.utils.translation import gettext

register = template.Library()


@register.filter
def time_ago(moment: datetime) -> str:
    """Return a text such as `5 minutes ago`, or `just now` in the first minute."""
    if now() - moment < timedelta(minutes=1):
        return gettext("just now")
    return gettext("%(time)s ago") % {"time": timesince(moment)}
