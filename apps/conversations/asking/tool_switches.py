"""Applies the user's choice of toolsets, if the application allows users to turn toolsets on and
off.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeGuard

from apps.capabilities.preparation import prepare
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import Refused
from apps.manifest.manifest import Manifest
from apps.manifest.names import localize_text
from apps.manifest.toolsets.shared_fields import ToolSetFields

MOST_SWITCHES = 50


@dataclass(frozen=True, slots=True)
class ToolSwitch:
    """A toolset that users can turn on and off. `is_on` is its state in new conversations."""

    name: str
    title: str
    detail: str
    is_on: bool


def tool_switches(manifest: Manifest, locale: str = "en") -> list[ToolSwitch]:
    """Return the toolsets of an application that users can turn on and off, with texts in the
    locale.
    """
    found: dict[str, ToolSwitch] = {}
    for toolset in manifest.tool_sets:
        if is_switched(toolset) and toolset.label not in found and len(found) < MOST_SWITCHES:
            found[toolset.label] = ToolSwitch(
                toolset.label,
                localize_text(toolset.shown_name, locale),
                localize_text(toolset.description or "", locale),
                toolset.user_switch == "on",
            )
    return list(found.values())


def is_switched(toolset: object) -> TypeGuard[ToolSetFields]:
    """Return True if the toolset is enabled and users can turn it on and off."""
    return (
        isinstance(toolset, ToolSetFields)
        and toolset.enabled
        and toolset.user_switch is not None
        and bool(toolset.label)
    )


def check_switches(application: ResolvedApplication, chosen: Mapping[str, bool]) -> None:
    """Raise `Refused` if users cannot turn one of these toolsets on and off."""
    known = [one.name for one in tool_switches(application.manifest)]
    for name in chosen:
        if name not in known:
            offered = ", ".join(known) or "none"
            raise Refused("bad_frame", f"tools: unknown toolset {name!r}; use {offered}.")


def with_switches(
    application: ResolvedApplication, chosen: Mapping[str, bool] | None
) -> ResolvedApplication:
    """Return the application without the toolsets that are off. `chosen` overrides the default
    states.
    """
    states = {one.name: one.is_on for one in tool_switches(application.manifest)} | dict(
        chosen or {}
    )
    manifest = application.manifest
    kept = tuple(
        toolset.model_copy(update={"enabled": False})
        if is_switched(toolset) and not states.get(toolset.label, True)
        else toolset
        for toolset in manifest.tool_sets
    )
    if all(one is other for one, other in zip(kept, manifest.tool_sets, strict=True)):
        return application
    changed = manifest.model_copy(update={"tool_sets": kept})
    issues = application.prepared.issues
    return replace(application, manifest=changed, prepared=replace(prepare(changed), issues=issues))
