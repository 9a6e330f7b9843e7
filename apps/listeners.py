"""Connects an app's events to functions in the apps that depend on it, so that it need not import
them.

The app has a `Listeners` object for each type of event. The other apps connect their functions in
`ready`.
"""

import logging
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError

logger = logging.getLogger(__name__)

Said = ParamSpec("Said")
Answer = TypeVar("Answer")


class Listeners(Generic[Said, Answer]):
    """The functions to call when an event occurs. `news` names the event in log messages, such as
    "the end of runs".
    """

    def __init__(self, news: str) -> None:
        self.news = news
        self.connected: dict[str, Callable[Said, Answer]] = {}

    def connect(self, listener: Callable[Said, Answer]) -> None:
        """Register a function. Repeated registrations have no effect."""
        self.connected[f"{listener.__module__}.{listener.__qualname__}"] = listener

    def disconnect(self, listener: Callable[Said, Answer]) -> None:
        self.connected.pop(f"{listener.__module__}.{listener.__qualname__}", None)

    def call(self, *args: Said.args, **kwargs: Said.kwargs) -> list[Answer]:
        """Call all functions, and return their results. If a function raises an error, the
        remaining functions are not called.
        """
        return [listener(*args, **kwargs) for listener in self.connected.values()]

    def notify(self, *args: Said.args, **kwargs: Said.kwargs) -> None:
        """Call all functions, and log their errors. Database connection errors are raised instead,
        so that the caller can repeat the transaction.
        """
        for name, listener in self.connected.items():
            try:
                listener(*args, **kwargs)
            except (OperationalError, InterfaceError):
                raise
            except Exception:
                logger.exception("The listener %s failed to handle %s", name, self.news)
