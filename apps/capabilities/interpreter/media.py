"""The kinds of output that are shown as attachments."""

from __future__ import annotations

PLOTLY = "application/vnd.plotly.v1+json"
TEXTS = frozenset({"text/plain", "text/markdown"})
"""Shown to the model as they are."""

ENDINGS = {
    ".plotly.json": PLOTLY,
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".json": "application/json",
    ".csv": "text/csv",
    ".xml": "application/xml",
    ".txt": "text/plain",
    ".md": "text/markdown",
}
"""Of the files that code writes; the first that fits decides."""

ENDING_OF = {kind: ending for ending, kind in reversed(ENDINGS.items())} | {"text/xml": ".xml"}


def type_of(name: str) -> str:
    """ "" for kinds that are not shown."""
    lowered = name.lower()
    return next((kind for ending, kind in ENDINGS.items() if lowered.endswith(ending)), "")


def is_shown(media_type: str) -> bool:
    return media_type in ENDING_OF and media_type not in TEXTS
