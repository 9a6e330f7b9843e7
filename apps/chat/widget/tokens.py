"""Creates and checks the tokens that a widget's visitors send instead of cookies.

Tokens are signed, not stored. A token is valid for a day, for one application, and only on the site
that shows the widget.
"""

import hashlib
import secrets
import time
from dataclasses import dataclass, replace
from typing import Any

from django.core import signing
from django.http import Http404
from django.utils.translation import gettext

from apps.accounts.caller import (
    Caller,
    ClientInfo,
    KeyLimits,
    WidgetVisitor,
    bucket_of,
    owner_ids,
    widget_bucket,
)
from apps.accounts.sign_in.sessions import is_row_open
from apps.catalog.access import usable
from apps.catalog.models import Widget
from apps.errors import NotAdmitted

SALT = "quickapps.widget"
FILES_SALT = "quickapps.widget.files"
"""The salt of the keys with which browsers read a visitor's files. Because these keys are part of
URLs, they are not accepted for anything else.
"""
LIFE = 24 * 60 * 60
LONGEST_TOKEN = 1_000


@dataclass(frozen=True, slots=True)
class VisitorToken:
    """The content of a visitor's token."""

    application: int
    host: str
    """The origin of the other site. The browser reports it, so it is not verified."""
    bucket: str
    expires: int
    key: str = ""
    """The primary key of a signed-in user's session, a digest of the key that verified the
    visitor's identity, or "" for anonymous visitors.
    """

    def write(self, salt: str = SALT) -> str:
        content = [self.application, self.host, self.bucket, self.expires, self.key]
        return signing.dumps(content, salt=salt)


def find_widget(slug: str) -> Widget:
    """Return the application's widget. Raises Http404 if the application or its widget is disabled
    or does not exist.
    """
    rows = Widget.objects.select_related("application")
    found = rows.filter(application__slug=slug, application__is_enabled=True, is_enabled=True)
    widget = found.first()
    if widget is None:
        raise Http404("This widget does not exist.")
    return widget


def new_token(widget: Widget, host: str, user: str | None) -> VisitorToken:
    """Return a token for a user of the other site, or for an anonymous visitor if `user` is None.
    Raises `NotAdmitted` for an anonymous visitor if the application is not public.
    """
    if user is None and not widget.application.is_public:
        raise NotAdmitted("identity_required", gettext("Sign in on this site to use the chat."))
    visitor = WidgetVisitor(widget.pk, is_identified=user is not None)
    bucket = widget_bucket(visitor, secrets.token_hex() if user is None else user)
    key = "" if user is None else key_mark(widget)
    return VisitorToken(widget.pk, host, bucket, int(time.time()) + LIFE, key)


def token_of_account(widget: Widget, host: str, user_id: int, session: int) -> VisitorToken:
    """Return a token for a user of this installation. `session` is the primary key of the user's
    session. The token becomes invalid when the session ends.
    """
    expires = int(time.time()) + LIFE
    return VisitorToken(widget.pk, host, bucket_of(user_id), expires, str(session))


def read_token(text: str, salt: str = SALT) -> VisitorToken:
    """Parse a token. Raises `NotAdmitted` if its signature is invalid or it has expired."""
    try:
        content: Any = signing.loads(text[: LONGEST_TOKEN + 1], salt=salt, max_age=LIFE)
        return VisitorToken(*content)
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise expired() from error


def check_token(token: VisitorToken, slug: str, host: str, own_origin: str) -> Widget:
    """Return the widget for which the token is valid on the site with the origin `host`.

    `own_origin` is this site's origin, where the studio shows previews. Raises `NotAdmitted` if the
    token is not valid.
    """
    try:
        widget = find_widget(slug)
    except Http404:
        raise expired() from None
    is_shown = host == own_origin or host in widget.origins
    is_own = is_shown and token.application == widget.pk and token.host == host
    if not is_own or token.expires <= time.time() or not is_admitted(token, widget):
        raise expired()
    return widget


def is_admitted(token: VisitorToken, widget: Widget) -> bool:
    """Return True if the token's visitor can still use the widget's application."""
    account = owner_ids(token.bucket)
    if account is not None:
        caller = caller_of(token, ClientInfo())
        is_open = is_row_open(int(token.key), account[0])
        return is_open and usable(caller).filter(pk=widget.pk).exists()
    return token.key == key_mark(widget) if token.key else widget.application.is_public


def caller_of(token: VisitorToken, client: ClientInfo) -> Caller:
    """Return the visitor as a caller who can use only the widget's application, without memory."""
    account = owner_ids(token.bucket)
    caller = Caller(token.bucket, client=client, is_remembered=False)
    if account is None:
        return caller
    limits = KeyLimits(scope=frozenset((token.application,)))
    return replace(caller, kind="user", user_id=account[0], limits=limits)


def key_mark(widget: Widget) -> str:
    return hashlib.sha256(f"mark {widget.identity_key}".encode()).hexdigest()[:16]


def expired() -> NotAdmitted:
    return NotAdmitted(
        "token_invalid", gettext("Your session has ended. Reload the page to continue.")
    )
