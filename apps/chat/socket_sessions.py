"""The session of a browser without an account, begun by the socket of a page.

Reading a page begins none, so that crawlers leave no rows behind.
"""

from collections.abc import Mapping
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpResponse

from apps.chat.access import VISITOR, bucket_of

Headers = list[tuple[bytes, bytes]]


async def session_headers(scope: Mapping[str, Any]) -> Headers:
    """Begin a session if the browser has none; return the headers that tell it.

    A browser whose session has ended gets none here: what it shows belongs to the old one.
    """
    if scope["user"].is_authenticated or scope["session"].session_key:
        return []
    if settings.SESSION_COOKIE_NAME in scope["cookies"]:
        return []
    headers: Headers = await database_sync_to_async(begin_session)(scope["session"])
    return headers


def begin_session(session: SessionBase) -> Headers:
    session.create()
    session[VISITOR] = bucket_of(session.session_key or "")
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
