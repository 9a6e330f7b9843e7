"""Scripts and styles that were joined beforehand, so that a page fetches a few files, not a hundred.

`make bundles` makes them, and writes down what went into them. While a file differs from what went
into a bundle, pages use the files themselves.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = "chat/bundles/"
"""All bundles and what they share, as names of static files."""
DESCRIPTION = f"{FOLDER}bundles.json"


@dataclass(frozen=True, slots=True)
class Bundles:
    entries: dict[str, str]
    """The bundle that stands for a script or style; both are names of static files."""
    sources: dict[str, str]
    """The SHA-256, in hexadecimal digits, of every file that went into a bundle."""


def read(root: Path) -> Bundles:
    """`root` holds the static files; no bundles if their description is not there."""
    try:
        found = json.loads((root / DESCRIPTION).read_bytes())
    except FileNotFoundError:
        return Bundles({}, {})
    return Bundles(found["bundles"], found["sources"])


def changed_sources(bundles: Bundles, root: Path) -> list[str]:
    """Which files below `root` differ from what went into the bundles, or are gone."""
    return [name for name, digest in bundles.sources.items() if digest != digest_of(root / name)]


def digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
