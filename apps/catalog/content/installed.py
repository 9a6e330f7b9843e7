"""The predefined content of this installation, read again when one of its files changes."""

from __future__ import annotations

import logging
from pathlib import Path

from django.conf import settings

from apps.catalog.content.layers import Content, read_layers, stamp_of
from apps.catalog.content.review import content_problems

logger = logging.getLogger(__name__)

_read: dict[tuple[Path, ...], Content] = {}


def directories() -> tuple[Path, ...]:
    """The layers, the built-in one first."""
    return (Path(settings.PREDEFINED_DIR),)


def installed() -> Content:
    """The same object for as long as no file changes; looking costs a stat of each file."""
    layers = directories()
    known = _read.get(layers)
    if known is None or known.stamp != stamp_of(layers):
        _read.clear()
        known = _read[layers] = read_layers(layers)
        tell(known)
    return known


def tell(content: Content) -> None:
    """Write into the log what was read, and what of it is of no use."""
    counts = ", ".join(f"{len(items)} {kind}(s)" for kind, items in content.items.items())
    logger.debug("Predefined content: %s", counts)
    for problem in content_problems(content):
        logger.warning("Predefined content: %s", problem)
