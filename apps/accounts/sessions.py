"""The sessions of a person: in which browsers they are signed in, and until when.

allauth keeps a row beside each session of Django's.
"""

import time
from importlib import import_module

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext

SEEN = "last_use"
"""The key of a session under which it stores its key and the last time that its use was noted."""
SEEN_SECONDS = 300
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""What the user agent has, and the name; the first that fits, as they all name those below."""
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
    """Note where and when a session is used, at most once in `SEEN_SECONDS`."""

    def process_request(self, request: HttpRequest) -> None:
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or not request.user.is_authenticated:
            return
        # The key of a session changes with the password, and its row has to.
        key, now = request.session.session_key, time.time()
        seen_key, seen_at = request.session.get(SEEN, (None, 0.0))
        if key != seen_key or abs(now - seen_at) >= SEEN_SECONDS:
            request.session[SEEN] = (key, now)
            UserSession.objects.create_from_request(request)


def is_open(session_key: str, user_id: int) -> bool:
    """Whether the session still is one of that account, which is not closed."""
    # Not `django.contrib.auth.get_user`, which gives a session that was signed with a former
    # SECRET_KEY another key, of which its browser would not hear.
    stored = import_module(settings.SESSION_ENGINE).SessionStore(session_key).load()
    user = get_user_model().objects.filter(pk=user_id, is_active=True).first()
    if user is None or stored.get(SESSION_KEY) != str(user_id):
        return False
    hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return any(constant_time_compare(stored.get(HASH_SESSION_KEY, ""), one) for one in hashes)


def sessions_of(user_id: int) -> list[UserSession]:
    """Those that have not ended; the one that was used last comes first."""
    rows = UserSession.objects.filter(user=user_id).order_by("-last_seen_at")
    going = {row.pk: row for row in rows if is_open(row.session_key, user_id)}
    rows.exclude(pk__in=going).delete()
    return list(going.values())


def browser_of(user_agent: str) -> str:
    """Such as `Firefox on Linux`; programs are called by the beginning of what they say."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    if not browser:
        return user_agent[:40] or gettext("Unknown")
    return (
        gettext("{browser} on {system}").format(browser=browser, system=system)
        if system
        else browser
    )
