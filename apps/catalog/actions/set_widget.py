"""Changes the settings of an application's widget. The changes apply immediately, and do not affect
the draft or the live version.
"""

import secrets

from django.db import transaction

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.catalog.actions.go_live import lock_application
from apps.catalog.models import Application, Widget
from apps.catalog.widgets.identity_keys import read_public_key
from apps.catalog.widgets.origins import read_origins

KEY_BYTES = 32


@transaction.atomic
def execute(
    application: Application,
    actor: str,
    address: str,
    *,
    is_enabled: bool | None = None,
    origins: object = None,
) -> Widget:
    """Save the arguments that are not None, and return the stored widget. `actor` is the bucket of
    the user who makes the change.

    Raises `ValidationError` if an origin is invalid.
    """
    lock_application(application)
    widget = widget_of(application)
    if is_enabled is not None:
        widget.is_enabled = is_enabled
    if origins is not None:
        widget.origins = read_origins(origins)
    widget.save()
    state = "on" if widget.is_enabled else "off"
    record(application, actor, address, f"{state}: {' '.join(widget.origins)}")
    return widget


@transaction.atomic
def replace_key(application: Application, actor: str, address: str) -> Widget:
    """Create a new secret key, with which the embedding site signs its users' identities.
    Identities signed with the old key become invalid.
    """
    lock_application(application)
    widget = widget_of(application)
    widget.identity_key = secrets.token_urlsafe(KEY_BYTES)
    widget.save()
    record(application, actor, address, "new identity key")
    return widget


@transaction.atomic
def set_public_key(application: Application, actor: str, address: str, written: object) -> Widget:
    """Replace the current key with the embedding site's public key. The site signs its users'
    identities with the matching private key.

    Raises `ValidationError` if `written` is not a valid public key.
    """
    lock_application(application)
    widget = widget_of(application)
    widget.identity_key = read_public_key(written)
    widget.save()
    record(application, actor, address, "new public identity key")
    return widget


def widget_of(application: Application) -> Widget:
    """Return the application's widget, or an unsaved, disabled widget if it has none."""
    found = Widget.objects.filter(application=application).first()
    return found or Widget(application=application)


def record(application: Application, actor: str, address: str, subject: str) -> None:
    audit.record(AuditEvent("widget.changed", actor, address, application.slug, subject=subject))
