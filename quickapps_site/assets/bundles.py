"""Describes the bundles of scripts and styles. With bundles, a page fetches a few files instead of
a hundred.

`make bundles` creates them, and records their sources. While a source differs from the recorded
source, pages use the source files themselves.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from django.contrib.staticfiles import finders

FOLDER = "chat/bundles/"
"""The prefix of all bundles and their shared files among static files."""
DESCRIPTION = f"{FOLDER}bundles.json"


@dataclass(frozen=True, slots=True)
class Bundles:
    entries: dict[str, str]
    """Maps each script or style to the bundle that replaces it. Both are names of static files."""
    imports: dict[str, list[str]]
    """Maps each bundle to the direct and indirect imports of its script, as names of static
    files.
    """
    sources: dict[str, str]
    """Maps every source of a bundle to its SHA-256 in hexadecimal."""


def read(root: Path) -> Bundles:
    """Read the description of the bundles. Raises `FileNotFoundError` if there is no description
    below `root`.
    """
    found = json.loads((root / DESCRIPTION).read_bytes())
    return Bundles(found["bundles"], found["imports"], found["sources"])


def root_of_sources() -> Path:
    """Return the folder that contains the bundles and all their sources."""
    description = finders.find(DESCRIPTION)
    if description is None:
        raise FileNotFoundError(f"{DESCRIPTION} is not among the static files.")
    return Path(description).parents[DESCRIPTION.count("/")]


def changed_sources(bundles: Bundles, root: Path) -> list[str]:
    """Return the files below `root` that are missing or differ from the sources of the bundles."""
    return [name for name, digest in bundles.sources.items() if digest != digest_of(root / name)]


def digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
