"""Checks the fallbacks of a deployment when its row is saved."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apps.workspace.local.deployments.deployment import Deployment

MOST_FALLBACKS = 8
"""The maximum number of fallbacks per deployment. More would not help, because each fallback needs
time for its own attempts.
"""
Rows = Mapping[str, "Deployment"]
"""Maps deployment IDs to deployments."""


def fallback_problem(row: Deployment) -> str | None:
    """Return what is wrong with the deployment's fallbacks and how to fix it, or None if they are
    valid.
    """
    names = row.fallbacks
    if problem := shape_problem(names):
        return problem
    if not names:
        return None
    if why := unfit_reason(row):
        return f"This deployment {why}. Only chat models can have fallbacks. Remove them."
    known = {one.deployment_id: one for one in type(row).objects.exclude(pk=row.pk)}
    for name in names:
        if problem := name_problem(name, row, known):
            return problem
    if way := find_cycle(row, known):
        return f"{way[1]!r} is circular: {' → '.join(way)}. Remove one of these fallbacks."
    return None


def shape_problem(names: Any) -> str | None:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return 'Enter a JSON list of deployment IDs, such as [] or ["gpt-4o-mini"].'
    if len(names) > MOST_FALLBACKS:
        return f"There are {len(names)} deployments; the limit is {MOST_FALLBACKS}."
    twice = next((name for name in names if names.count(name) > 1), None)
    return None if twice is None else f"{twice!r} is listed twice. Remove one."


def name_problem(name: str, row: Deployment, known: Rows) -> str | None:
    if name == row.deployment_id:
        return f"{name!r} is this deployment itself. Remove it."
    if name not in known:
        return f"Unknown deployment: {name!r}. Use the ID of a deployment of this installation."
    why = unfit_reason(known[name])
    return f"{name!r} {why}. Choose a chat model." if why else None


def unfit_reason(row: Deployment) -> str:
    """Return the reason why a deployment can neither have fallbacks nor be a fallback, or "" if it
    can.
    """
    if row.kind != row.Kind.CHAT:
        return f"is of the kind {row.kind!r}"
    if row.speaks_dial:
        # Its tools might run twice.
        return "may be an application, because it uses DIAL's protocol"
    return ""


def find_cycle(row: Deployment, known: Rows) -> tuple[str, ...]:
    """Return the deployment IDs of a cycle of fallbacks that begins and ends with this deployment,
    or () if there is none.
    """
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
