"""Ada, who owns the conversation, Grace, who gets a link, and an application that both may use."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from apps.catalog.models import Application
from apps.conversations.models import Conversation
from tests.catalog.rows import make_application
from tests.chat.shares.talks import OPEN, add_turn, begin, person


@pytest.fixture
def ada() -> User:
    return person("ada", "Ada Lovelace")


@pytest.fixture
def grace() -> User:
    return person("grace")


@pytest.fixture
def travel() -> Application:
    return make_application(manifest=OPEN)


@pytest.fixture
def trip(ada: User, travel: Application) -> Conversation:
    made = begin(ada, travel)
    add_turn(made)
    return made
