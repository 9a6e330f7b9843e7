"""A model can save a schedule for a service account only on behalf of a user who manages it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from rest_framework_api_key.models import AbstractAPIKey

from apps.accounts.caller import Caller
from apps.accounts.models import ApiKey, ServiceAccount
from apps.catalog.models import Grant, Role
from apps.conversations.answering.requests import NOT_RESPONSIBLE, responsible_user
from tests.catalog.rows import make_application

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture
def robot() -> User:
    user = User.objects.create_user("robot")
    ServiceAccount.objects.create(user=user)
    return user


@pytest.fixture
def olga() -> User:
    return User.objects.create_user("olga")


def saver(account: User, unattended: Any = None, key: AbstractAPIKey | None = None) -> int | str:
    """Return the ID of the responsible user, or the error."""
    caller = Caller(f"user-{account.pk}", "user", account.pk)
    if key is not None:
        caller = Caller(f"key-{key.prefix}", "key", key_user_id=account.pk, is_own_key=True)
    try:
        return responsible_user(caller, account.pk, unattended)
    except ValidationError as error:
        return str(error.message)


def key_of(account: User, creator: User | None) -> AbstractAPIKey:
    key, _ = ApiKey.objects.create_key(name="a", user=account, created_by=creator)
    return key


def test_users_are_responsible_for_their_own_schedules(olga: User):
    key = key_of(olga, olga)

    assert [saver(olga), saver(olga, {"seconds": None}), saver(olga, key=key)] == [olga.pk] * 3


def test_the_user_who_saved_the_trigger_or_created_the_key_is_responsible(robot: User, olga: User):
    found = [
        saver(robot, {"seconds": None, "saved_by": olga.pk}),
        saver(robot, key=key_of(robot, olga)),
    ]

    assert found == [olga.pk, olga.pk]


def test_a_model_schedules_nothing_for_an_account_that_nobody_manages(
    robot: User, olga: User, caplog: pytest.LogCaptureFixture
):
    key = key_of(robot, olga)
    Grant.objects.create(application=make_application(is_shared=False), user=robot, role=Role.USER)

    found = {
        "a role that olga lacks": saver(robot, {"seconds": None, "saved_by": olga.pk}),
        "the key of olga": saver(robot, key=key),
        "an unknown creator": saver(robot, key=key_of(robot, None)),
        "an unknown saver": saver(robot, {"seconds": None}),
        "no trigger": saver(robot),
    }

    assert found == dict.fromkeys(found, NOT_RESPONSIBLE)
    refusals = [text for text in caplog.messages if text.startswith("Refused")]
    assert len(refusals) == 5
    assert "olga, may not use the service account" in refusals[0]
