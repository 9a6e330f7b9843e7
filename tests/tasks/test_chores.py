"""The maintenance jobs of all apps run, and have nothing to do in a new installation."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.module_loading import import_string

from apps.chores import Chore
from apps.tasks.task import all_chores


@pytest.mark.django_db
@pytest.mark.postgres
@pytest.mark.usefixtures("storage")
@pytest.mark.parametrize("chore", [*all_chores()], ids=lambda chore: chore.title)
def test_a_chore_has_nothing_to_do_in_a_new_installation(chore: Chore):
    work = import_string(chore.work)
    assert not (async_to_sync(work) if chore.is_async else work)()


@pytest.mark.django_db
def test_sessions_that_have_expired_are_deleted():
    current, expired = SessionStore(), SessionStore()
    for session in (current, expired):
        session.create()
    Session.objects.filter(pk=expired.session_key).update(expire_date=timezone.now())

    import_string("apps.accounts.sign_in.sessions.delete_expired")()

    assert list(Session.objects.values_list("pk", flat=True)) == [current.session_key]
