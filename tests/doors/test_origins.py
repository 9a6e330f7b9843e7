"""Origins (scheme, host and port) whose pages may open a socket."""

from __future__ import annotations

from typing import Any

import pytest

from apps.doors.origins import check_csrf, is_allowed
from apps.errors import Refused


@pytest.fixture(autouse=True)
def _hosts(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["apps.example.com", "127.0.0.1"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://portal.example.org:8443"]


ORIGINS = [
    ("http://127.0.0.1:8000", "127.0.0.1:8000", False, True),
    ("HTTP://127.0.0.1:8000", "127.0.0.1:8000", False, True),
    ("http://127.0.0.1:9000", "127.0.0.1:8000", False, False),
    ("https://127.0.0.1:8000", "127.0.0.1:8000", False, False),
    ("https://apps.example.com", "apps.example.com", True, True),
    ("http://apps.example.com", "apps.example.com", True, False),
    ("https://apps.example.com:444", "apps.example.com", True, False),
    ("https://evil.example.com", "apps.example.com", True, False),
    ("http://evil.example.com", "evil.example.com", False, False),
    ("https://portal.example.org:8443", "apps.example.com", True, True),
    ("https://portal.example.org", "apps.example.com", True, False),
    ("http://portal.example.org:8443", "apps.example.com", True, False),
    ("null", "apps.example.com", True, False),
    ("", "apps.example.com", True, False),
    ("https://[", "apps.example.com", True, False),
    ("https://apps.example.com", "", True, False),
]
"""Origin, host, whether the site uses HTTPS, and whether the socket is opened."""


def test_a_socket_is_opened_by_our_pages_and_trusted_ones_alone(settings):
    wrong = []
    for origin, host, https, expected in ORIGINS:
        settings.HTTPS = https
        if is_allowed(origin, {b"origin": origin, b"host": host}) is not expected:
            wrong.append((origin, host, https))

    assert wrong == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "content_type", [b"multipart/form-data", b"application/x-www-form-urlencoded; charset=utf-16"]
)
def test_a_form_without_the_token_in_a_header_is_refused(content_type: bytes):
    headers = [(b"host", b"127.0.0.1"), (b"content-type", content_type)]
    cookie = (b"cookie", b"csrftoken=" + b"a" * 32)
    scope = {"type": "http", "method": "POST", "path": "/", "headers": [*headers, cookie]}

    with pytest.raises(Refused, match="X-CSRFToken"):
        check_csrf(scope)
