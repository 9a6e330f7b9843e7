"""Scripts and styles that were joined beforehand, so that a page fetches a few files, not a hundred.

`make bundles` makes them, and writes down what went into them. While a file differs from what went
into a bundle, pages use the files themselves.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from django.contrib.staticfiles import finders

FOLDER = "chat/bundles/"
"""All bundles and what they share, as names of static files."""
DESCRIPTION = f"{FOLDER}bundles.json"


@dataclass(frozen=True, slots=True)
class Bundles:
    entries: dict[str, str]
    """The bundle that stands for a script or style; both are names of static files."""
    imports: dict[str, list[str]]
    """What the script of a bundle imports, and what that imports, as names of static files."""
    sources: dict[str, str]
    """The SHA-256, in hexadecimal digits, of every file that went into a bundle."""


def read(root: Path) -> Bundles:
    """Raises `FileNotFoundError` if the description of the bundles is not below `root`."""
    found = json.loads((root / DESCRIPTION).read_bytes())
    return Bundles(found["bundles"], found["imports"], found["sources"])


def root_of_sources() -> Path:
    """The folder that has the bundles, and all that they were made of."""
    description = finders.find(DESCRIPTION)
    if description is None:
        raise FileNotFoundError(f"{DESCRIPTION} is not among the static files.")
    return Path(description).parents[DESCRIPTION.count("/")]


def changed_sources(bundles: Bundles, root: Path) -> list[str]:
    """Which files below `root` differ from what went into the bundles, or are gone."""
    return [name for name, digest in bundles.sources.items() if digest != digest_of(root / name)]


def digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
