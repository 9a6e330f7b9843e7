"""Applications that would call themselves, over any number of steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.apps import apps
from django.conf import settings

from apps.catalog.content.installed import installed
from apps.catalog.content.references import resolve_references
from apps.catalog.review import deployment_names
from apps.manifest.problems import Problem
from apps.manifest.validation import ManifestInvalid, read
from apps.workspace.local.models import Deployment

Calls = Mapping[str, tuple[str, ...]]
"""Application → the names that its manifest calls."""


def cycle_problems(slug: str, manifest: Any, pk: int | None = None) -> list[Problem]:
    """One for each place of the manifest that leads back to the application itself.

    Whether the others are enabled does not matter: they can be at any time.
    """
    if models_named([slug]):
        return []  # that name is a model's, so nothing leads here
    places = list(called(manifest))
    calls = reachable({name for _, name in places}, slug, pk)
    return [
        Problem(path, f"an application cannot call itself: {' → '.join((slug, *chain))}.")
        for path, name in places
        if (chain := way(name, slug, calls))
    ]


def called(manifest: Any) -> Iterator[tuple[str, str]]:
    return deployment_names(without_disabled(with_predefined(manifest)))


def with_predefined(manifest: Any) -> Any:
    """The manifest with what its references stand for; one that is none as it is."""
    try:
        checked = read(
            manifest,
            preview=settings.ENABLE_PREVIEW_FEATURES,
            default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        )
    except ManifestInvalid:
        return manifest
    return resolve_references(checked, installed()).manifest.model_dump(mode="json")


def without_disabled(item: Any) -> Any:
    """The manifest with null for what is switched off; everything else keeps its place."""
    if isinstance(item, list):
        return [without_disabled(member) for member in item]
    if not isinstance(item, dict):
        return item
    if item.get("enabled") is False:
        return None
    return {key: without_disabled(member) for key, member in item.items()}


def reachable(names: set[str], slug: str, pk: int | None) -> Calls:
    """What each application calls that these names lead to; one query for each step.

    A model of the same name comes first, so it ends the way.
    """
    application = apps.get_model("catalog", "Application")  # it checks itself with this module
    calls: dict[str, tuple[str, ...]] = {slug: ()}
    waiting = names
    while waiting := waiting - calls.keys() - models_named(waiting):
        rows = application.objects.filter(slug__in=waiting)
        others = rows if pk is None else rows.exclude(pk=pk)
        found = dict(others.values_list("slug", "manifest"))
        calls |= {name: tuple({n for _, n in called(found.get(name))}) for name in waiting}
        waiting = {name for known in waiting for name in calls[known]}
    return calls


def models_named(names: Iterable[str]) -> set[str]:
    enabled = Deployment.objects.filter(deployment_id__in=set(names), is_enabled=True)
    return set(enabled.values_list("deployment_id", flat=True))


def way(start: str, end: str, calls: Calls) -> tuple[str, ...]:
    """The shortest way from one name to another, both included; () when there is none."""
    ways: dict[str, tuple[str, ...]] = {start: (start,)}
    waiting = [start]
    while waiting:
        name = waiting.pop(0)
        if name == end:
            return ways[name]
        for next_name in calls.get(name, ()):
            if next_name not in ways:
                ways[next_name] = (*ways[name], next_name)
                waiting.append(next_name)
    return ()
