"""The admin of everything that operators edit."""

from apps.console.admin import (  # noqa: F401 - each registers its rows
    applications,
    audit,
    budgets,
    claims,
    content,
    deployments,
    invitations,
    keys,
    mcp_servers,
    open_runs,
    prices,
    runs,
    secrets,
    shared_files,
    sign_ups,
    system_messages,
    tool_descriptions,
    usage,
    users,
)
