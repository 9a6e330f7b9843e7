"""Collects the results of all checks, by Django and by QuickApps, including the deployment
checks.
"""

from typing import Any

from django.core.checks import run_checks


def checks() -> list[dict[str, Any]]:
    found = run_checks(include_deployment_checks=True, databases=["default"])
    return [
        {"id": one.id, "level": one.level, "text": one.msg}
        for one in found
        if not one.is_silenced()
    ]
