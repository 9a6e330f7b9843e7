from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from apps.errors import ServiceFailed
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import Core
from apps.workspace.dial.kept_applications import (
    find_caller,
    find_own_application,
    forget_application,
    made_for,
)
from tests.workspace.dial.callers import vouched, workspace

TYPE = "https://example.org/types/agent"
TRAVEL = "applications/public/travel agent"
PLANS = "applications/public/plans"


@pytest.fixture
def core(fake):
    """A Core that shows the `hint` of a document to everyone who may use the application."""
    fake.add_schema(TYPE, "http://127.0.0.1:9/chat/completions", {"secret": 1, "hint": 1})
    declared = fake.configuration.schemas[TYPE]["properties"]
    declared["hint"]["dial:meta"]["dial:propertyKind"] = "client"
    save(fake, TRAVEL, "first")
    save(fake, PLANS, "other")
    return fake


def save(fake, name, secret):
    fake.add_application(name, None, {"secret": secret, "hint": "h"}, TYPE, displayName=secret)


async def secret_of(own):
    found = await find_own_application(own.calls)
    return None if found is None else found["application_properties"]["secret"]


def fetches(fake):
    return [hop.path for hop in fake.requests if hop.path != "/v1/bucket"]


async def test_the_bucket_tells_for_whom_a_key_was_made(core):
    async with vouched(core, TRAVEL) as own:
        told = own.caller

    assert made_for(told) == TRAVEL
    assert told.bucket == f"dial-{told.appdata.partition('/')[0]}"
    assert made_for(await find_caller(workspace(core.url).calls)) == ""


async def test_a_document_is_fetched_once_for_all_keys_of_an_application(core):
    for _ in range(2):
        async with vouched(core, TRAVEL) as own:
            assert await find_own_application(own.calls) == {
                "display_name": "first",
                "application_properties": {"secret": "first", "hint": "h"},
            }

    assert fetches(core) == ["/openai/applications/applications/public/travel%20agent"]
    assert [hop.path for hop in core.requests].count("/v1/bucket") == 2


async def test_a_key_of_another_application_gets_its_own_document(core):
    async with vouched(core, TRAVEL) as own, vouched(core, PLANS) as other:
        found = [await secret_of(one) for one in (own, other, own)]

    assert found == ["first", "other", "first"]


async def test_what_others_were_told_first_is_never_used(core):
    """Project keys and other applications see a part of a document."""
    name = "/openai/applications/applications/public/travel%20agent"
    async with vouched(core, PLANS) as other:
        for own in (other, workspace(core.url)):
            await own.deployment(TRAVEL)
            told = await own.calls.get_json(name)
            assert told["application_properties"] == {"hint": "h"}
    core.requests.clear()

    async with vouched(core, TRAVEL) as own:
        assert await secret_of(own) == "first"

    assert len(fetches(core)) == 1


async def test_a_key_that_was_made_for_no_application_is_told_nothing(core):
    async with vouched(core, TRAVEL) as own:
        await secret_of(own)
    core.requests.clear()

    assert await find_own_application(workspace(core.url).calls) is None
    assert fetches(core) == []


async def test_an_edit_in_core_is_seen_when_the_kept_document_is_too_old(core, wait):
    found = []
    for secret, seconds in (("first", 0), ("second", 55), ("third", 10)):
        save(core, TRAVEL, secret)
        wait(seconds)
        async with vouched(core, TRAVEL) as own:
            found.append(await secret_of(own))

    assert found == ["first", "first", "third"]


async def test_without_a_cache_every_key_asks(core):
    found = []
    for secret in ("first", "second"):
        save(core, TRAVEL, secret)
        async with vouched(core, TRAVEL, metadata_seconds=0.0) as own:
            found.append(await secret_of(own))

    assert found == ["first", "second"]


@pytest.mark.parametrize("name", [TRAVEL, TRAVEL.replace(" ", "%20")])
async def test_a_saved_application_is_asked_for_again_at_once(core, name):
    async with vouched(core, TRAVEL) as own:
        await secret_of(own)
    save(core, TRAVEL, "second")

    forget_application(own.core, name)

    async with vouched(core, TRAVEL) as own:
        assert await secret_of(own) == "second"


async def test_what_was_asked_for_before_a_save_is_not_kept(core, monkeypatch):
    async with vouched(core, TRAVEL) as own:
        get_json = Calls.get_json

        async def saved_meanwhile(calls, path, query=None):
            found = await get_json(calls, path, query)
            save(core, TRAVEL, "second")
            forget_application(own.core, TRAVEL)
            return found

        with monkeypatch.context() as patch:
            patch.setattr(Calls, "get_json", saved_meanwhile)
            assert await secret_of(own) == "first"

        assert await secret_of(own) == "second"


async def test_keys_that_come_at_the_same_time_get_the_documents_of_their_applications(core):
    async with AsyncExitStack() as stack:
        names = [TRAVEL, PLANS] * 5
        owns = [await stack.enter_async_context(vouched(core, name)) for name in names]

        found = await asyncio.gather(*map(secret_of, owns))

    assert found == ["first", "other"] * 5


async def test_an_application_that_core_does_not_know_is_none_until_it_does(core):
    found = []
    for _ in range(2):
        async with vouched(core, "late") as own:
            found.append(await secret_of(own))
        save(core, "late", "now")

    assert found == [None, "now"]


async def test_a_core_that_fails_is_asked_again_next_time(core):
    async with vouched(core, TRAVEL) as own:
        gone = Calls(Core("http://127.0.0.1:9"), own.caller)
        with pytest.raises(ServiceFailed):
            await find_own_application(gone)
        assert await secret_of(own) == "first"


async def test_what_one_core_told_is_not_used_for_another_one(core):
    async with vouched(core, TRAVEL) as own:
        await secret_of(own)

        assert await find_own_application(Calls(Core(f"{core.url}/dial"), own.caller)) is None
