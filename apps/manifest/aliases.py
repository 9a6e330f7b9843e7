"""Renames manifest fields that other systems name differently."""

from typing import Any

ITERATIONS = "max_iterations"
ALIASES = ("MaxTurns", "maxIterations")
"""Other systems' names for `max_iterations`. They occur inside `orchestrator` or next to it."""


def with_own_names(document: Any) -> Any:
    """Replace other systems' field names in the document with this project's names.

    If a document sets the iteration limit under both names, both remain, and validation warns about
    the other system's name.
    """
    orchestrator = document.get("orchestrator") if isinstance(document, dict) else None
    if not isinstance(orchestrator, dict) or ITERATIONS in orchestrator:
        return document
    said = [
        (place, name) for place in (orchestrator, document) for name in ALIASES if name in place
    ]
    if len(said) != 1:
        return document
    place, alias = said[0]
    changed = {**without(orchestrator, alias), ITERATIONS: place[alias]}
    return {**without(document, alias), "orchestrator": changed}


def without(members: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in members.items() if key != name}
