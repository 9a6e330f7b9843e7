"""Functions of higher-level apps are called once each, and their failures are logged."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from apps.listeners import Listeners


def test_a_function_that_was_connected_twice_is_called_once():
    heard: list[str] = []
    listeners = Listeners[[str], None]("the news")
    for _ in range(2):
        listeners.connect(heard.append)

    listeners.notify("rain")

    assert heard == ["rain"]


def test_a_failure_is_logged_and_the_others_are_called(caplog):
    heard: list[str] = []

    def broken(news: str) -> None:
        raise LookupError(news)

    listeners = Listeners[[str], None]("the news")
    listeners.connect(broken)
    listeners.connect(heard.append)
    listeners.notify("rain")

    assert heard == ["rain"]
    assert [message.partition("<locals>.")[2] for message in caplog.messages] == [
        "broken failed to handle the news"
    ]


def test_a_failure_of_the_database_ends_the_transaction():
    def locked() -> None:
        raise OperationalError("The database is locked.")

    listeners = Listeners[[], None]("the news")
    listeners.connect(locked)

    with pytest.raises(OperationalError):
        listeners.notify()
