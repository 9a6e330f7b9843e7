"""Users and models are informed of messages that no user sent."""

from __future__ import annotations

import pytest

from apps.conversations.senders import Sender, sender_words
from apps.manifest.narrative import introduce_message, without_narrative

AT = "2026-05-04T12:00:00+02:00"


@pytest.mark.parametrize(
    ("sender", "words", "note"),
    [
        (
            Sender("webhook", "Orders"),
            "Sent by the webhook “Orders”",
            "[This message was sent by the",
        ),
        (
            Sender("schedule", "Report", False, at=AT),
            "Sent by the schedule “Report”, 4 May 2026, 12:00",
            "[The schedule “Report” asks this at its time, 2026-05-04T12:00:00+02:00. Nobody ",
        ),
        (
            Sender("alarm", "Alarm", False, at=AT),
            "Alarm, 4 May 2026, 12:00",
            "[The alarm that you set rings at its time, 2026-05-04T12:00:00+02:00. Nobody ",
        ),
    ],
)
def test_a_sender_is_named_to_people_and_models_and_can_be_left_out_again(sender, words, note):
    told = introduce_message("What is new?", sender.shown)

    assert sender_words(sender.shown) == words
    assert told.startswith(note)
    assert ("data from outside" in told) is sender.is_untrusted
    assert without_narrative(told) == "What is new?"
    assert Sender.read(sender.stored) == sender
