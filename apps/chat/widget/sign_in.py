"""Signs users of this installation in to a widget, in a separate window.

Browsers block this site's cookies in the frame, but not in a window. The window sends a code to the
frame, which exchanges it for a token. The code is sent only to frames of this site.
"""

import secrets
from datetime import timedelta

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods

from apps.accounts.sign_in.sessions import session_row
from apps.catalog.models import Widget
from apps.chat.widget.identities import mark_as_used, refusal
from apps.chat.widget.tokens import (
    VisitorToken,
    find_widget,
    is_admitted,
    token_of_account,
)

SALT = "quickapps.widget.sign-in"
LIFE = 60
"""The number of seconds for which a sign-in code is valid."""
LONGEST_CODE = 500


@require_http_methods(["GET", "POST"])
@never_cache
@csrf_protect
def sign_in(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask the signed-in user to allow the widget to use their account. A POST confirms this. Raises
    Http404 if the application has no active widget.
    """
    widget = find_widget(slug)
    address = reverse("widget-sign-in", args=(slug,))
    shown = {
        "application": widget.application,
        "login": f"{reverse('account_login')}?next={address}%3Fdone",
        "is_done": "done" in request.GET,
        "may_use": request.user.is_authenticated
        and is_admitted(new_token(request, widget), widget),
        "code": "",
    }
    if request.method == "POST" and shown["may_use"]:
        shown["code"] = new_code(request, widget)
    response = render(request, "chat/widget_sign_in.html", shown)
    # With the default policy, the window could not send the code to the frame that opened it.
    response["Cross-Origin-Opener-Policy"] = "unsafe-none"
    return response


def new_token(request: HttpRequest, widget: Widget) -> VisitorToken:
    return token_of_account(widget, "", request.user.pk or 0, session_row(request).pk)


def new_code(request: HttpRequest, widget: Widget) -> str:
    content = [widget.pk, request.user.pk, session_row(request).pk, secrets.token_hex(16)]
    return signing.dumps(content, salt=SALT)


def use_code(widget: Widget, host: str, code: str) -> VisitorToken:
    """Exchange a sign-in code for a token. Raises `NotAdmitted` if the code is invalid, expired or
    already used, or if the account cannot use the application.
    """
    try:
        found = signing.loads(code[: LONGEST_CODE + 1], salt=SALT, max_age=LIFE)
        application, user, session, name = found
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise refusal("the sign-in code has expired") from error
    token = token_of_account(widget, host, user, session)
    if application != widget.pk or not is_admitted(token, widget):
        raise refusal("the account cannot use this application")
    mark_as_used(f"code {name}", timezone.now() + timedelta(seconds=LIFE))
    return token
