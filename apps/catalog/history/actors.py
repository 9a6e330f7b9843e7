"""Determines who is making the current change (a user, an API key or a command), and why."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware

from apps.catalog.history.models import Change
from apps.catalog.models import OperatorKey

WAYS = {"admin": Change.Via.ADMIN, "api": Change.Via.API, "dial": Change.Via.EDITOR}
"""Maps the first path segment of a request's URL to the interface that is recorded with changes."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The user who makes a change, and the interface through which it is made."""

    user: User | None
    via: Change.Via
    through: str = ""
    """The name of the API key or command, or ""."""


@dataclass(frozen=True, slots=True)
class ChangeNote:
    """The reason for a change."""

    reason: str = ""
    restored_from: int | None = None
    """The ID of the change whose state is restored, or None."""


_request: ContextVar[HttpRequest | None] = ContextVar("history_request", default=None)
_actor: ContextVar[Actor | None] = ContextVar("history_actor", default=None)
_note: ContextVar[ChangeNote] = ContextVar("history_note", default=ChangeNote())  # noqa: B039 it is frozen


@sync_and_async_middleware
def remember_request(get_response: Any) -> Any:
    """Middleware that makes the current request available to the history. The user is loaded only
    if a row changes.
    """
    if iscoroutinefunction(get_response):

        async def asynchronous(request: HttpRequest) -> Any:
            with set_for_now(_request, request):
                return await get_response(request)

        return asynchronous

    def synchronous(request: HttpRequest) -> Any:
        with set_for_now(_request, request):
            return get_response(request)

    return synchronous


@contextmanager
def set_for_now(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def acting(actor: Actor) -> AbstractContextManager[None]:
    return set_for_now(_actor, actor)


def noting(note: ChangeNote) -> AbstractContextManager[None]:
    return set_for_now(_note, note)


def current_note() -> ChangeNote:
    return _note.get()


def current_actor() -> Actor:
    request = _request.get()
    return _actor.get() or (program() if request is None else actor_of(request))


def actor_of(request: HttpRequest) -> Actor:
    user = getattr(request, "user", None)
    key = getattr(request, "auth", None)
    way = WAYS.get(request.path_info.split("/")[1], Change.Via.SERVER)
    through = f"operator key {key.name}" if isinstance(key, OperatorKey) else ""
    return Actor(user if user is not None and user.is_authenticated else None, way, through)


def program() -> Actor:
    """Return the actor of a change outside a request: a management command or the server itself."""
    name = PurePath(sys.argv[0]).name
    if name in {"manage.py", "django-admin", "__main__.py"} and len(sys.argv) > 1:
        return Actor(None, Change.Via.COMMAND, f"{name} {sys.argv[1]}"[:300])
    return Actor(None, Change.Via.SERVER)
