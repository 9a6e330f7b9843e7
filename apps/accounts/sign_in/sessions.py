"""Lists a user's sessions (signed-in browsers), and records when they are used.

allauth stores a row for each of Django's sessions.
"""

import time
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext

NOTED_USE = "noted-use"
"""The session entry that contains the session key and the time of the last recorded use."""
SEEN_SECONDS = 300
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""Maps parts of user agents to browser names. The first match counts, because the user agent of one
browser often also contains the names of others.
"""
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


class SeenSessionMiddleware(MiddlewareMixin):
    """Records the address and time of a session's last use, at most once every `SEEN_SECONDS`."""

    def process_request(self, request: HttpRequest) -> None:
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or not request.user.is_authenticated:
            return
        # When the password changes, the session gets a new key, and its row must get the same key.
        key, now = request.session.session_key, time.time()
        seen_key, seen_at = request.session.get(NOTED_USE, (None, 0.0))
        if key != seen_key or abs(now - seen_at) >= SEEN_SECONDS:
            request.session[NOTED_USE] = (key, now)
            UserSession.objects.create_from_request(request)


def sessions_of(user_id: int) -> list[UserSession]:
    """Return the user's open sessions, most recently used first."""
    rows = UserSession.objects.filter(user=user_id).order_by("-last_seen_at")
    hashes = session_hashes(user_id)
    stored = stored_sessions(row.session_key for row in rows)
    open_ones = {
        row.pk: row
        for row in rows
        if matches_account(stored.get(row.session_key, {}), user_id, hashes)
    }
    rows.exclude(pk__in=open_ones).delete()
    return list(open_ones.values())


def session_hashes(user_id: int) -> tuple[str, ...]:
    """Return the authentication hashes that a valid session of the user may contain, or () if the
    account is inactive.
    """
    # Not `django.contrib.auth.get_user`, which gives a session that was signed with an old
    # SECRET_KEY a new session key that the browser would never receive.
    user = get_user_model().objects.filter(pk=user_id, is_active=True).first()
    if user is None:
        return ()
    return (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())


def stored_sessions(keys: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Map session keys to the data of the sessions. Expired sessions are omitted."""
    rows = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    return {row.session_key: row.get_decoded() for row in rows}


def is_session_open(session_key: str, user_id: int) -> bool:
    """Return True if the session still belongs to this user and the account is active."""
    stored = stored_sessions([session_key]).get(session_key, {})
    return matches_account(stored, user_id, session_hashes(user_id))


def session_row(request: HttpRequest) -> UserSession:
    """Return allauth's row for the session of the request."""
    rows = UserSession.objects.filter(user=request.user.pk)
    found = rows.filter(session_key=request.session.session_key).first()
    return found or UserSession.objects.create_from_request(request)


def is_row_open(row: int, user_id: int) -> bool:
    """Return True if allauth's row with this primary key belongs to an open session of the user."""
    found = UserSession.objects.filter(pk=row, user=user_id).first()
    return found is not None and is_session_open(found.session_key, user_id)


def matches_account(stored: Mapping[str, Any], user_id: int, hashes: Iterable[str]) -> bool:
    if stored.get(SESSION_KEY) != str(user_id):
        return False
    return any(constant_time_compare(stored.get(HASH_SESSION_KEY, ""), one) for one in hashes)


def delete_expired() -> None:
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()


def browser_of(user_agent: str) -> str:
    """Return a name such as `Firefox on Linux`, or the beginning of an unknown user agent."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    if not browser:
        return user_agent[:40] or gettext("Unknown")
    return (
        gettext("{browser} on {system}").format(browser=browser, system=system)
        if system
        else browser
    )
