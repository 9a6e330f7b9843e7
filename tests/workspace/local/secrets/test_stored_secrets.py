from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import connection

from apps.manifest.secrets import Credential
from apps.workspace.local.models import Secret
from apps.workspace.local.secrets.servers import is_among, read_server
from apps.workspace.local.secrets.stored_secrets import (
    RevealedSecret,
    SecretNeed,
    SecretRefused,
    reveal,
    unsendable_credentials,
)
from tests.tables import each_row

MARK = "sk-marked-0123456789"


async def store(**values: Any) -> Secret:
    fields = {"name": "shop", "value": MARK, "servers": ["https://api.example.org"], **values}
    return await Secret.objects.acreate(**fields)


NAMED = Credential(secret="shop")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("api.example.org", "https://api.example.org"),
        (" HTTPS://Api.Example.org:443/ ", "https://api.example.org"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("*.example.org", "https://*.example.org"),
        ("http://[::1]:80", "http://[::1]"),
        ("/", "/"),
    ],
)
def test_a_server_is_an_origin(written: str, read: str):
    assert read_server(written) == read


@each_row(
    "written",
    [
        "", "*", "*.org", "https://", "//a.org", "a.org/x", "a.org?x", "me@a.org", "ftp://a.org",
        "a b.org", "a.org:x", "a.*.org", "https://a.org\\@b.org", "ärger.example.org", "a..@",
    ],
)  # fmt: skip
def test_what_is_no_server_is_refused(written: str):
    with pytest.raises(ValueError, match="server"):
        read_server(written)


@each_row(
    ("url", "servers", "fits"),
    [
        ("https://api.example.org/a?b#c", ["https://api.example.org"], True),
        ("https://API.example.org:443", ["https://api.example.org"], True),
        ("https://api.example.org:444", ["https://api.example.org"], False),
        ("http://api.example.org", ["https://api.example.org"], False),
        ("https://api.example.org.", ["https://api.example.org"], False),
        ("https://api.example.org.evil.net", ["https://api.example.org"], False),
        ("https://api.example.org@evil.net", ["https://api.example.org"], False),
        ("https://evil.net/api.example.org", ["https://api.example.org"], False),
        ("https://a.example.org", ["https://*.example.org"], True),
        ("https://a.b.example.org:8443", ["https://*.example.org:8443"], True),
        ("https://example.org", ["https://*.example.org"], False),
        ("https://.example.org", ["https://*.example.org"], False),
        ("https://badexample.org", ["https://*.example.org"], False),
        ("https://a\u3002evil.net.example.org", ["https://*.example.org"], False),
        ("/path", ["/"], True),
        ("http://site.test/path", ["/"], True),
        ("/path", ["https://api.example.org"], False),
        ("nonsense", ["https://api.example.org"], False),
        ("https://api.example.org", [], False),
    ],
)
def test_an_address_is_on_a_server_or_not(url: str, servers: list[str], fits: bool, settings):
    settings.SITE_URL = "http://site.test"

    assert is_among(url, servers) is fits


async def test_what_is_typed_is_what_it_says():
    assert await reveal(Credential("typed"), "https://any.example.net") == RevealedSecret("typed")


@pytest.mark.django_db
async def test_a_secret_is_told_for_its_server_as_it_is_now():
    row = await store()

    first = await reveal(NAMED, "https://api.example.org/items")
    row.value = "sk-new"
    await row.asave()
    second = await reveal(NAMED, "https://api.example.org/items")

    assert (first, second) == (RevealedSecret(MARK, 1), RevealedSecret("sk-new", 2))
    assert MARK not in repr(first)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "urls", "told"),
    [
        ({"name": "else"}, ["https://api.example.org"], "The secret 'shop' does not exist."),
        (
            {},
            ["https://api.example.org", "https://evil.example.net/x"],
            "The secret 'shop' may not be sent to https://evil.example.net.",
        ),
        ({"value": ""}, ["https://api.example.org"], "The secret 'shop' cannot be read."),
    ],
)
async def test_a_secret_is_refused_without_saying_what_it_is(values: Any, urls: Any, told: str):
    await store(**values)

    with pytest.raises(SecretRefused) as refused:
        await reveal(NAMED, *urls)

    assert str(refused.value) == f"{told} An administrator of this installation can fix it."
    assert refused.value.is_lasting is True


@pytest.mark.django_db
async def test_a_secret_whose_key_is_gone_cannot_be_read():
    await store()

    def garble() -> None:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE workspace_secret SET value = 'gAAAAA-of-another-key'")

    await database_sync_to_async(garble)()

    with pytest.raises(SecretRefused, match="cannot be read"):
        await reveal(NAMED, "https://api.example.org")


@pytest.mark.django_db
async def test_a_secret_for_any_server_goes_anywhere():
    await store(servers=[], is_for_any_server=True)

    assert (await reveal(NAMED, "https://any.example.net")).text == MARK


@pytest.mark.django_db
async def test_what_will_be_refused_is_known_before():
    await store()
    needs = [
        SecretNeed("a", Credential("typed"), ("https://any.example.net",)),
        SecretNeed("b", NAMED, ("https://api.example.org/x",)),
        SecretNeed("c", NAMED, ("https://any.example.net",)),
        SecretNeed("d", Credential(secret="none"), ()),
    ]

    refused = await unsendable_credentials(needs)

    assert {
        path: problem.partition(" An administrator")[0] for path, problem in refused.items()
    } == {
        "c": "The secret 'shop' may not be sent to https://any.example.net.",
        "d": "the secret 'none' does not exist.",
    }
