"""The language in which a person reads the pages: the chosen one, or what their browser asks for."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from django.views.i18n import JavaScriptCatalog

from apps.accounts.sender_headers import locale_of
from apps.chat.composer.models import Preferences
from apps.chat.composer.preferences import preferences_of, preferences_of_request

IN_ENGLISH = ("/admin/", "/api/")
"""What operators and their scripts read."""
ENGLISH = "en"
A_YEAR = 365 * 24 * 3600


class LanguageMiddleware(LocaleMiddleware):
    """Let a page, and all that it says, be in the language of its person."""

    def process_request(self, request: HttpRequest) -> None:
        is_english = request.path_info.startswith(IN_ENGLISH)
        language = ENGLISH if is_english else language_of_request(request)
        translation.activate(language)
        request.LANGUAGE_CODE = language


def language_of_request(request: HttpRequest) -> str:
    accepted = request.headers.get(settings.PROXY_LANGUAGE_HEADER, "")
    return chosen_for_request(request) or accepted_language(accepted)


def locale_of_request(request: HttpRequest) -> str:
    """The chosen language, or the one that the browser prefers, which may have no texts here."""
    accepted = request.headers.get(settings.PROXY_LANGUAGE_HEADER, "")
    return chosen_for_request(request) or locale_of(accepted)


def chosen_for_request(request: HttpRequest) -> str:
    """The language of the account or of the browser's cookie; "" for none."""
    return chosen(preferences_of_request(request), request.COOKIES)


def chosen_for_scope(scope: Mapping[str, Any]) -> str:
    """The same for a connection that Django's middleware has not seen; asks the database."""
    user = scope["user"]
    kept = None if user is None or user.pk is None else preferences_of(user.pk)
    return chosen(kept, scope.get("cookies", {}))


def chosen(kept: Preferences | None, cookies: Mapping[str, str]) -> str:
    return known(kept.language if kept else "") or known(
        cookies.get(settings.LANGUAGE_COOKIE_NAME, "")
    )


def known(language: str) -> str:
    """The language if there are texts in it, else ""."""
    return language if language in dict(settings.LANGUAGES) else ""


def accepted_language(accepted: str) -> str:
    """The first language of an `Accept-Language` in which there are texts, else English."""
    for asked, _ in parse_accept_lang_header(accepted.lower()):
        language = asked.partition("-")[0]
        if known(language):
            return language
    return ENGLISH


def language_of_kept(caller: Mapping[str, Any]) -> str:
    """Return the language of a stored caller, English without a locale."""
    return accepted_language(str(caller.get("locale", "")))


@cache
def version_of_texts(language: str) -> str:
    """Changes with the texts of the scripts in a language."""
    folders = (Path(one) / language / "LC_MESSAGES" for one in settings.LOCALE_PATHS)
    files = [one / "djangojs.mo" for one in folders]
    return sha256(b"".join(one.read_bytes() for one in files if one.exists())).hexdigest()[:12]


@require_safe
@gzip_page
def texts(request: HttpRequest, language: str, version: str) -> HttpResponse:
    """The texts of the scripts. Raises Http404 for a language that has none."""
    if language == ENGLISH or not known(language):
        raise Http404("There are no texts in this language.")
    with translation.override(language):
        # Only our own texts: those of other packages are for the admin.
        response = JavaScriptCatalog(packages=["apps.chat"]).get(request)
    is_current = version == version_of_texts(language)
    response["Cache-Control"] = f"public, max-age={A_YEAR}, immutable" if is_current else "no-cache"
    return response
