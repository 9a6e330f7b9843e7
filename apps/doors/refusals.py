"""Formats errors for requests that are rejected before they reach an endpoint."""

import json
from collections.abc import Mapping

from django.template.loader import render_to_string
from django.utils.translation import gettext

from apps.outages import RETRY_SECONDS, Outage

Header = tuple[bytes, bytes]
RETRY_AFTER: Header = (b"retry-after", b"%d" % RETRY_SECONDS)
"""The header of responses during an outage."""
HTML = b"text/html; charset=utf-8"
JSON = b"application/json"


def has_detail(path: str) -> bool:
    """Return True if errors at this path have the format of Django REST framework."""
    if path.startswith("/v1/configuration-support/"):
        return True
    return path.startswith("/api/") and not path.startswith("/api/IAIAssistantApi/")


def write_refusal(
    path: str, accept: str, status: int, title: str, text: str, code: str
) -> tuple[bytes, bytes]:
    """Return the content type and the content of an error response. Browsers get a page, and all
    other clients get JSON.
    """
    if "text/html" in accept:
        # Rendered without the request, because the page would query the database for the user.
        named: Mapping[str, object] = {"status": int(status), "title": title, "text": text}
        return HTML, render_to_string("error.html", {**named, "is_down": status >= 500}).encode()
    if has_detail(path):
        return JSON, json.dumps({"detail": text}).encode()
    return JSON, json.dumps({"error": {"message": text, "code": code}}).encode()


def outage_content(outage: Outage, path: str, accept: str) -> tuple[bytes, bytes]:
    """Return the content type and the content of a 503 response about an outage."""
    return write_refusal(
        path, accept, 503, gettext("Temporarily unavailable"), outage.translated, outage.code
    )
