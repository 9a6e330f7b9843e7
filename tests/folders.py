"""The tier of a test by its folder."""

from __future__ import annotations

FULL_FOLDERS = frozenset({"browser", "dial", "dial_core", "load", "peers"})
"""Their tests are part of `make check` alone, except for those with the marker `walkthrough`."""


def is_full(path: str, markers: set[str]) -> bool:
    """Return whether the folder of a test module puts a test with these markers into `make check` alone."""
    folder = path.split("/")[1]
    return folder in FULL_FOLDERS and markers.isdisjoint({"walkthrough", "soak"})
