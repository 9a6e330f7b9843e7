"""What `manage.py check` says about this installation's configuration."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.utils.module_loading import import_string

from apps.capabilities.registry import Capability


@register(Tags.compatibility)
def capabilities_exist(**options: Any) -> list[CheckMessage]:
    return [found for path in settings.CAPABILITIES if (found := check_capability(path))]


def check_capability(path: str) -> CheckMessage | None:
    hint = "settings.CAPABILITIES lists dotted paths of Capability values."
    try:
        found = import_string(path)
    except ImportError as error:
        return Error(f"CAPABILITIES names {path!r}: {error}.", hint=hint, id="quickapps.E001")
    if isinstance(found, Capability):
        return None
    kind = type(found).__name__
    return Error(
        f"CAPABILITIES names {path!r}, which is not a Capability but {kind}.",
        hint=hint,
        id="quickapps.E001",
    )


LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})


@register(Tags.security, deploy=True)
def hosts_are_named(**options: Any) -> list[CheckMessage]:
    if not set(settings.ALLOWED_HOSTS) <= LOCAL_HOSTS:
        return []
    hint = "Set ALLOWED_HOSTS to the host names that people use, separated by commas."
    return [Warning("ALLOWED_HOSTS names only this machine.", hint=hint, id="quickapps.W001")]


@register(Tags.security, deploy=True)
def traffic_is_encrypted(**options: Any) -> list[CheckMessage]:
    if settings.HTTPS:
        return []
    hint = "Put a proxy with TLS in front and set HTTPS=true."
    return [Warning("HTTPS is off: passwords travel in the clear.", hint=hint, id="quickapps.W002")]
