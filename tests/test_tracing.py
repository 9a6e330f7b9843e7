import asyncio

import pytest

from apps.tracing import LONGEST_ID, accepted_or_new_id, begin_request, request_id, use_request_id


@pytest.mark.parametrize("sent", ["desk-7", "a" * LONGEST_ID, "Root=1-67891233:x/y+z@q"])
def test_a_well_formed_id_of_a_client_is_accepted(sent: str):
    assert accepted_or_new_id(sent) == sent


@pytest.mark.parametrize("sent", ["", "a" * (LONGEST_ID + 1), "a b", "a\nb", "ä", '"x"'])
def test_another_id_is_replaced(sent: str):
    made = accepted_or_new_id(sent)

    assert (len(made), made.isalnum()) == (32, True)
    assert made != accepted_or_new_id(sent)


async def test_tasks_keep_the_id_in_which_they_were_started():
    async def told() -> str:
        await asyncio.sleep(0)
        return request_id()

    async def of_job() -> str:
        begin_request("job-1")
        return await told()

    with use_request_id("outer"):
        task = asyncio.create_task(told())
        with use_request_id("inner"):
            job = asyncio.create_task(of_job())

    assert (await task, await job, request_id()) == ("outer", "job-1", "")
