from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.catalog.rows import make_operator
from tests.console.pages import signed_in


@pytest.fixture
def admin_client() -> Client:
    return signed_in()


@pytest.fixture
def operator(client: Client) -> User:
    """Return the user as whom `client` is signed in."""
    person = make_operator()
    client.force_login(person)
    return person
