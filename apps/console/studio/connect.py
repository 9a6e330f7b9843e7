"""Returns the data for the studio's page about connecting clients: APIs, widget and API keys."""

from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from apps.catalog.models import Application, Widget
from apps.catalog.widgets.identity_keys import algorithm_of
from apps.console.operator_rights import may_grant
from apps.doors.guides import load_guides


def connect_data(request: HttpRequest, row: Application) -> dict[str, Any]:
    """Return the guides for all APIs, and the settings of the widget.

    `keys` is the URL of the admin's page for API keys, or "" if the user lacks permission.
    `own_keys` is the URL at which users create keys for themselves, or "" if the installation
    disables that.
    """
    origin = f"{request.scheme}://{request.get_host()}"
    may_create = request.user.has_perm("accounts.add_apikey")
    return {
        "widget": widget_data(
            request, row, getattr(row, "widget", None) or Widget(application=row)
        ),
        "doors": [asdict(guide.fill(origin, row.slug, row.title)) for guide in load_guides()],
        "keys": reverse("apikey-list") if may_create else "",
        "own_keys": f"{reverse('account')}#keys" if settings.PERSONAL_API_KEYS else "",
        "user": request.user.get_username(),
    }


def widget_data(request: HttpRequest, row: Application, widget: Widget) -> dict[str, Any]:
    """Return the settings of the widget, without its key."""
    return {
        "is_enabled": widget.is_enabled,
        "origins": widget.origins,
        "has_key": bool(widget.identity_key),
        "algorithm": algorithm_of(widget.identity_key) if widget.identity_key else "",
        "is_public": row.is_public,
        "may_change": may_grant(request, row),
    }
