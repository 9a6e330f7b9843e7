"""The admin of everything that operators edit."""

from __future__ import annotations

from apps.console.admin import (  # noqa: F401 - each registers its rows
    applications,
    content,
    deployments,
    keys,
    mcp_servers,
    secrets,
    shared_files,
    users,
)
