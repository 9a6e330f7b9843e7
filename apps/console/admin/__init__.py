"""Registers the admin pages for everything that operators edit."""

# ruff: noqa: F401

from apps.console.admin.automate import deliveries, schedules, subscriptions, webhooks
from apps.console.admin.build import applications
from apps.console.admin.connect import (
    deployments,
    mcp_servers,
    prices,
    secrets,
    shared_files,
    tool_descriptions,
)
from apps.console.admin.content import items, saved_prompts
from apps.console.admin.evaluate import case_runs, cases, feedback
from apps.console.admin.govern import (
    audit,
    budgets,
    claims,
    erasure_reports,
    invitations,
    keys,
    legal_holds,
    programs,
    service_accounts,
    sign_ups,
    system_messages,
    teams,
    users,
)
from apps.console.admin.watch import jobs, open_runs, runs, usage
