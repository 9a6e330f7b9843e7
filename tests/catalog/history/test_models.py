from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils.timezone import now

from apps import old_rows
from apps.catalog.history.models import delete_old
from apps.catalog.models import Change
from tests.catalog.rows import make_application

pytestmark = pytest.mark.django_db


def clean(**options: Any) -> str:
    out = StringIO()
    call_command("clean_history", stdout=out, **options)
    return out.getvalue().strip()


def test_only_what_is_older_than_the_setting_goes(settings, monkeypatch):
    monkeypatch.setattr(old_rows, "AT_ONCE", 2)
    settings.AUDIT_DAYS = 30
    for slug in "abcd":
        make_application(slug)
    recent = Change.objects.get(title="D").pk
    Change.objects.exclude(pk=recent).update(at=now() - timedelta(days=31))

    assert clean() == "Deleted: 3."
    assert [change.pk for change in Change.objects.all()] == [recent]


def test_the_server_deletes_old_changes_by_itself(settings):
    settings.AUDIT_DAYS = 30
    make_application()
    Change.objects.update(at=now() - timedelta(days=31))

    assert delete_old() == 1
    assert not Change.objects.exists()


def test_zero_days_keep_everything(settings):
    settings.AUDIT_DAYS = 0
    make_application()
    Change.objects.update(at=now() - timedelta(days=9999))

    assert clean() == "The history is retained forever."
    assert Change.objects.count() == 1


def test_less_than_nothing_is_refused():
    with pytest.raises(CommandError, match="0 or more"):
        clean(days=-1)
