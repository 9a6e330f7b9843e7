"""A client of `/api/` that may do everything."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from tests.catalog.rows import make_deployment, make_operator
from tests.console.pages import script_of


@pytest.fixture
def api() -> APIClient:
    return script_of(make_operator())


@pytest.fixture
def demo_model() -> None:
    """The deployment that manifests of tests name."""
    make_deployment("demo-model")
