"""Collects the diagnostic report's sections on versions and on the machine's free resources."""

import os
import platform
import shutil
import sys
from importlib import metadata
from typing import Any

from django.conf import settings
from django.utils import timezone

from quickapps_site.operations.version import product_version

LIBRARIES = (
    "channels",
    "channels-redis",
    "django",
    "django-allauth",
    "django-tasks",
    "django-unfold",
    "djangorestframework",
    "httpx",
    "mcp",
    "msgspec",
    "numpy",
    "openai",
    "opentelemetry-sdk",
    "procrastinate",
    "psycopg",
    "pydantic",
    "redis",
    "uvicorn",
    "uvloop",
    "websockets",
)


def versions() -> dict[str, Any]:
    return {
        "quickapps": product_version(),
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "libraries": {name: version_of(name) for name in LIBRARIES},
    }


def version_of(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "not installed"


def machine() -> dict[str, Any]:
    disk = shutil.disk_usage(settings.VAR_DIR)
    return {
        "time": timezone.now().isoformat(timespec="milliseconds"),
        "processors": os.cpu_count(),
        "load": [round(one, 2) for one in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "data_dir": {"total_bytes": disk.total, "free_bytes": disk.free},
    }
