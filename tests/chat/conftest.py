"""Grace, and the browser in which she has signed in."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

PASSWORD = "a-password-for-tests"


@pytest.fixture
def grace() -> User:
    return User.objects.create_user("grace", password=PASSWORD)


@pytest.fixture
def browser(grace: User) -> Client:
    client = Client()
    client.force_login(grace)
    return client
