"""Determines the language of a page: the user's choice, or else the browser's preference."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

from apps.accounts.authentication import locale_of
from apps.accounts.preferences import Preferences, preferences_of, preferences_of_request

IN_ENGLISH = ("/admin/", "/api/")
"""The paths of pages and APIs for operators. Their responses are always in English."""
ENGLISH = "en"


class LanguageMiddleware(LocaleMiddleware):
    """Activates the user's language for each page, and English for the admin and the API."""

    def process_request(self, request: HttpRequest) -> None:
        is_english = request.path_info.startswith(IN_ENGLISH)
        language = ENGLISH if is_english else language_of_request(request)
        translation.activate(language)
        request.LANGUAGE_CODE = language


def language_of_request(request: HttpRequest) -> str:
    accepted = request.headers.get(settings.PROXY_LANGUAGE_HEADER, "")
    return chosen_for_request(request) or accepted_language(accepted)


def locale_of_request(request: HttpRequest) -> str:
    """Return the language that the user chose, or else the browser's first language, even if the
    pages are not translated into it.
    """
    accepted = request.headers.get(settings.PROXY_LANGUAGE_HEADER, "")
    return chosen_for_request(request) or locale_of(accepted)


def chosen_for_request(request: HttpRequest) -> str:
    """Return the language chosen in the user's account or the browser's cookie, or ""."""
    return choose_language(preferences_of_request(request), request.COOKIES)


def chosen_for_scope(scope: Mapping[str, Any]) -> str:
    """Return the language chosen for an ASGI connection that bypasses Django's middleware, or "" if
    there is none. Queries the database.
    """
    user = scope["user"]
    stored = None if user is None or user.pk is None else preferences_of(user.pk)
    return choose_language(stored, scope.get("cookies", {}))


def choose_language(stored: Preferences | None, cookies: Mapping[str, str]) -> str:
    return supported_language(stored.language if stored else "") or supported_language(
        cookies.get(settings.LANGUAGE_COOKIE_NAME, "")
    )


def supported_language(language: str) -> str:
    """Return the language if the pages are translated into it, otherwise ""."""
    return language if language in dict(settings.LANGUAGES) else ""


def accepted_language(accepted: str) -> str:
    """Return the first language of an `Accept-Language` header into which the pages are translated,
    or else English.
    """
    for asked, _ in parse_accept_lang_header(accepted.lower()):
        language = asked.partition("-")[0]
        if supported_language(language):
            return language
    return ENGLISH


def language_of_stored_caller(caller: Mapping[str, Any]) -> str:
    """Return the page language for a caller stored as JSON, or English if it has no locale."""
    return accepted_language(str(caller.get("locale", "")))
