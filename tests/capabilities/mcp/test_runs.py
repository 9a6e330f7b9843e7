"""Whole runs with a server, from the question to the stored state."""

from collections.abc import Mapping
from typing import Any

from apps.agent.events import StageOpened
from apps.agent.messages import ModelMessage
from apps.capabilities.mcp.capability import mcp
from apps.catalog.resolved_application import ResolvedApplication
from tests.capabilities import runs
from tests.capabilities.manifests import manifest
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.capabilities.runs import events_of, state_of
from tests.contract import proves
from tests.fakes import ScriptedModel, calling, saying


def application(*tool_sets: Mapping[str, Any]) -> ResolvedApplication:
    return runs.application(manifest(*tool_sets), mcp)


async def test_what_was_read_ahead_and_called_comes_back_with_the_next_question(http_url):
    resources = {"enabled": True, "items": [{"uri": "bits://rules", "eager": True}]}
    app = application(over_http(http_url, resources=resources))
    first = ScriptedModel(calling(("1", "desk_add", {"a": 1, "b": 2})), saying("3"))
    second = ScriptedModel(saying("You are welcome"))
    question, thanks = ModelMessage("user", "1 + 2?"), ModelMessage("user", "Thanks")

    async with nothing_left_over() as sessions:
        state = state_of(await events_of(app, {"some-model": first}, question))
        answer = ModelMessage("assistant", "3", state=state)
        await events_of(app, {"some-model": second}, question, answer, thanks)
        (slot,) = sessions.slots.values()
        assert (slot.opened, slot.users) == (1, 0)

    asked = [message for message in second.asked[0].messages if message.role != "system"]
    assert [(message.role, message.content) for message in asked] == [
        ("user", "1 + 2?"),
        ("assistant", ""),
        ("tool", "Be gentle."),
        ("assistant", " "),
        ("tool", "3"),
        ("assistant", "3"),
        ("user", "Thanks"),
    ]
    assert "read_mcp_resource" in str(second.asked[0].messages[0].content)


@proves("G-04")
async def test_a_toolset_that_cannot_be_opened_is_reported_and_the_answer_comes():
    app = application(over_http("http://127.0.0.1:9/mcp"))
    model = ScriptedModel(saying("Without tools"))

    async with nothing_left_over():
        events = await events_of(app, {"some-model": model}, ModelMessage("user", "Hi"))

    opened = [event.title for event in events if isinstance(event, StageOpened)]
    assert opened == ["Initialization issues"]
    assert len(model.asked) == 1
