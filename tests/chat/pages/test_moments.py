"""How long ago something happened, in words."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from apps.chat.templatetags.moments import time_ago


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=-5), "just now"),
        (timedelta(minutes=5), "5\xa0minutes ago"),
    ],
)
def test_the_first_minute_is_just_now(age, words):
    assert time_ago(now() - age) == words
