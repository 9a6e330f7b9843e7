"""The context processor that adds the sidebar's data to templates."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from apps.accounts.models import Picture
from apps.catalog.models import Application
from apps.chat.rail import content
from apps.chat.visitors import visitor


def rail(request: HttpRequest) -> dict[str, Any]:
    """Return a template context with the sidebar's data. The database is queried only if a template
    shows the data.
    """
    if getattr(request, "user", None) is None:
        return {}
    return {
        "rail": partial(first_page, request),
        "rail_applications": partial(applications, request),
        "own_picture": partial(picture_of, request.user.pk),
        "has_own_keys": settings.PERSONAL_API_KEYS,
    }


def first_page(request: HttpRequest) -> dict[str, Any]:
    return content.first_page(visitor(request))


def applications(request: HttpRequest) -> list[Application]:
    return content.applications(visitor(request))


def picture_of(user: int | None) -> Mapping[str, Any] | None:
    """Return the time of the last change to the user's picture as template data, or None if the
    user has no picture.
    """
    return Picture.objects.filter(user=user).values("changed_at").first() if user else None
