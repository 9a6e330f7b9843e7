"""Names that other systems have for our fields, in manifests that come from there."""

from typing import Any

ITERATIONS = "max_iterations"
ALIASES = ("MaxTurns", "maxIterations")
"""Of `orchestrator.max_iterations`; they stand there, or beside `orchestrator`."""


def with_own_names(document: Any) -> Any:
    """The document with our names. A limit that is said twice stays, and is warned of as unknown."""
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
