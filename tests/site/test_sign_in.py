"""Sign-in at the real site, with clients at several addresses."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

import pytest

from tests.sites.serving import Site

RIGHT = "a-password-for-tests"


@pytest.fixture(scope="module", autouse=True)
def _grace(site: Site) -> None:
    site.shell(
        """
        from django.contrib.auth.models import User
        User.objects.create_superuser("grace", "", password)
        """,
        password=RIGHT,
    )


def sign_in(site: Site, password: str, source: str, page: str = "/accounts/login/") -> int:
    """Connect from `source` and send the form of the page. Return the status of the answer."""
    address = urlsplit(site.url).netloc
    connection = HTTPConnection(address, timeout=60, source_address=(source, 0))
    connection.request("GET", "/accounts/login/")
    answer = connection.getresponse()
    text, cookie = answer.read().decode(), answer.getheader("Set-Cookie", "").split(";")[0]
    token = text.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
    form = {"username": "grace", "password": password, "csrfmiddlewaretoken": token}
    headers = {
        "Cookie": cookie,
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Forwarded-For": f"192.0.2.{os.urandom(1)[0]}",
    }
    connection.request("POST", page, urlencode(form), headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def at_once(number: int, site: Site, password: str, source: str) -> list[int]:
    with ThreadPoolExecutor(number) as threads:
        return sorted(threads.map(lambda _: sign_in(site, password, source), range(number)))


def test_tries_at_the_same_time_are_no_more_tries(site):
    assert at_once(8, site, "wrong", "127.0.0.3") == [200] * 5 + [429] * 3


@pytest.mark.slow("starts a site in a process of its own")
def test_programs_that_sign_in_at_the_same_time_are_not_in_each_others_way(site):
    assert at_once(8, site, RIGHT, "127.0.0.4") == [302] * 8


def test_a_stranger_shuts_a_name_for_nobody_else(site):
    wrong = [sign_in(site, "wrong", "127.0.0.1") for _ in range(6)]

    assert wrong == [200] * 5 + [429]
    assert sign_in(site, RIGHT, "127.0.0.1") == 429
    assert sign_in(site, RIGHT, "127.0.0.2") == 302
