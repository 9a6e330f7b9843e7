"""Reads the list of bundles. A bundle combines many scripts or styles, so that a page loads only a
few files.

`make bundles` creates the bundles, and records the hashes of their sources. If a source has changed
since then, pages load the sources themselves.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from django.contrib.staticfiles import finders

FOLDER = "chat/bundles/"
"""The folder of the bundles and their shared files, relative to the static files."""
DESCRIPTION = f"{FOLDER}bundles.json"


@dataclass(frozen=True, slots=True)
class Bundles:
    entries: dict[str, str]
    """Maps each script or style to the bundle that replaces it, by static file name."""
    imports: dict[str, list[str]]
    """Maps each bundle to its direct and indirect imports, by static file name."""
    sources: dict[str, str]
    """Maps each source file to its SHA-256 hash, in hexadecimal."""


def read(root: Path) -> Bundles:
    """Read the list of bundles in the folder `root`. Raises `FileNotFoundError` if it is missing."""
    found = json.loads((root / DESCRIPTION).read_bytes())
    return Bundles(found["bundles"], found["imports"], found["sources"])


def root_of_sources() -> Path:
    """Return the folder of the bundles and all their sources. Raises `FileNotFoundError` if there
    are no bundles.
    """
    description = finders.find(DESCRIPTION)
    if description is None:
        raise FileNotFoundError(f"{DESCRIPTION} is not among the static files.")
    return Path(description).parents[DESCRIPTION.count("/")]


def changed_sources(bundles: Bundles, root: Path) -> list[str]:
    """Return the source files in `root` that are missing or have changed since `bundles` were
    built.
    """
    return [name for name, digest in bundles.sources.items() if digest != digest_of(root / name)]


def digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
