"""Reads the list of bundles. Each bundle combines many scripts or styles, so that a page loads a
few files instead of a hundred.

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
    """Maps the static file name of each script or style to that of the bundle that replaces it."""
    imports: dict[str, list[str]]
    """Maps the static file name of each bundle to those of its direct and indirect imports."""
    sources: dict[str, str]
    """Maps each source file of a bundle to its SHA-256 hash, in hexadecimal."""


def read(root: Path) -> Bundles:
    """Read the list of the bundles in the folder `root`. Raises `FileNotFoundError` if there is
    none.
    """
    found = json.loads((root / DESCRIPTION).read_bytes())
    return Bundles(found["bundles"], found["imports"], found["sources"])


def root_of_sources() -> Path:
    """Return the folder that contains the bundles and all their sources. Raises `FileNotFoundError`
    if there are no bundles.
    """
    description = finders.find(DESCRIPTION)
    if description is None:
        raise FileNotFoundError(f"{DESCRIPTION} is not among the static files.")
    return Path(description).parents[DESCRIPTION.count("/")]


def changed_sources(bundles: Bundles, root: Path) -> list[str]:
    """Return the source files in the folder `root` that are missing, or have changed since
    `bundles` were built.
    """
    return [name for name, digest in bundles.sources.items() if digest != digest_of(root / name)]


def digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
