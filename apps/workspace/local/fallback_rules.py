"""Which fallbacks a deployment can have, checked when its row is saved."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from apps.workspace.local.deployment import Deployment

MOST_FALLBACKS = 8
"""More are of no use: each of them takes the time of its own attempts."""
Rows = Mapping[str, Deployment]
"""By id."""


def fallback_problem(row: Deployment) -> str | None:
    """What is wrong with the fallbacks of a row, and what to do; None for nothing."""
    names = row.fallbacks
    if problem := shape_problem(names):
        return problem
    if not names:
        return None
    if why := why_unfit(row):
        return f"This deployment {why}. Only chat models have fallbacks: leave them out."
    known = {one.deployment_id: one for one in Deployment.objects.exclude(pk=row.pk)}
    for name in names:
        if problem := name_problem(name, row, known):
            return problem
    if way := way_back(row, known):
        return f"{way[1]!r} leads back here: {' → '.join(way)}. Take it out, here or there."
    return None


def shape_problem(names: Any) -> str | None:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return 'Write a JSON list of the ids of deployments, such as [] or ["gpt-4o-mini"].'
    if len(names) > MOST_FALLBACKS:
        return f"These are {len(names)} deployments. Name at most {MOST_FALLBACKS}."
    twice = next((name for name in names if names.count(name) > 1), None)
    return None if twice is None else f"{twice!r} is named twice. Name it once."


def name_problem(name: str, row: Deployment, known: Rows) -> str | None:
    if name == row.deployment_id:
        return f"{name!r} is this deployment itself. Name others."
    if name not in known:
        return f"There is no deployment {name!r}. Name one of this installation, by its id."
    why = why_unfit(known[name])
    return f"{name!r} {why}. Name a chat model." if why else None


def why_unfit(row: Deployment) -> str:
    """Why a deployment can neither have fallbacks nor be one; "" if it can."""
    if row.kind != Deployment.Kind.CHAT:
        return f"is of the kind {row.kind!r}"
    if isinstance(row.features, dict) and row.features.get("dial") is True:
        # Its tools might do their work twice.
        return "may be an application, because it speaks DIAL"
    return ""


def way_back(row: Deployment, known: Rows) -> tuple[str, ...]:
    """The ids on the way from a row over fallbacks back to itself; () if there is none."""
    ways: deque[tuple[str, ...]] = deque((row.deployment_id, name) for name in row.fallbacks)
    seen: set[str] = set()
    while ways:
        start, *_, last = way = ways.popleft()
        if last == start:
            return way
        if last in known and last not in seen:
            seen.add(last)
            ways.extend((*way, name) for name in known[last].fallbacks)
    return ()
