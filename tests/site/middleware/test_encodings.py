"""Forms are always read as UTF-8, whatever charset the sender declares."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db

PAGE = "/accounts/login/"
MISMATCH = "Enter a correct username or email address and password"
LINE = b"username=ada&password=x"
TYPED = {"username": "+2AA-", "password": "+2AA-", "next": "+2AA-"}
"""Half a character in UTF-7."""


@pytest.mark.parametrize("charset", ["utf-7", "utf-16", "unicode_escape", "rot13", "nothing"])
def test_a_form_in_parts_is_read_as_what_it_is(charset):
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in TYPED.items()
    ]
    body = "".join([*parts, "--x--\r\n"]).encode()
    kind = f"multipart/form-data; boundary=x; charset={charset}"

    answer = Client().generic("POST", PAGE, body, kind)

    assert (answer.status_code, MISMATCH in answer.text) == (200, True)
    assert 'value="+2AA-"' in answer.text


@pytest.mark.parametrize("charset", ["utf-7", "utf-16", "nothing"])
def test_a_form_in_a_line_is_read_as_what_it_is(charset):
    kind = f"application/x-www-form-urlencoded; charset={charset}"

    answer = Client().generic("POST", PAGE, LINE, kind)

    assert (answer.status_code, MISMATCH in answer.text) == (200, True)


async def test_it_is_so_on_the_asynchronous_way(async_client):
    kind = "application/x-www-form-urlencoded; charset=utf-16"

    answer = await async_client.generic("POST", PAGE, LINE, kind)

    assert answer.status_code == 200
