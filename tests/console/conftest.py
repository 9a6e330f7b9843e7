from __future__ import annotations

import pytest
from django.test import Client

from tests.catalog.rows import make_operator


@pytest.fixture
def admin_client() -> Client:
    """Of an operator who may do everything."""
    client = Client()
    client.force_login(make_operator())
    return client
