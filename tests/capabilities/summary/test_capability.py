"""The tool that ends the turn with its own text."""

from typing import Any

from apps.agent.events import Event, RunFinished, TextDelta
from apps.agent.messages import ModelMessage, ToolCall
from apps.capabilities.summary.capability import without_summary
from apps.manifest.validation.validation import read_manifest
from apps.runs.history import expand
from tests.capabilities import runs
from tests.capabilities.runs import application, led_by, state_of
from tests.contract import proves
from tests.fakes import ScriptedModel, calling, saying, text
from tests.manifest.documents import internal_tools, manifest

QUESTION = ModelMessage("user", "How warm is it?")
CLOCK = "internal_timeawareness_current_timestamp"


async def events_of(model: ScriptedModel, **features: Any) -> list[Event]:
    document = read_manifest(
        manifest(
            orchestrator=led_by(),
            tool_sets=[internal_tools(CLOCK)],
            features={"timestamp": None, "summary": {"enabled": True}, **features},
        ),
        preview=False,
    )
    return await runs.events_of(application(document), {"gpt": model}, QUESTION)


@proves("D-40")
async def test_the_text_is_the_answer_and_no_model_is_asked_again():
    model = ScriptedModel(calling(("1", "summary", {"text": "It is **12** degrees."})))

    events = await events_of(model)

    assert len(model.asked) == 1
    assert [one for one in events if isinstance(one, TextDelta | RunFinished)] == [
        TextDelta("It is **12** degrees."),
        RunFinished(),
    ]


@proves("R-22", "D-40")
async def test_other_calls_of_the_round_are_made_and_kept_and_its_own_is_not_sent_again():
    model = ScriptedModel(
        [text("Let me see."), *calling(("1", CLOCK, {}), ("2", "summary", {"text": "It is late."}))]
    )

    events = await events_of(model)

    said = "".join(one.text for one in events if isinstance(one, TextDelta))
    assert said == "Let me see.\n\nIt is late."
    kept = expand([ModelMessage("assistant", said, state=state_of(events))])
    assert [[call.name for call in m.tool_calls] for m in kept] == [[CLOCK], [], []]
    assert [m.tool_call_id for m in kept] == [None, "1", None]


async def test_an_empty_text_is_refused_and_the_model_is_asked_again():
    model = ScriptedModel(calling(("1", "summary", {"text": " "})), saying("It is 12."))

    events = await events_of(model)

    assert "it is empty. Write the answer." in model.asked[1].messages[-1].text
    assert [one.text for one in events if isinstance(one, TextDelta)] == ["It is 12."]


def test_a_conversation_without_it_stays_as_it_is():
    messages = [QUESTION, ModelMessage("assistant", " ", tool_calls=(ToolCall("1", "look", "{}"),))]

    assert without_summary(messages) is messages
