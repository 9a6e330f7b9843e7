"""A client of `/api/` with all permissions."""

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
    """The deployment in the manifests of tests."""
    make_deployment("demo-model")
