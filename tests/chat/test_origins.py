"""Which pages may open a socket: an origin is scheme, host and port."""

from __future__ import annotations

from typing import Any

import pytest

from apps.chat.origins import is_allowed


@pytest.fixture(autouse=True)
def _hosts(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["apps.example.com", "127.0.0.1"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://portal.example.org:8443", "https://*.example.net"]


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
    ("https://one.example.net", "apps.example.com", True, True),
    ("http://one.example.net", "apps.example.com", True, False),
    ("https://one.example.net.evil.com", "apps.example.com", True, False),
    ("null", "apps.example.com", True, False),
    ("", "apps.example.com", True, False),
    ("https://[", "apps.example.com", True, False),
    ("https://apps.example.com", "", True, False),
]
"""Origin, host, whether the site has HTTPS, and whether the socket is opened."""


def test_a_socket_is_opened_by_our_pages_and_trusted_ones_alone(settings):
    wrong = []
    for origin, host, https, expected in ORIGINS:
        settings.HTTPS = https
        if is_allowed(origin, {b"origin": origin, b"host": host}) is not expected:
            wrong.append((origin, host, https))

    assert wrong == []
