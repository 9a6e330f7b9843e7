"""The admin of everything that operators edit."""

from apps.console.admin import (  # noqa: F401 - each registers its rows
    applications,
    audit,
    budgets,
    content,
    deployments,
    invitations,
    keys,
    mcp_servers,
    open_runs,
    prices,
    runs,
    secrets,
    service_accounts,
    shared_files,
    sign_ups,
    system_messages,
    teams,
    tool_descriptions,
    usage,
    users,
)
