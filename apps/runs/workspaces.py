"""What the runs of this installation stand on; every door opens it here."""

from __future__ import annotations

from apps.accounts.caller import Caller
from apps.runs.nested import find_application, list_applications
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.port import Workspace


def open_workspace(caller: Caller) -> Workspace:
    return LocalWorkspace(caller, find_application, list_applications)
