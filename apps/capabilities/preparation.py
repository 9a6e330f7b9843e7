"""Prepares the capabilities that a manifest uses. `settings.CAPABILITIES` lists all capabilities by
dotted path, in order, as `MIDDLEWARE` lists middleware.
"""

from functools import cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from apps.capabilities.registry import Capability, PreparedCapabilities
from apps.errors import InitializationIssue
from apps.manifest.manifest import Manifest
from apps.manifest.parts import parts_in_use


@cache
def capabilities() -> tuple[Capability, ...]:
    """Import the configured capabilities. Raises `ImproperlyConfigured` if a path does not lead to
    a capability.
    """
    found = []
    for path in settings.CAPABILITIES:
        capability = import_string(path)
        if not isinstance(capability, Capability):
            raise ImproperlyConfigured(
                f"CAPABILITIES contains {path!r}, which is not a Capability but a "
                f"{type(capability).__name__}."
            )
        found.append(capability)
    return tuple(found)


def prepare(manifest: Manifest) -> PreparedCapabilities:
    openers, issues = [], unserved(manifest)
    for capability in capabilities():
        try:
            opener = capability.prepare(manifest)
        except InitializationIssue as issue:
            issues.append(issue)
        else:
            if opener is not None:
                openers.append((capability.name, opener))
    return PreparedCapabilities(tuple(openers), tuple(issues))


SERVED_BY_THE_RUN = frozenset({"contexts.user-defined", "orchestrator.system_prompt.dial"})
RESOLVED_BY_THE_CATALOG = frozenset({"tool_sets.predefined", "tools.predefined-tool"})
"""The manifest parts that refer to catalog entries. The catalog resolves these references, and
reports unresolved ones.
"""


def unserved(manifest: Manifest) -> list[InitializationIssue]:
    """Return an issue for each manifest part that no capability supports."""
    served = SERVED_BY_THE_RUN.union(
        RESOLVED_BY_THE_CATALOG, *(capability.serves for capability in capabilities())
    )
    return [
        InitializationIssue(
            f"{part.path}: {part.name!r} is not available in this installation, "
            "so the application runs without it."
        )
        for part in parts_in_use(manifest)
        if part.name not in served
    ]
