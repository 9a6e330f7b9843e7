"""Lets an app call functions of apps that depend on it: they register their functions for an event
of the app.

The app has a `Listeners` object for each kind of event. Apps that depend on it connect their
functions in `ready`.
"""

import logging
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError

logger = logging.getLogger(__name__)

Said = ParamSpec("Said")
Answer = TypeVar("Answer")


class Listeners(Generic[Said, Answer]):
    """The functions to call at one kind of event. `news` names the event, such as "the end of
    runs", in log messages.
    """

    def __init__(self, news: str) -> None:
        self.news = news
        self.connected: dict[str, Callable[Said, Answer]] = {}

    def connect(self, listener: Callable[Said, Answer]) -> None:
        """Register a function, which is called once per event even if it is registered twice."""
        self.connected[f"{listener.__module__}.{listener.__qualname__}"] = listener

    def disconnect(self, listener: Callable[Said, Answer]) -> None:
        self.connected.pop(f"{listener.__module__}.{listener.__qualname__}", None)

    def call(self, *args: Said.args, **kwargs: Said.kwargs) -> list[Answer]:
        """Call all functions, and return their results. If one raises an error, the error is raised
        and the remaining functions are not called.
        """
        return [listener(*args, **kwargs) for listener in self.connected.values()]

    def tell(self, *args: Said.args, **kwargs: Said.kwargs) -> None:
        """Call all functions, and log their errors. Errors of the database connection are raised,
        because the transaction is then repeated.
        """
        for name, listener in self.connected.items():
            try:
                listener(*args, **kwargs)
            except (OperationalError, InterfaceError):
                raise
            except Exception:
                logger.exception("%s failed at %s", name, self.news)
