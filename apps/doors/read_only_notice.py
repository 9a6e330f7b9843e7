"""Defines the notice that pages show while the installation is read-only."""

from apps.errors import ReadOnly
from apps.runs.explanations import error_text
from apps.workspace.local import read_only


def read_only_notice() -> str:
    """Return the notice in the current language, or "" if the installation is not read-only."""
    return error_text(ReadOnly()) if read_only.is_on() else ""
