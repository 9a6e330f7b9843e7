"""The predefined content of this installation, read again when one of its files changes."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from apps.catalog.content.layers import Content, read_layers, stamp_of

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
    return known
