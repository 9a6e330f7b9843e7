"""Reads and compares versions of QuickApps."""

import tomllib
from importlib import metadata

from django.conf import settings


def product_version() -> str:
    """Return the version in a checkout's `pyproject.toml`, or else the version of the package."""
    try:
        text = (settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8")
    except FileNotFoundError:
        return metadata.version("quickapps")
    return str(tomllib.loads(text)["project"]["version"])


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers in a version, for comparisons. Raises ValueError if it is invalid."""
    return tuple(int(part) for part in version.split("."))
