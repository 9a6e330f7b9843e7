"""Requests that a model cannot answer are refused before it is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from apps.agent.events import Event, StageDelta
from apps.agent.messages import Attachment, ModelMessage
from apps.errors import BadRequest, DeploymentNotFound
from apps.runs.requests import RunRequest, tool_issues, within_limits
from apps.runs.run import run_application
from apps.workspace.model_capabilities import ModelCapabilities
from apps.workspace.port import DeploymentInfo
from tests.contract import proves
from tests.fakes import FakeWorkspace, ScriptedModel, saying
from tests.runs.test_run import CALLER, WEATHER, application, events_of, with_tools

SCHEMA = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
TEXT = {"type": "text", "text": "What is it?"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
PDF = {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA"}}
SOUND = {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}
BLIND = ModelCapabilities(vision=False)
ATTACHED = ModelMessage("user", "?", attachments=(Attachment("image/png", "a.png", data="AA"),))


def info(**can: Any) -> DeploymentInfo:
    return DeploymentInfo("gpt", "GPT", can=ModelCapabilities(**can))


@proves("T-51")
@pytest.mark.parametrize(
    ("part", "lacks", "noun"),
    [
        (PICTURE, "vision", "picture"),
        (PDF, "documents", "document"),
        (SOUND, "audio_input", "sound"),
    ],
)
async def test_a_question_that_the_model_cannot_read_is_refused_before_it_is_asked(
    part, lacks, noun
):
    model, can = ScriptedModel(), ModelCapabilities(**{lacks: False})

    with pytest.raises(BadRequest) as refused:
        await events_of(application(), model, ModelMessage("user", (TEXT, part)), info={"can": can})

    assert str(refused.value) == (
        f"messages: the application's model, 'gpt', cannot read a {noun}. Send the question without it, or use an application whose model can."
    )
    assert model.asked == []


@proves("T-51")
async def test_what_is_not_known_is_never_refused():
    model = ScriptedModel(saying("Hm"))

    await events_of(application(), model, ModelMessage("user", (TEXT, PICTURE, PDF, SOUND)))

    assert len(model.asked) == 1


async def test_a_picture_of_an_earlier_question_does_not_end_the_conversation():
    model = ScriptedModel(saying("Hm"))
    earlier = (ModelMessage("user", (TEXT, PICTURE)), ModelMessage("assistant", "A cat"))

    await events_of(
        application(), model, *earlier, ModelMessage("user", "Sure?"), info={"can": BLIND}
    )

    assert len(model.asked) == 1


async def test_an_attached_picture_is_refused_where_no_tool_could_look_at_it():
    model = ScriptedModel(saying("Hm"))

    with pytest.raises(BadRequest):
        await events_of(application(), ScriptedModel(), ATTACHED, info={"can": BLIND})
    await events_of(with_tools(WEATHER), model, ATTACHED, info={"can": BLIND})

    assert len(model.asked) == 1


class HiddenWorkspace(FakeWorkspace):
    """Returns the properties of deployments that the caller may not see."""

    async def facts(self, deployment_id: str) -> DeploymentInfo:
        return info(vision=False)

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        raise DeploymentNotFound(deployment_id)


async def test_what_a_deployment_cannot_do_is_told_to_those_alone_who_may_see_it():
    events: list[Event] = []
    request = RunRequest((ModelMessage("user", (TEXT, PICTURE)),))

    with pytest.raises(DeploymentNotFound):
        await run_application(
            application(), request, HiddenWorkspace(CALLER), CALLER, events.append
        )


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (
            {"parameters": {"max_tokens": 5000}},
            (
                "max_tokens: the application's model has an output limit of 4096 tokens. Use "
                "up to this limit."
            ),
        ),
        (
            {"response_format": SCHEMA},
            (
                "response_format: the application's model does not support a JSON Schema. "
                "Describe the JSON in the prompt."
            ),
        ),
    ],
)
async def test_a_wish_of_the_client_that_the_model_cannot_meet_is_refused(wishes, said):
    model, can = ScriptedModel(), ModelCapabilities(max_output_tokens=4096, structured_output=False)

    with pytest.raises(BadRequest) as refused:
        await events_of(application(), model, info={"can": can}, **wishes)

    assert str(refused.value) == said
    assert model.asked == []


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_limit_of_the_operator_above_that_of_the_model_is_that_of_the_model(name):
    wanted = {name: 5000, "seed": 1}

    fitting, issues = within_limits(wanted, wanted, RunRequest(()), info(max_output_tokens=4096))

    assert fitting == {name: 4096, "seed": 1}
    assert [str(issue) for issue in issues] == [
        f"orchestrator.deployment.parameters.{name}: 'gpt' has an output limit of 4096 tokens, so "
        "this limit is sent."
    ]


def test_a_schema_of_the_operator_that_the_model_cannot_keep_to_is_left_out():
    wanted = {"response_format": SCHEMA}

    fitting, issues = within_limits(wanted, wanted, RunRequest(()), info(structured_output=False))

    assert fitting == {}
    assert [str(issue) for issue in issues] == [
        (
            "orchestrator.deployment.parameters.response_format: 'gpt' does not support a JSON "
            "Schema, so it is not sent."
        )
    ]


async def test_more_tools_than_the_service_accepts_are_a_warning():
    model = ScriptedModel(saying("Yes."))

    events = await events_of(with_tools(WEATHER), model, info={"tool_limit": 0})

    text = "".join(event.text for event in events if isinstance(event, StageDelta))
    assert "'gpt' accepts at most 0 tools in a request, and this application offers 1, so" in text
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("most", "tools", "issues"), [(128, None, 0), (127, None, 1), (None, None, 0), (127, False, 0)]
)
def test_the_limit_of_tools_is_that_of_requests_with_tools(most, tools, issues):
    known = replace(info(tools=tools), tool_limit=most)

    assert len(tool_issues(128, known)) == issues


@pytest.mark.parametrize(
    "wanted",
    [
        {"max_tokens": 4096},
        {"max_tokens": None},
        {"max_tokens": "many"},
        {"response_format": {"type": "json_object"}},
        {"response_format": None},
        {"response_format": "json_schema"},
    ],
)
def test_what_the_model_can_do_or_its_service_has_to_judge_stays(wanted):
    can = info(max_output_tokens=4096, structured_output=False)

    assert within_limits(wanted, {}, RunRequest((), parameters=wanted), can) == (wanted, ())


async def test_a_client_can_ask_for_what_the_manifest_overrides():
    """The operator sets the limit, so it is not the client's error."""
    model = ScriptedModel(saying("Hm"))
    deployment = {"deployment_id": "gpt", "parameters": {"max_tokens": 9000}}
    can = ModelCapabilities(max_output_tokens=4096)

    await events_of(
        application(deployment=deployment),
        model,
        info={"can": can},
        parameters={"max_tokens": 9000},
    )

    assert [asked.parameters for asked in model.asked] == [{"max_tokens": 4096}]
