"""Retention of conversations, as set by applications and users."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User

from apps.accounts.caller import bucket_of
from apps.accounts.preferences import Preferences
from apps.catalog.models import Application
from apps.conversations.keeping.retention import erase_untouched, retention_words
from apps.conversations.models import Conversation
from apps.manifest.manifest import Manifest
from tests.chat.pages.test_views import add_application, run_in
from tests.chat.scripts import MANIFEST

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def keeping(**retention: Any) -> Application:
    return add_application(manifest={**MANIFEST, "features": {"retention": retention}})


def add(application: Application, days: int, owner: str = "user-1", **fields: Any) -> str:
    """Add a conversation that was last used that many days ago. Return its title."""
    at = NOW - timedelta(days=days, minutes=1)
    title = f"{owner} {days} {' '.join(fields)}".strip()
    Conversation.objects.create(
        application=application, owner=owner, title=title, updated_at=at, **fields
    )
    return title


def left() -> set[str]:
    with time_machine.travel(NOW, tick=False):
        erase_untouched()
    return set(Conversation.objects.values_list("title", flat=True))


def test_the_days_of_an_application_count_for_all_its_conversations():
    thirty, none = keeping(days=30), add_application()
    add(thirty, 30)
    add(thirty, 31, pinned_at=NOW)
    stays = {
        add(thirty, 29),
        add(thirty, 40, "user-2", arranged_at=NOW - timedelta(days=2)),
        add(none, 5000),
    }

    assert left() == stays


def test_pinned_ones_stay_where_the_application_says_so():
    application = keeping(days=1, keep_pinned=True)
    add(application, 2)
    stays = add(application, 3, pinned_at=NOW)

    assert left() == {stays}


def test_the_shorter_of_both_wins_and_a_choice_is_for_its_person_alone():
    grace = User.objects.create_user("grace")
    Preferences.objects.create(user=grace, retention_days=30)
    mine = bucket_of(grace.pk)
    free, week, year = add_application(), keeping(days=7), keeping(days=365)
    for application in (free, year):
        add(application, 31, mine)
    add(week, 8, mine)
    add(free, 31, f"{mine}-team-3")
    add(year, 366, mine, pinned_at=NOW)
    stays = {
        add(free, 29, mine),
        add(free, 32, mine, pinned_at=NOW),
        add(free, 33, f"{mine}0"),
        add(year, 34, "key-ab"),
    }

    assert left() == stays


def test_one_in_which_an_answer_is_written_or_waits_stays():
    application = keeping(days=1)
    stays = add(application, 3)
    found = Conversation.objects.get()
    run_in(found, "waiting")
    add(application, 4)

    assert left() == {stays}


def words(bucket: str, **retention: Any) -> str:
    return retention_words(
        Manifest.model_validate({**MANIFEST, "features": {"retention": retention}}), bucket
    )


def test_the_page_says_what_holds():
    grace = User.objects.create_user("grace")
    Preferences.objects.create(user=grace, retention_days=30)
    mine = bucket_of(grace.pk)
    rest = "of inactivity."

    assert retention_words(None, "session-1") == ""
    assert words("session-1", days=1) == (
        f"Conversations with this app are deleted after a day {rest}"
    )
    assert words(mine, days=30, keep_pinned=True) == (
        f"Conversations with this app are deleted after 30 days {rest} Pinned conversations are not deleted."
    )
    assert retention_words(None, mine) == (
        f"You chose to delete conversations after 30 days {rest} Pinned conversations are not deleted."
    )
    assert words(mine, days=90) == (
        f"You chose to delete conversations after 30 days {rest} Pinned conversations are deleted after 90 days."
    )
