"""The owner of imported conversations, and the application that continues them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from apps.accounts.caller import Caller, caller_in
from apps.catalog.models import Application
from tests.chat.pages.test_views import add_application


@pytest.fixture
def grace() -> Caller:
    return caller_in(User.objects.create_user("grace").pk)


@pytest.fixture
def application() -> Application:
    return add_application()
