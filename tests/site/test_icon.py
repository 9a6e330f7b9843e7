from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client


def test_the_icon_is_found_where_browsers_look_for_it(client: Client) -> None:
    address = client.get("/favicon.ico").headers["Location"]

    assert address == "/static/chat/images/icon.svg"
    assert finders.find(address.removeprefix(settings.STATIC_URL)) is not None


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/admin/login/"])
def test_pages_name_an_icon(client: Client, path: str) -> None:
    page = " ".join(client.get(path, follow=True).text.split())

    assert '<link rel="icon" href="/' in page
