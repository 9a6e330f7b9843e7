"""Finds applications that would call themselves, directly or through others."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from apps.catalog.models import Application
from apps.catalog.review.manifests import deployment_names, with_content
from apps.manifest.problems import Problem
from apps.manifest.validation.validation import ManifestInvalid
from apps.workspace.local.models import Deployment

Calls = Mapping[str, tuple[str, ...]]
"""Maps each application to the names that it calls."""


def cycle_problems(slug: str, manifest: Any, pk: int | None = None) -> list[Problem]:
    """Return a problem for each path in the manifest whose call leads back to the application
    itself.

    Disabled applications are included, because they can be enabled at any time.
    """
    if models_named([slug]):
        return []  # In this case, the name refers to a model.
    places = list(calls_in(manifest))
    calls = reachable({name for _, name in places}, slug, pk)
    return [
        Problem(path, f"an application cannot call itself: {' → '.join((slug, *chain))}.")
        for path, name in places
        if (chain := chain_of_calls(name, slug, calls))
    ]


def calls_in(manifest: Any) -> Iterator[tuple[str, str]]:
    """Yield the path and name of each call, including in predefined content. Disabled parts are
    skipped.
    """
    with suppress(ManifestInvalid):
        manifest = with_content(manifest).manifest.model_dump(mode="json")
    return deployment_names(without_disabled(manifest))


def without_disabled(item: Any) -> Any:
    """Return the manifest with null instead of each disabled object, so that paths do not change."""
    if isinstance(item, list):
        return [without_disabled(member) for member in item]
    if not isinstance(item, dict):
        return item
    if item.get("enabled") is False:
        return None
    return {key: without_disabled(member) for key, member in item.items()}


def reachable(names: set[str], slug: str, pk: int | None) -> Calls:
    """Return the calls of each application that is reachable from these names. Runs one query per
    level.

    Enabled models end the search, because a model takes precedence over an application of the same
    name.
    """
    calls: dict[str, tuple[str, ...]] = {slug: ()}
    waiting = names
    while waiting := waiting - calls.keys() - models_named(waiting):
        rows = Application.objects.filter(slug__in=waiting)
        others = rows if pk is None else rows.exclude(pk=pk)
        found = dict(others.values_list("slug", "manifest"))
        calls |= {name: tuple({n for _, n in calls_in(found.get(name))}) for name in waiting}
        waiting = {name for known in waiting for name in calls[known]}
    return calls


def models_named(names: Iterable[str]) -> set[str]:
    enabled = Deployment.objects.filter(deployment_id__in=set(names), is_enabled=True)
    return set(enabled.values_list("deployment_id", flat=True))


def chain_of_calls(start: str, end: str, calls: Calls) -> tuple[str, ...]:
    """Return the shortest chain of calls from one name to another, including both, or ()."""
    chains: dict[str, tuple[str, ...]] = {start: (start,)}
    waiting = [start]
    while waiting:
        name = waiting.pop(0)
        if name == end:
            return chains[name]
        for next_name in calls.get(name, ()):
            if next_name not in chains:
                chains[next_name] = (*chains[name], next_name)
                waiting.append(next_name)
    return ()
