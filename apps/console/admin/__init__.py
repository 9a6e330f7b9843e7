"""The admin of everything that operators edit; each module registers its rows."""

from __future__ import annotations

from apps.console.admin import (
    applications,
    content,
    deployments,
    keys,
    mcp_servers,
    people,
    secrets,
    shared_files,
)

__all__ = [
    "applications",
    "content",
    "deployments",
    "keys",
    "mcp_servers",
    "people",
    "secrets",
    "shared_files",
]
