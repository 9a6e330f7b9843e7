"""Reads the section of the report with the results of Django's and QuickApps's checks, including
those for deployment.
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
