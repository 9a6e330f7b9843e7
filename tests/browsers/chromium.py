"""Find Chromium for the browser tests.

`python -m tests.browsers.chromium` installs one if there is none. It tries the system's package manager,
which needs root, and then Playwright's download.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Ordered by preference: a shell without windows takes a third of the CPU time."""
APT_INSTALL = ("apt-get", "install", "-y", "-qq", "--no-install-recommends")
PACKAGE_MANAGERS = {
    "apt-get": (
        (("apt-get", "update", "-qq"), (*APT_INSTALL, "chromium-headless-shell")),
        ((*APT_INSTALL, "chromium"),),
    ),
    "dnf": ((("dnf", "install", "-y", "-q", "chromium"),),),
    "apk": ((("apk", "add", "--quiet", "chromium"),),),
}
"""Ways to install it, each with its commands."""
DOWNLOAD = (sys.executable, "-m", "playwright", "install", "--no-shell", "chromium")
INSTALL_SECONDS = 900.0
ABSENCE = "Browser tests skipped: there is no Chromium, and none could be installed."


def find(own: str = "") -> str | None:
    """Return the path of a Chromium that starts, or None. `own` is the path of Playwright's own."""
    paths = [*filter(None, map(shutil.which, NAMES)), *([own] if Path(own).is_file() else ())]
    return next(filter(starts, paths), None)


def starts(path: str) -> bool:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def path_of_own() -> str:
    """Return the path of Playwright's own Chromium, installed or not."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def install(*, is_root: bool) -> list[str]:
    """Try one way after another until one succeeds. Return the errors of the failed ways."""
    problems: list[str] = []
    for commands in ways(is_root=is_root):
        problem = next(filter(None, map(run, commands)), "")
        if not problem and find(path_of_own()):
            return problems
        problems.append(problem or f"{commands[-1][0]} installed none that starts")
    return problems


def ways(*, is_root: bool) -> Iterator[tuple[tuple[str, ...], ...]]:
    if is_root:
        for name, found in PACKAGE_MANAGERS.items():
            yield from found if shutil.which(name) else ()
    yield (DOWNLOAD,)


def run(command: tuple[str, ...]) -> str:
    """Run a command. Return its error, "" if it succeeds."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=INSTALL_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    said = (done.stderr or done.stdout).strip().splitlines()
    reason = next((line for line in said if line.startswith("Error")), said[-1] if said else "")
    return f"{' '.join(command)}: {reason or done.returncode}"


def main() -> None:
    if find() or find(path_of_own()):
        return
    print("There is no Chromium for the browser tests; installing one.", flush=True)  # noqa: T201
    problems = install(is_root=hasattr(os, "geteuid") and os.geteuid() == 0)
    if not find(path_of_own()):
        print(ABSENCE, *problems, sep="\n  ")  # noqa: T201


if __name__ == "__main__":
    main()
