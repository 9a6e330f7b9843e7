from __future__ import annotations

from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import DatabaseError
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts import authentication
from apps.accounts.authentication import (
    KeyHolder,
    authenticate,
    find_holder,
    is_loopback,
    locale_of,
    settle_uses,
)
from apps.accounts.models import ApiKey
from apps.errors import NotAuthenticated
from apps.process_state import AgedCache
from tests.catalog.rows import store_application
from tests.contract import proves

pytestmark = pytest.mark.django_db


async def create_key(**fields):
    return await sync_to_async(ApiKey.objects.create_key)(name="test", **fields)


async def find_some_holder(key) -> KeyHolder:
    holder = await find_holder(key)
    assert holder is not None
    return holder


async def find_and_settle(key):
    holder = await find_holder(key)
    await settle_uses()
    return holder


def scope(client=("10.0.0.1", 1), **headers):
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "client": client, "headers": [(b"host", b"localhost"), *pairs]}


@pytest.fixture(autouse=True)
def _forget_keys(monkeypatch):
    monkeypatch.setattr(authentication, "_holders", AgedCache(authentication.MOST_CACHED_KEYS))


@pytest.fixture
def _ask_every_time(monkeypatch):
    monkeypatch.setattr(authentication, "KEY_MAX_AGE_SECONDS", 0)


@pytest.mark.parametrize(
    "header",
    [
        {"api_key": "{}"},
        {"x_api_key": "{}"},
        {"api_key": "", "x_api_key": "{}"},
        {"authorization": "Bearer {}"},
        {"authorization": "bearer  {}"},
    ],
)
async def test_a_key_is_taken_from_either_header(header):
    row, key = await create_key()

    caller = await authenticate(
        scope(**{name: value.format(key) for name, value in header.items()})
    )

    assert (caller.kind, caller.bucket, caller.limits.scope) == ("key", f"key-{row.prefix}", None)
    assert (caller.credentials.bearer, caller.credentials.api_key) == ("", "")
    await settle_uses()


async def test_a_key_that_is_sent_twice_is_not_passed_on():
    _, key = await create_key()

    caller = await authenticate(scope(api_key=key, authorization=f"Bearer {key}"))

    assert caller.credentials.bearer == ""
    await settle_uses()


async def test_the_key_header_counts_before_the_bearer():
    _, key = await create_key()

    for header in ("api_key", "x_api_key"):
        with pytest.raises(NotAuthenticated):
            await authenticate(scope(**{header: "wrong"}, authorization=f"Bearer {key}"))


async def test_the_applications_that_led_to_a_request_are_read_from_its_header():
    _, key = await create_key()
    many = ",".join(map(str, range(100)))

    callers = [
        await authenticate(scope(api_key=key, x_quickapps_chain=written))
        for written in ("first,applications%2Fb7%2FMy%20App", "", many)
    ]

    first, none, most = (caller.client.chain for caller in callers)
    assert (first, none) == (("first", "applications/b7/My App"), ())
    assert most == tuple(map(str, range(20)))
    await settle_uses()


ORIGINS = [
    ("", [], True),
    ("http://localhost:8000", [], True),
    ("http://localhost:3000", [], True),
    ("https://evil.example", [], False),
    ("null", [], False),
    ("", ["https://app.example"], True),
    ("http://localhost:8000", ["https://app.example"], True),
    ("http://localhost:3000", ["http://localhost:3000"], False),
    ("http://localhost:3000", ["*"], False),
    ("https://app.example", ["https://app.example"], False),
    ("https://evil.example", ["*"], False),
    ("null", ["*"], False),
]
"""Origin of a page, the origins that may read answers, and whether the page is admitted."""


async def test_a_page_that_may_read_answers_is_no_visitor_of_this_machine(settings):
    wrong = []
    for origin, allowed, is_let_in in ORIGINS:
        settings.CORS_ALLOWED_ORIGINS = allowed
        asked = scope(client=("127.0.0.1", 1), **({"origin": origin} if origin else {}))
        asked["headers"][0] = (b"host", b"localhost:8000")
        try:
            let_in = (await authenticate(asked)).kind == "visitor"
        except NotAuthenticated:
            let_in = False
        if let_in is not is_let_in:
            wrong.append((origin, allowed))

    assert wrong == []


@proves("access")
@pytest.mark.parametrize(
    "header",
    ["x_forwarded_for", "x_forwarded_proto", "x_real_ip", "forwarded", "via", "quickapps_request"],
)
async def test_what_somebody_sends_through_this_machine_is_not_local(header):
    visitor = await authenticate(scope(client=("127.0.0.1", 1)))

    with pytest.raises(NotAuthenticated):
        await authenticate(scope(client=("127.0.0.1", 1), **{header: "1"}))
    assert visitor.kind == "visitor"


@pytest.mark.parametrize(
    "key", ["", "x", "abcdefgh.short", "a" * 1000, "\0" * 41, "é" * 41, "abcdefgh." + "é" * 32]
)
def test_what_cannot_be_a_key_is_not_looked_up(key, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert async_to_sync(find_holder)(key) is None


async def test_a_wrong_key_with_a_known_prefix_is_refused():
    row, _ = await create_key()

    assert await find_holder(f"{row.prefix}.{'x' * 32}") is None


@pytest.mark.usefixtures("nothing_expires")
def test_a_key_is_looked_up_once_in_a_while(django_assert_num_queries):
    _, key = ApiKey.objects.create_key(name="test")
    find = async_to_sync(find_and_settle)
    first = find(key)

    with django_assert_num_queries(0):
        assert find(key) == first


@pytest.mark.usefixtures("_ask_every_time")
async def test_a_revoked_key_is_refused_at_the_next_look():
    row, key = await create_key()
    assert await find_holder(key) is not None

    row.revoked = True
    await row.asave()

    assert await find_holder(key) is None
    await settle_uses()


async def test_an_expired_key_is_refused_although_it_was_just_looked_up(time_machine):
    time_machine.move_to("2030-01-01T12:00Z", tick=False)
    _, key = await create_key(expiry_date=timezone.now() + timedelta(seconds=30))
    assert await find_holder(key) is not None

    time_machine.shift(31)

    assert await find_holder(key) is None
    await settle_uses()


async def test_a_key_is_limited_to_its_applications_also_when_they_are_gone():
    application = await sync_to_async(store_application)(slug="one", title="One")
    row, key = await create_key(is_limited=True)
    await row.applications.aset([application])
    assert (await find_some_holder(key)).limits.scope == frozenset({application.pk})

    await application.adelete()
    authentication._holders.clear()

    assert (await find_some_holder(key)).limits.scope == frozenset()
    await settle_uses()


async def test_the_last_use_is_written_beside_the_request_and_once_a_minute(time_machine):
    time_machine.move_to("2030-01-01T12:00Z", tick=False)
    row, key = await create_key()

    await find_holder(key)
    await settle_uses()
    await row.arefresh_from_db()
    first = row.last_used_at
    assert first == timezone.now()

    time_machine.shift(30)
    authentication._noted.clear()
    await find_holder(key)
    await settle_uses()
    await row.arefresh_from_db()
    assert row.last_used_at == first


async def test_a_use_that_cannot_be_written_is_logged_and_the_key_works(monkeypatch, caplog):
    row, key = await create_key()
    monkeypatch.setattr(QuerySet, "update", fails)

    assert (await find_and_settle(key)) is not None

    assert f"Failed to store the time of the last use of the API key {row.prefix}" in caplog.text


def fails(*_: object, **__: object) -> None:
    raise DatabaseError


async def test_a_flood_of_keys_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(authentication, "MOST_NOTED", 2)
    monkeypatch.setattr(authentication, "_holders", AgedCache(2))
    keys = [(await create_key())[1] for _ in range(4)]

    for key in keys:
        assert await find_holder(key) is not None
        assert await find_holder(f"{key[:8]}.{'x' * 32}") is None

    assert len(authentication._holders.values) == 2
    await settle_uses()
    assert len(authentication._noted) == 2


@proves("10.4")
@pytest.mark.parametrize(
    ("languages", "locale"),
    [
        ("", "en"),
        ("de", "de"),
        ("de-CH, de;q=0.9", "de-CH"),
        ("uk;q=0.8", "uk"),
        ("*", "en"),
        ("../../etc", "en"),
        ("x" * 1000, "en"),
    ],
)
def test_the_first_language_is_the_locale(languages, locale):
    assert locale_of(languages) == locale


ADDRESSES = {
    "127.0.0.1": True,
    "127.1.2.3": True,
    "::1": True,
    "::ffff:127.0.0.1": True,
    "::ffff:10.0.0.1": False,
    "10.0.0.1": False,
    "0.0.0.0": False,
    "localhost": False,
    "": False,
}


def test_only_addresses_of_this_machine_are_local():
    assert {address: is_loopback(address) for address in ADDRESSES} == ADDRESSES
