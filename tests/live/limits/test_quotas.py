"""Requests and tokens per minute, counted in one process and across several."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
import time_machine

from apps.accounts.caller import Caller, ClientInfo, KeyLimits, caller_in
from apps.agent.events import ModelUsage
from apps.errors import RateLimitReached
from apps.live.limits.quotas import Rate, RemainingRate, admit_request, rates_of, spend
from apps.live.limits.rate_counts import RateCounts
from apps.manifest.features.features import Features, RateLimits
from apps.process_state import loop_object
from tests.services import absence
from tests.sites.serving import free_port


def application(**own: int | None) -> Any:
    limits = RateLimits(**own) if own else None
    return SimpleNamespace(
        slug="shop", manifest=SimpleNamespace(features=Features(rate_limits=limits))
    )


def requests(name: str, most: int) -> Rate:
    return Rate("requests", "caller", name, most)


def tokens(name: str, most: int) -> Rate:
    return Rate("tokens", "caller", name, most)


def lefts(rests: Sequence[RemainingRate]) -> list[int]:
    return [rest.left for rest in rests]


@pytest.fixture(params=["memory", "redis"])
def name(request: pytest.FixtureRequest, settings: Any) -> str:
    """Return a name that no other test uses."""
    if request.param == "redis":
        if reason := absence("redis"):
            pytest.skip(reason)
        settings.REDIS_URL = os.environ["TEST_REDIS_URL"]
    else:
        settings.REDIS_URL = ""
    return uuid4().hex


@asynccontextmanager
async def counts() -> AsyncIterator[RateCounts]:
    made = RateCounts()
    try:
        yield made
    finally:
        await made.aclose()


def test_without_limits_there_is_nothing_to_count():
    assert rates_of(Caller("user-7", "user"), application()) == []


def test_a_caller_has_the_limits_of_the_installation_and_an_application_its_own(settings: Any):
    settings.PERSON_REQUESTS_PER_MINUTE, settings.PERSON_TOKENS_PER_MINUTE = 3, 400
    settings.KEY_REQUESTS_PER_MINUTE, settings.KEY_TOKENS_PER_MINUTE = 5, 600
    limited = application(requests_per_minute=7, tokens_per_minute=800)
    of_application = [
        Rate("requests", "application", "shop", 7),
        Rate("tokens", "application", "shop", 800),
    ]

    assert rates_of(Caller("user-7", "user"), limited) == [
        requests("user-7", 3),
        tokens("user-7", 400),
        *of_application,
    ]
    assert rates_of(Caller("key-a", "key"), None) == [requests("key-a", 5), tokens("key-a", 600)]
    assert rates_of(Caller("b1", "dial"), None) == [requests("b1", 5), tokens("b1", 600)]
    assert rates_of(Caller(""), limited) == of_application


def test_a_person_has_one_rate_in_all_teams(settings: Any):
    settings.PERSON_REQUESTS_PER_MINUTE = 10

    found = [rates_of(caller_in(7, team), None) for team in (None, 3)]

    assert found == [[requests("user-7", 10)]] * 2


@pytest.mark.parametrize(
    ("addresses", "name"),
    [
        (("203.0.113.9", "203.0.113.9"), "address-203.0.113.9"),
        (("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"), "address-2001:db8:1:2::"),
    ],
)
def test_a_visitor_who_forgets_their_cookies_is_no_other_one(
    settings: Any, addresses: tuple[str, str], name: str
):
    settings.PERSON_REQUESTS_PER_MINUTE = 10
    visitors = [
        Caller(f"session-{number}", client=ClientInfo(address=one))
        for number, one in enumerate(addresses)
    ]

    assert [rates_of(visitor, None) for visitor in visitors] == [[requests(name, 10)]] * 2


def test_a_key_and_a_manifest_have_limits_of_their_own_and_zero_is_none(settings: Any):
    settings.KEY_REQUESTS_PER_MINUTE = settings.KEY_TOKENS_PER_MINUTE = 5
    key = Caller("key-a", "key", limits=KeyLimits(requests_per_minute=9, tokens_per_minute=0))

    found = rates_of(key, application(requests_per_minute=0, tokens_per_minute=11))

    assert found == [requests("key-a", 9), Rate("tokens", "application", "shop", 11)]


async def test_of_many_requests_at_once_exactly_so_many_are_admitted(name: str):
    async with counts() as one, counts() as other:
        both = (one, other) if one.common else (one, one)
        asked = [both[turn % 2].admit([requests(name, 10)]) for turn in range(50)]
        answers = await asyncio.gather(*asked, return_exceptions=True)

    assert [type(answer) for answer in answers].count(RateLimitReached) == 40


async def test_the_change_of_a_minute_admits_no_request_too_many(name: str):
    async with counts() as one:
        with time_machine.travel("2026-03-24T12:00:59.9Z", tick=False):
            await one.admit([requests(name, 1)])
        with (
            time_machine.travel("2026-03-24T12:01:00.1Z", tick=False),
            pytest.raises(RateLimitReached) as refused,
        ):
            await one.admit([requests(name, 1)])
        with time_machine.travel("2026-03-24T12:02:00Z", tick=False):
            admitted = await one.admit([requests(name, 1)])

    assert refused.value.retry_after == 60
    assert lefts(admitted) == [0]


@pytest.mark.usefixtures("at_noon")
async def test_whoever_is_refused_hears_the_limit_and_when_to_come_back(name: str):
    async with counts() as one:
        admitted = await one.admit([requests(name, 1), tokens(name, 50)])
        with pytest.raises(RateLimitReached) as refused:
            await one.admit([requests(name, 1), tokens(name, 50)])

    assert lefts(admitted) == [0, 50]
    error = refused.value
    assert (error.kind, error.most) == ("requests", 1)
    assert 1 <= error.retry_after <= 61
    assert str(error) == (
        "Rate limit reached for you: 1 request per minute. "
        f"Please try again in {error.retry_after} s."
    )


async def test_a_refused_request_counts_for_nobody(name: str):
    async with counts() as one:
        await one.admit([requests(f"{name}-full", 1)])
        with pytest.raises(RateLimitReached):
            await one.admit([requests(name, 2), requests(f"{name}-full", 1)])

        assert lefts(await one.admit([requests(name, 2)])) == [1]


@pytest.mark.usefixtures("at_noon")
async def test_tokens_count_when_they_are_known_and_more_than_are_left_end_the_minute(name: str):
    rate = tokens(name, 100)
    async with counts() as one:
        await one.spend([rate], 30)
        after_first = lefts(await one.admit([rate]))
        await one.spend([rate], 4_000)
        with pytest.raises(RateLimitReached) as refused:
            await one.admit([rate])

    assert after_first == [70]
    assert refused.value.kind == "tokens"


@pytest.mark.usefixtures("at_noon")
async def test_the_tokens_of_an_answer_are_counted_in_the_background(settings: Any):
    settings.REDIS_URL = ""
    rate = tokens(uuid4().hex, 100)

    spend([rate, requests(rate.name, 1)], [ModelUsage("a", 20, 5), ModelUsage("b", 10, 5)])
    await asyncio.gather(*loop_object(RateCounts, RateCounts).tasks)

    assert lefts(await admit_request([rate])) == [60]


async def test_while_redis_is_away_the_process_counts_for_itself(
    settings: Any, caplog: pytest.LogCaptureFixture
):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    name = uuid4().hex
    async with counts() as one:
        first = lefts(await one.admit([requests(name, 2)]))
        second = lefts(await one.admit([requests(name, 2)]))
        with pytest.raises(RateLimitReached):
            await one.admit([requests(name, 2)])

    assert (first, second) == ([1], [0])
    messages = [record.getMessage() for record in caplog.records if "Redis" in record.getMessage()]
    assert len(messages) == 1
    # The log writes a code before the first record of an outage in a minute.
    words = messages[0].removeprefix("redis_unavailable: ")
    assert words.startswith("Redis is unavailable, so each process counts its own rates: ")
