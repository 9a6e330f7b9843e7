"""Assembles the diagnostic report, the output of the command `diagnose`."""

from functools import partial
from typing import Any

from django.core.checks import run_checks
from django.utils import timezone

from quickapps_site.operations.diagnosis import database, machine, services, work
from quickapps_site.operations.diagnosis.sections import ReportSection, read_sections
from quickapps_site.operations.diagnosis.variables import set_variables


def sections(*, asks_models: bool) -> list[ReportSection]:
    models = partial(services.deployments, ask=asks_models)
    return [
        ReportSection("versions", machine.versions),
        ReportSection("settings", set_variables),
        ReportSection("machine", machine.machine),
        ReportSection("database", database.database),
        ReportSection("redis", services.redis),
        ReportSection("channel_layer", services.channel_layer),
        ReportSection("storage", services.storage),
        ReportSection("migrations", database.migrations, needs_database=True),
        ReportSection("tables", database.tables, needs_database=True),
        ReportSection("checks", checks, 30.0, needs_database=True),
        ReportSection("queue", work.task_queue, needs_database=True),
        ReportSection("chores", work.chores, needs_database=True),
        ReportSection("failed_jobs", work.failed_jobs, needs_database=True),
        ReportSection("runs", work.runs, needs_database=True),
        ReportSection("breakers", services.breakers, needs_database=True),
        ReportSection("deployments", models, services.ALL_MODELS_SECONDS, needs_database=True),
    ]


def diagnose(*, asks_models: bool) -> dict[str, Any]:
    made_at = timezone.now().isoformat(timespec="seconds")
    return {"made_at": made_at, **read_sections(sections(asks_models=asks_models))}


def checks() -> list[dict[str, Any]]:
    """Return the results of all Django system checks, including the deployment checks."""
    found = run_checks(include_deployment_checks=True, databases=["default"])
    return [
        {"id": one.id, "level": one.level, "text": one.msg}
        for one in found
        if not one.is_silenced()
    ]
