"""Where the gateway's consumers are, and the way past them to Django."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, re_path

urlpatterns: list[URLPattern] = []


def otherwise(application: Any) -> list[URLPattern]:
    """Everything that no consumer took."""
    return [re_path(r"", application)]
