"""The workspace of a run, which every door opens here."""

from apps.accounts.caller import Caller
from apps.catalog.resolved_application import ResolvedApplication
from apps.runs.nested import find_application, list_applications
from apps.workspace.dial.core import configured_core
from apps.workspace.dial.workspace import DialWorkspace
from apps.workspace.installed_first import InstalledFirst
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.port import Workspace


def open_workspace(caller: Caller, application: ResolvedApplication | None = None) -> Workspace:
    """DIAL Core's workspace for its own callers, our own for all others.

    `application` is the one that will run. Only one of our own may use our own deployments.
    """
    core = configured_core() if caller.kind == "dial" else None
    if core is None:
        return LocalWorkspace(caller, find_application, list_applications)
    if application is not None and application.is_ours:
        return InstalledFirst(caller, core)
    return DialWorkspace(caller, core)
