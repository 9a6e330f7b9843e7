"""Programs that check or use the files of `deploy/`, from the system or `.venv-peers`."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.sites.fork_server import ROOT

PEERS = ROOT / ".venv-peers"
FOLDERS = (PEERS / "bin", PEERS / "prometheus/usr/bin")
CHECKS_ABSENT = (
    "checks of deploy/ skipped: .venv-peers lacks their packages (make .venv-peers/deploy.stamp)."
)


def peer(name: str) -> Path | None:
    """Return a program of `.venv-peers`; None if it is not installed."""
    return next((path for folder in FOLDERS if (path := folder / name).exists()), None)


def program(name: str) -> str | None:
    """Return a program of `.venv-peers`, else that of the system."""
    found = peer(name)
    return str(found) if found is not None else shutil.which(name)
