"""The tier of a test by its folder."""

from __future__ import annotations

FULL_FOLDERS = frozenset({"browser", "dial", "dial_core", "judges", "load", "peers"})
"""Tests in these folders run only in `make check`, except those with the marker `walkthrough`."""


def is_full(path: str, markers: set[str]) -> bool:
    """Return True if tests with these markers in the folder of this module run only in `make
    check`."""
    folder = path.split("/")[1]
    return folder in FULL_FOLDERS and markers.isdisjoint({"walkthrough", "soak"})
