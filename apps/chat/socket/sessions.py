"""Creates sessions for signed-out browsers.

A session begins when a page opens its WebSocket, not with the page request, so that crawlers create
no sessions.
"""

from collections.abc import Mapping
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpResponse

from apps.doors.sessions import VISITOR, session_bucket

Headers = list[tuple[bytes, bytes]]


async def session_headers(scope: Mapping[str, Any]) -> Headers:
    """Create a session if the browser has none, and return the headers that set its cookie.

    A browser whose session has expired gets no new session, because its page still shows the data
    of the old one.
    """
    if scope["user"].is_authenticated or scope["session"].session_key:
        return []
    if settings.SESSION_COOKIE_NAME in scope["cookies"]:
        return []
    headers: Headers = await database_sync_to_async(begin_session)(scope["session"])
    return headers


def begin_session(session: SessionBase) -> Headers:
    session.create()
    session[VISITOR] = session_bucket(session.session_key or "")
    session.save()
    answer = HttpResponse()
    answer.set_cookie(
        settings.SESSION_COOKIE_NAME,
        session.session_key or "",
        max_age=session.get_expiry_age(),
        path=settings.SESSION_COOKIE_PATH,
        domain=settings.SESSION_COOKIE_DOMAIN,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=settings.SESSION_COOKIE_HTTPONLY,
        samesite=settings.SESSION_COOKIE_SAMESITE,  # type: ignore[arg-type]
    )
    return [(b"set-cookie", one.OutputString().encode()) for one in answer.cookies.values()]
