"""Find Firefox, the second engine of the browser tests.

`python -m tests.browsers.firefox` installs one with the system's package manager, which needs root. Without
Firefox, its test is skipped.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from tests.browsers import chromium

NAMES = ("firefox-esr", "firefox")
PACKAGES = {
    "apt-get": (*chromium.APT_INSTALL, "firefox-esr"),
    "dnf": ("dnf", "install", "-y", "-q", "firefox"),
    "apk": ("apk", "add", "--quiet", "firefox-esr"),
}
ABSENCE = "The test in Firefox is skipped: there is none, and none could be installed."


def find() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def install() -> Iterator[str]:
    """Try each package manager. Return the errors."""
    for name, command in PACKAGES.items():
        if shutil.which(name) and find() is None:
            yield chromium.run(command)


def main() -> None:
    if find() or not (hasattr(os, "geteuid") and os.geteuid() == 0):
        return
    print("There is no Firefox for a second look at the page; installing one.", flush=True)  # noqa: T201
    problems = [*filter(None, install())]
    if find() is None:
        print(ABSENCE, *problems, sep="\n  ")  # noqa: T201


if __name__ == "__main__":
    main()
