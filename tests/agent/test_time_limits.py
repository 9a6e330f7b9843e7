"""Time limits are paused while a user is asked."""

import asyncio

import pytest

from apps.agent.time_limits import current_limits, pause_limits, time_limit


async def test_a_limit_ends_what_takes_too_long():
    with pytest.raises(TimeoutError):
        async with time_limit(0.01):
            await asyncio.Event().wait()

    assert current_limits() == ()


async def test_limits_around_each_other_stand_still_until_the_last_question_is_over():
    async with time_limit(200), time_limit(100):
        limits = current_limits()
        with pause_limits(limits):
            with pause_limits(limits):
                both = [limit.timeout.when() for limit in limits]
            one = [limit.timeout.when() for limit in limits]
        now = asyncio.get_running_loop().time()
        left = [round((limit.timeout.when() or 0) - now, -1) for limit in limits]

    assert both == one == [None, None]
    assert left == [200, 100]


async def test_the_time_that_was_left_goes_on():
    with pytest.raises(TimeoutError):
        async with time_limit(0.02):
            with pause_limits(current_limits()):
                pass
            await asyncio.Event().wait()


async def test_what_has_no_limit_has_none_afterwards():
    async with time_limit(None):
        [limit] = current_limits()
        with limit.stopped():
            pass
        assert limit.timeout.when() is None


async def test_a_limit_that_is_over_is_left_alone():
    async with time_limit(60):
        [limit] = current_limits()
        asking = limit.stopped()
        asking.__enter__()
    asking.__exit__(None, None, None)
    with limit.stopped():
        pass
