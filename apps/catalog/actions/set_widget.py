"""Changes the settings of an application's widget. The changes apply immediately, and do not affect
the draft or the live version.
"""

import re
import secrets
from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.catalog.actions.go_live import lock_application
from apps.catalog.models import Application, Widget
from apps.catalog.widgets.identity_keys import read_public_key

KEY_BYTES = 32
MOST_ORIGINS = 20
LONGEST_ORIGIN = 260
_label = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
# An IPv6 address is not a valid source in a content security policy.
_form = re.compile(rf"(https?)://({_label}(?:\.{_label})*)(?::([1-9][0-9]{{0,4}}))?", re.ASCII)
_DEFAULT_PORTS = {"https": "443", "http": "80"}
HIGHEST_PORT = 65_535


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
    the user who makes the change, such as `user-7`.

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
    """Create a new secret key, which the embedding site uses to sign its users' identities.
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


def read_origins(written: object) -> list[str]:
    """Convert the origins to the form that browsers send, and remove duplicates. Raises
    `ValidationError` if an origin is invalid.
    """
    if not isinstance(written, Sequence) or isinstance(written, str):
        raise ValidationError("origins: send a list of strings.")
    if len(written) > MOST_ORIGINS:
        raise ValidationError(
            f"The widget has {len(written)} origins; the limit is {MOST_ORIGINS}."
        )
    return list(dict.fromkeys(map(read_origin, written)))


def read_origin(written: object) -> str:
    """Convert an origin to the form that browsers send. Raises `ValidationError` if it is invalid."""
    text = written.strip().lower().removesuffix("/") if isinstance(written, str) else ""
    found = _form.fullmatch(text) if len(text) <= LONGEST_ORIGIN else None
    if found is None or int(found[3] or 1) > HIGHEST_PORT:
        shown = ascii(written)[:100] if isinstance(written, str) else type(written).__name__
        raise ValidationError(
            f"Invalid origin: {shown}. Use a scheme, a host and an optional port, without a path "
            "and without wildcards, such as https://www.example.com."
        )
    scheme, host, port = found.groups()
    is_default = port is None or port == _DEFAULT_PORTS[scheme]
    return f"{scheme}://{host}" if is_default else f"{scheme}://{host}:{port}"
