"""Reads the description of the bundles, with which a page fetches a few scripts and styles instead
of a hundred.

`make bundles` creates the bundles, and records their sources. While a source differs from the
recorded source, pages use the source files themselves.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from django.contrib.staticfiles import finders

FOLDER = "chat/bundles/"
"""The folder of the bundles and the files that they share, below the static files."""
DESCRIPTION = f"{FOLDER}bundles.json"


@dataclass(frozen=True, slots=True)
class Bundles:
    entries: dict[str, str]
    """Maps each script or style to the bundle that replaces it, both by their names as static
    files.
    """
    imports: dict[str, list[str]]
    """Maps each bundle to its direct and indirect imports, as names of static files."""
    sources: dict[str, str]
    """Maps each source of a bundle to the SHA-256 of its content, in hexadecimal."""


def read(root: Path) -> Bundles:
    """Read the description of the bundles in the folder `root`. Raises `FileNotFoundError` if there
    is none.
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
    """Return the sources in the folder `root` that are missing or differ from those of the bundles."""
    return [name for name, digest in bundles.sources.items() if digest != digest_of(root / name)]


def digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
