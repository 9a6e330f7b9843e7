"""Dates and times on pages: relative for a week, then one format for each language."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import translation
from django.utils.formats import date_format
from time_machine import travel

from apps.chat.templatetags.moments import full_moment, moment

AT = datetime(2026, 11, 3, 17, 5, 9, tzinfo=UTC)
ELEMENT = '<time datetime="2026-11-03T17:05:09+00:00" title="3 Nov 2026, 17:05:09 UTC">{}</time>'


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=-5), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=59), "59 minutes ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=6, hours=23), "6 days ago"),
        (timedelta(days=7), "3 Nov 2026"),
        (timedelta(hours=-1), "3 Nov 2026, 17:05 UTC"),
    ],
)
def test_a_moment_is_relative_for_a_week_and_then_a_date(age, words):
    with travel(AT + age, tick=False):
        assert moment(AT) == ELEMENT.format(words)


def test_a_full_moment_has_its_date_and_time():
    assert full_moment(AT) == ELEMENT.format("3 Nov 2026, 17:05 UTC")


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", "3 Nov 2026, 17:05"),
        ("de", "3. Nov. 2026, 17:05"),
        ("uk", "3 листопада 2026 р., 17:05"),  # noqa: RUF001
        ("ar", "3 نوفمبر 2026، 17:05"),
    ],
)
def test_each_language_has_one_format(language, shown):
    with translation.override(language):
        assert date_format(AT, "DATETIME_FORMAT") == shown
