"""Valid values of `REDIS_URL`, and the errors for invalid ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from apps.redis_address import FORMS, RedisAddress, RedisKind, parse
from quickapps_site import service_urls
from tests.tables import each_row

TLS = "ssl_ca_certs, ssl_certfile, ssl_keyfile, ssl_check_hostname"


@each_row(
    ("raw", "kind", "nodes", "user", "password", "database", "master", "is_encrypted"),
    [
        ("redis://cache", "server", [("cache", 6379)], "", "", 0, "", False),
        ("rediss://[::1]:6380/2", "server", [("::1", 6380)], "", "", 2, "", True),
        (
            "redis://me:p%40ss%2F%3Aword@cache:6380",
            *("server", [("cache", 6380)], "me", "p@ss/:word", 0, "", False),
        ),
        ("redis://:only@cache/", "server", [("cache", 6379)], "", "only", 0, "", False),
        (
            "redis+sentinel://:p@one,two:26380/shop/3",
            *("sentinel", [("one", 26379), ("two", 26380)], "", "p", 3, "shop", False),
        ),
        (
            "rediss+cluster://one:7000,two",
            *("cluster", [("one", 7000), ("two", 6379)], "", "", 0, "", True),
        ),
    ],
)
def test_an_address_has_a_kind_and_nodes(
    raw, kind, nodes, user, password, database, master, is_encrypted
):
    assert parse(raw) == RedisAddress(
        kind=RedisKind(kind),
        nodes=tuple(nodes),
        username=user,
        password=password,
        database=database,
        master=master,
        is_encrypted=is_encrypted,
        parameters={},
    )


def test_parameters_are_decoded(tmp_path: Path):
    authority = tmp_path / "own ca.pem"
    authority.touch()
    query = f"ssl_ca_certs={str(authority).replace(' ', '%20')}&ssl_check_hostname=false"

    found = parse(f"rediss+sentinel://one/shop?{query}&sentinel_password=p%26w")

    assert found.parameters["sentinel_password"] == "p&w"
    assert found.tls == {"ssl_ca_certs": str(authority), "ssl_check_hostname": False}


@each_row(
    ("raw", "message"),
    [
        *(
            (raw, f"cannot be parsed; use {FORMS}, with rediss for TLS.")
            for raw in (
                "http://me:s3cret@cache",
                "me:s3cret@cache",
                "redis://:s3cret@",
                "redis://:s3cret@one,two",
                "redis://:s3cret@cache:many",
                "redis://:s3cret@cache/first",
                "redis://:s3cret@cache/0/1",
                "redis+sentinel://:s3cret@one",
                "redis+cluster://:s3cret@one/1",
            )
        ),
        (
            "redis://:s3cret@cache?ssl_ca_certs=x",
            "has the unknown parameter 'ssl_ca_certs'; "
            "only rediss and redis+sentinel URLs have parameters.",
        ),
        (
            "rediss://:s3cret@cache?ssl_ca_cert=x",
            f"has the unknown parameter 'ssl_ca_cert'; the parameters of this URL are {TLS}.",
        ),
        (
            "rediss://:s3cret@cache?ssl_keyfile=/none.pem",
            "has the parameter ssl_keyfile, but the file '/none.pem' does not exist.",
        ),
        (
            "rediss://:s3cret@cache?ssl_check_hostname=maybe",
            "has the parameter ssl_check_hostname, which must be true or false.",
        ),
    ],
)
def test_a_wrong_address_stops_the_start_without_its_password(raw, message):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REDIS_URL", raw)

        with pytest.raises(ImproperlyConfigured) as refused:
            service_urls.redis("REDIS_URL")

    assert str(refused.value) == f"REDIS_URL {message}"
