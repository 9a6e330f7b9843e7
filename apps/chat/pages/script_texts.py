"""Serves the translated texts of the page's scripts."""

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import translation
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from django.views.i18n import JavaScriptCatalog

from apps.accounts.languages import ENGLISH, supported_language

A_YEAR = 365 * 24 * 3600


@lru_cache(maxsize=100)
def version_of_texts(language: str) -> str:
    """Return a hash of the scripts' texts in this language. It is part of their URL."""
    folders = (Path(one) / language / "LC_MESSAGES" for one in settings.LOCALE_PATHS)
    files = [one / "djangojs.mo" for one in folders]
    return sha256(b"".join(one.read_bytes() for one in files if one.exists())).hexdigest()[:12]


@require_safe
@gzip_page
def texts(request: HttpRequest, language: str, version: str) -> HttpResponse:
    """Return the script with the translated texts. Raises Http404 for unsupported languages, and
    for English, which needs no translations.
    """
    if language == ENGLISH or not supported_language(language):
        raise Http404("This language is not available.")
    with translation.override(language):
        # The texts of other packages are only for the admin.
        response = JavaScriptCatalog(packages=["apps.chat"]).get(request)
    is_current = version == version_of_texts(language)
    response["Cache-Control"] = f"public, max-age={A_YEAR}, immutable" if is_current else "no-cache"
    return response
