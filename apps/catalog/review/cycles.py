"""Finds applications that would call themselves, directly or through other applications."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q

from apps.catalog.history.actors import current_actor
from apps.catalog.models import Application, Change
from apps.catalog.review.manifests import deployment_names, with_content
from apps.manifest.problems import Problem
from apps.manifest.validation.validation import ManifestInvalid
from apps.workspace.local.models import Deployment

Calls = Mapping[str, tuple[str, ...]]
"""Maps the name of each application to the names of the deployments that it calls."""


def cycle_problems(slug: str, manifest: Any, pk: int | None = None) -> list[Problem]:
    """Return a problem for each call in the manifest that leads back to the application itself.

    The messages name only applications that the user of the current request can see. Calls through
    disabled applications count, because they can be enabled at any time.
    """
    if models_named([slug]):
        return []  # In this case, the name refers to a model.
    places = list(calls_in(manifest))
    calls = reachable({name for _, name in places}, slug, pk)
    chains = [(path, chain_of_calls(name, slug, calls)) for path, name in places]
    hidden = hidden_names({name for _, chain in chains for name in chain} - {slug})
    return [
        Problem(path, f"an application cannot call itself: {chain_words((slug, *chain), hidden)}.")
        for path, chain in chains
        if chain
    ]


def chain_words(chain: Iterable[str], hidden: Collection[str]) -> str:
    """Format a chain of calls, such as "a → … → b". An ellipsis replaces hidden names."""
    groups = groupby(chain, key=hidden.__contains__)
    return " → ".join("…" if is_hidden else " → ".join(names) for is_hidden, names in groups)


def hidden_names(names: Collection[str]) -> set[str]:
    """Return the names of applications that the user of the current request cannot see. Outside a
    request, return no names.
    """
    actor = current_actor()
    user, is_own = actor.user, actor.via in (Change.Via.COMMAND, Change.Via.SERVER)
    if not names or (user is None and is_own) or (user is not None and sees_all(user)):
        return set()
    seen = Q(is_shared=True) | Q(is_public=True)
    if user is not None:
        seen |= Q(owner=user) | Q(grants__user=user) | Q(grants__group__user=user)
    rows = Application.objects.filter(seen, slug__in=names).order_by()
    return set(names) - set(rows.values_list("slug", flat=True))


def sees_all(user: User) -> bool:
    return any(user.has_perm(f"catalog.{name}_all_applications") for name in ("access", "see"))


def calls_in(manifest: Any) -> Iterator[tuple[str, str]]:
    """Yield the path and name of each deployment that a manifest calls, directly or through
    predefined content. Skip disabled objects.
    """
    with suppress(ManifestInvalid):
        manifest = with_content(manifest).manifest.model_dump(mode="json")
    return deployment_names(without_disabled(manifest))


def without_disabled(item: Any) -> Any:
    """Replace each disabled object in the manifest with null, so that other paths do not change."""
    if isinstance(item, list):
        return [without_disabled(member) for member in item]
    if not isinstance(item, dict):
        return item
    if item.get("enabled") is False:
        return None
    return {key: without_disabled(member) for key, member in item.items()}


def reachable(names: set[str], slug: str, pk: int | None) -> Calls:
    """Return the calls of the applications with these names, and of the applications that they call
    directly or indirectly. Runs two queries per level.

    The search stops at enabled models, which take precedence over applications with the same name.
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
    """Return the shortest chain of calls from `start` to `end`, including both, or ()."""
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
