from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from apps.catalog.versions.upgrade import FIRST, forget_upgrade
from tests.catalog.rows import make_operator
from tests.console.pages import signed_in


@pytest.fixture
def admin_client() -> Client:
    return signed_in()


@pytest.fixture
def operator(client: Client) -> User:
    """Whoever `client` is signed in as."""
    person = make_operator()
    client.force_login(person)
    return person


@pytest.fixture
def versions_began(db: None) -> Iterator[datetime]:
    """A week ago this installation began to count versions."""
    moment = timezone.now() - timedelta(days=7)
    app, name = FIRST
    MigrationRecorder.Migration.objects.filter(app=app, name=name).update(applied=moment)
    forget_upgrade()
    yield moment
    forget_upgrade()
