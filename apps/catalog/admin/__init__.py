"""The admin of everything that operators edit; each module registers its rows."""

from __future__ import annotations

from apps.catalog.admin import applications, deployments, keys, people

__all__ = ["applications", "deployments", "keys", "people"]
