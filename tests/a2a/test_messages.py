"""Messages that start tasks, and the answers to them."""

from __future__ import annotations

import pytest

from tests.a2a.scripts import agent_scene, message, state_of
from tests.chat.scripts import says
from tests.contract import proves_feature

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@proves_feature("a2a", "text")
async def test_a_message_begins_a_task_and_returns_it_with_its_answer():
    async with agent_scene() as (on, agent):
        on.model.put(says("Hel"), says("lo"), None)
        sent = message("Hi")

        told = await agent.call("SendMessage", {"message": sent})

        task = told["task"]
        assert state_of(task) == "TASK_STATE_COMPLETED"
        [artifact] = task["artifacts"]
        assert artifact["parts"] == [{"text": "Hello", "mediaType": "text/markdown"}]
        assert [one["role"] for one in task["history"]] == ["ROLE_USER", "ROLE_AGENT"]
        assert task["history"][0]["messageId"] == sent["messageId"]
        assert await agent.call("GetTask", {"id": task["id"]}) == task


@proves_feature("a2a", "text")
async def test_a_stream_begins_with_the_task_and_ends_with_its_last_state():
    async with agent_scene() as (on, agent):
        on.model.put(says("Hel"), says("lo"), None)

        told = await agent.stream("SendStreamingMessage", {"message": message("Hi")})

        assert state_of(told[0]["task"]) == "TASK_STATE_WORKING"
        pieces = [one["artifactUpdate"] for one in told if "artifactUpdate" in one]
        text = "".join(one["artifact"]["parts"][0]["text"] for one in pieces)
        assert (text, pieces[0]["append"], pieces[-1]["lastChunk"]) == ("Hello", False, True)
        assert state_of(told[-1]["statusUpdate"]) == "TASK_STATE_COMPLETED"
