"""An application made with DIAL's SDK, called through Core like a deployment."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from apps.agent.answers.replies import ask_model
from apps.agent.events import Event
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.model import ModelRequest
from apps.errors import ModelFailed
from tests.capabilities.deployment.dial_application import serve
from tests.workspace.dial.callers import called, workspace


@pytest.fixture(scope="module")
def sdk_url() -> Iterator[str]:
    with serve() as url:
        yield url


@pytest.fixture
def counter(fake, sdk_url):
    fake.add_application("counter", f"{sdk_url}/chat/completions", displayName="Counter")
    return fake


async def reply_of(own, *messages):
    events: list[Event] = []
    model = await own.model("counter")
    reply = await ask_model(model, ModelRequest(messages), events.append, name="counter")
    return reply, json.loads(reply.message.text)


async def test_a_conversation_goes_on_with_the_state_that_came_back(counter):
    own = workspace(counter.url)

    first, told = await reply_of(own, ModelMessage("user", "one"))
    answer = ModelMessage("assistant", first.message.text, state=first.message.model_state)
    _, again = await reply_of(own, ModelMessage("user", "one"), answer, ModelMessage("user", "two"))

    assert (told["count"], again["count"]) == (1, 2)
    assert again["roles"] == ["user", "assistant", "user"]
    assert [item.url for item in first.message.attachments] == ["files/x/chart.png"]


async def test_an_application_reads_what_another_one_attaches(counter):
    with called(counter) as own:
        kept = await own.files.keep("a b.txt", b"x", "text/plain")
        attachment = Attachment("text/plain", "a b", url=kept.path)
        _, told = await reply_of(own, ModelMessage("user", "look", attachments=(attachment,)))

    assert told["attachments"] == [{"type": "text/plain", "title": "a b", "url": kept.path}]


async def test_a_file_that_the_caller_may_not_read_is_refused(counter):
    counter.put("files/other/a.txt", b"x")
    attachment = Attachment("text/plain", "a", url="files/other/a.txt")

    with called(counter) as own, pytest.raises(ModelFailed) as caught:
        await reply_of(own, ModelMessage("user", "look", attachments=(attachment,)))

    assert caught.value.status == 403


async def test_what_an_application_says_of_its_failure_is_told(counter):
    with pytest.raises(ModelFailed) as caught:
        await reply_of(workspace(counter.url), ModelMessage("user", "fail"))

    assert (caught.value.status, caught.value.display) == (422, "Ask something else.")


async def test_a_key_that_has_ended_opens_nothing_more(counter):
    with called(counter) as own:
        pass

    with pytest.raises(ModelFailed) as caught:
        await reply_of(own, ModelMessage("user", "one"))

    assert (caught.value.status, "Unknown api key" in str(caught.value)) == (401, True)
