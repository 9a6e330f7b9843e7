from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from tests.oauth_server.flows import SITE


@pytest.fixture(autouse=True)
def authorization_server(settings: Any) -> None:
    settings.MCP_OAUTH = True
    settings.PUBLIC_URL = SITE
    settings.ALLOWED_HOSTS = ["testserver", "localhost"]
    settings.IDP_OIDC_RATE_LIMITS = {"client_registration": "100/m/ip"}
    cache.clear()  # It counts registrations.


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password="a-password-for-tests")
