"""If a session ends in one process, its streams end in all processes."""

from __future__ import annotations

from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from tests.sites.serving import Site

PATIENCE = 60
CSRF = "a" * 32
SIGN_IN = """
from django.contrib.auth.models import User
from django.test import Client
user, _ = User.objects.get_or_create(username="ada")
client = Client()
client.force_login(user)
result = client.session.session_key
"""


@pytest.mark.full
def test_the_stream_of_another_process_ends_at_once(pair: tuple[Site, Site]):
    here, there = pair
    mine, lost = here.shell(SIGN_IN), here.shell(SIGN_IN)
    ask(here, mine, "/account/")
    ask(here, lost, "/account/")
    with urlopen(request(there, lost, "/api/notifications"), timeout=PATIENCE) as feed:
        feed.readline()
        ask(here, mine, "/account/sessions/end/", {"csrfmiddlewaretoken": CSRF})
        rest = feed.read()

    assert b"event: " not in rest


def request(site: Site, session: str, path: str, form: dict[str, str] | None = None) -> Request:
    cookies = f"sessionid={session}"
    if form is not None:
        cookies += f"; csrftoken={CSRF}"
    data = None if form is None else urlencode(form).encode()
    return Request(site.url + path, data, {"Cookie": cookies})


def ask(site: Site, session: str, path: str, form: dict[str, str] | None = None) -> str:
    with urlopen(request(site, session, path, form), timeout=PATIENCE) as answer:
        return str(answer.read().decode())
