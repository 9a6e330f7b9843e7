"""D-43: the model asks the user and continues with the answer."""

import json
from typing import Any

import pytest
from msgspec import structs

from apps.agent.events import Event, InteractionRequested, StageOpened
from apps.agent.ledger import EVERY_KIND, NO_LEDGER, WAITING, InteractionRequest, Ledger
from apps.agent.messages import ModelMessage
from apps.agent.tools import Invocation, PendingResult, Tool, ToolResult
from apps.capabilities.questions.answers import SKIPPED, TIMED_OUT
from apps.capabilities.questions.capability import TOOL_NAME, questions
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import InvalidParameter
from apps.manifest.validation.validation import read_manifest
from apps.runs.requests import RunRequest
from apps.runs.run import RunEnd, run_application
from tests.capabilities import runs
from tests.capabilities.manifests import manifest, opening_for, use
from tests.capabilities.runs import CALLER, led_by
from tests.contract import proves
from tests.fakes import FakeWorkspace, MemoryLedger, ScriptedModel, calling, saying
from tests.manifest import documents
from tests.tables import each_row

RED, BLUE = {"label": "Red"}, {"label": "Blue", "description": "As the sea."}
CARD = {"question": "Which colour?", "input": "single", "options": [RED, BLUE], "freeform": True}


def tool(features: dict[str, Any] | None = None) -> Tool:
    """Return the tool in a run that is stored."""
    opener = questions.prepare(manifest(features={"questions": {}, **(features or {})}))
    assert opener is not None
    manager: Any = opener(structs.replace(opening_for(), can_ask=EVERY_KIND))
    (found,) = manager.enter_result.tools
    assert isinstance(found, Tool)
    return found


async def card(**arguments: Any) -> Any:
    result = await use(tool(), **arguments)
    assert isinstance(result, PendingResult)
    (asked,) = result.interactions
    return asked.asked


async def told(answer: dict[str, Any], **arguments: Any) -> ToolResult:
    asked = InteractionRequest("t:1:0:1", "question", CARD, answer=answer, answered_by="user-7")
    given = {"question": "Which colour?", "options": [RED, BLUE], **arguments}
    return await tool().call(Invocation("1", given, answers={"question": asked}))


async def test_a_question_waits_with_its_card():
    events: list[Event] = []

    result = await use(tool(), events.append, question=" Which colour? ", options=[RED, BLUE])

    assert isinstance(result, PendingResult)
    assert result.interactions == (InteractionRequest("", "question", CARD, 300),)
    assert json.loads(json.dumps(CARD)) == CARD
    assert events == []


@proves("D-43")
@pytest.mark.parametrize("seconds", [20, None])
async def test_the_application_says_how_long_there_is_time(seconds):
    limited = tool({"questions": {"seconds": seconds}})

    result = await use(limited, question="Which?", input_type="text")

    assert isinstance(result, PendingResult)
    assert [one.seconds for one in result.interactions] == [seconds]


@proves("D-43")
async def test_several_options_can_be_chosen_and_no_other_answer_be_given():
    asked = await card(
        question="Which?",
        input_type="multi-select",
        options=[{"label": " Dark\n red ", "description": " "}],
        allow_freeform=False,
    )

    assert asked == {
        "question": "Which?",
        "input": "multiple",
        "options": [{"label": "Dark red"}],
        "freeform": False,
    }


@proves("D-43")
@pytest.mark.parametrize("rest", [{}, {"options": []}, {"options": None}])
async def test_a_question_in_own_words_has_no_options(rest):
    asked = await card(question="Why?", input_type="text", allow_freeform=False, **rest)

    assert asked == {"question": "Why?", "input": "text", "options": [], "freeform": True}


async def test_no_file_is_loaded_into_a_question():
    options = [{"label": "file:text::files/user-7/a.txt"}]

    asked = await card(question="file:text::files/user-7/a.txt", options=options)

    assert (asked["question"], asked["options"]) == ("files/user-7/a.txt", options)


@each_row(
    ("arguments", "problem"),
    [
        ({}, "Parameter question is invalid: it is required but missing."),
        ({"question": " "}, "Parameter question is invalid: it is empty."),
        ({"question": "a" * 2_001}, "it has 2001 characters; the limit is 2000. Shorten it."),
        ({"input_type": "radio"}, "expected one of single-select, multi-select, text"),
        ({"options": None}, "there are no options. Pass some, or use the type text."),
        ({"options": []}, "there are no options. Pass some, or use the type text."),
        ({"options": ["Red"]}, "Parameter options[0] is invalid: expected object"),
        ({"options": [{"label": str(i)} for i in range(21)]}, "there are 21; the limit is 20"),
        ({"options": [RED, {"label": " Red "}]}, "two options have the same label."),
        ({"options": [{"label": " "}]}, "Parameter options[0].label is invalid: it is empty."),
        ({"options": [{"label": "a" * 201}]}, "Parameter options[0].label is invalid: it has 201"),
        (
            {"options": [{"label": "a", "description": "b" * 501}]},
            "Parameter options[0].description is invalid: it has 501",
        ),
        ({"input_type": "text"}, "a question of the type text has no options."),
    ],
)
async def test_wrong_arguments_are_told_with_what_to_do(arguments, problem):
    complete = {"question": "Which?", "options": [RED, BLUE]} if arguments else {}

    with pytest.raises(InvalidParameter) as refused:
        await use(tool(), **{**complete, **arguments})

    assert problem in str(refused.value)


async def test_the_model_reads_what_was_answered():
    assert await told({"outcome": "answered", "choices": ["Blue"], "text": ""}) == ToolResult(
        'The user chose: "Blue"', "text/plain"
    )


@pytest.mark.parametrize(("outcome", "text"), [("skipped", SKIPPED), ("timeout", TIMED_OUT)])
async def test_a_question_without_an_answer_is_no_failure(outcome, text):
    result = await told({"outcome": outcome})

    assert (result.content, result.failure) == (text, None)


async def test_an_approval_is_not_asked_for_but_a_rule_may_forbid_questions():
    confirmed = tool({"approval": {"mode": "confirm"}})
    denied = tool({"approval": {"deny": {"patterns": ["ask_question"]}}})

    waiting = await use(confirmed, question="Which?", options=[RED])
    refused = await use(denied, question="Which?", options=[RED])

    assert isinstance(waiting, PendingResult)
    assert [one.kind for one in waiting.interactions] == ["question"]
    assert not isinstance(refused, PendingResult)
    assert refused.failure is not None


def test_an_application_that_does_not_ask_for_it_has_no_tool():
    assert questions.prepare(manifest()) is None
    assert questions.prepare(manifest(features=None)) is None
    assert questions.prepare(manifest(features={"questions": None})) is None


def application() -> ResolvedApplication:
    document = read_manifest(
        documents.manifest(
            orchestrator=led_by(prompt="You help."),
            features={"timestamp": None, "questions": {}, "subagents": {"enabled": True}},
        ),
        preview=True,
    )
    return runs.application(document)


async def answered_by(model: ScriptedModel, ledger: Ledger, events: list[Event]) -> RunEnd:
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"gpt": model}
    request = RunRequest((ModelMessage("user", "Paint it."),))
    return await run_application(application(), request, workspace, CALLER, events.append, ledger)


@proves("D-43")
async def test_a_run_waits_for_the_answer_and_goes_on_with_it():
    ledger, events = MemoryLedger(), list[Event]()
    asks = calling(("1", TOOL_NAME, {"question": "Which colour?", "options": [RED, BLUE]}))
    model = ScriptedModel(asks, saying("Red it is."))

    asked = await answered_by(model, ledger, events)
    ledger.answer("t:1:0:1", "question", outcome="answered", choices=["Red"], text="but pale")
    ended = await answered_by(model, ledger, events)

    assert (asked, ended) == (RunEnd(WAITING), RunEnd("stop", "Red it is."))
    assert [event.interaction for event in events if isinstance(event, InteractionRequested)] == [
        InteractionRequest("t:1:0:1", "question", CARD, 300)
    ]
    assert model.asked[1].messages[-1].text == 'The user chose: "Red"\nThe user wrote: but pale'
    assert [event for event in events if isinstance(event, StageOpened)] == []


async def test_nobody_is_asked_where_a_run_is_not_kept():
    model = ScriptedModel(saying("Red it is."))

    ended = await answered_by(model, NO_LEDGER, [])

    assert ended == RunEnd("stop", "Red it is.")
    assert [tool.name for tool in model.asked[0].tools] == ["internal_task"]


async def test_subagents_do_not_ask():
    general = {"subagent_type": "general-purpose", "prompt": "Choose.", "tool_sets": []}
    task = ("1", "internal_task", general)
    model = ScriptedModel(calling(task), saying("Red."), saying("Red it is."))

    await answered_by(model, MemoryLedger(), [])

    offered = [sorted(tool.name for tool in asked.tools) for asked in model.asked]
    assert offered == [[TOOL_NAME, "internal_task"], [], [TOOL_NAME, "internal_task"]]


def test_the_tool_may_be_called_again_by_another_process():
    assert tool().is_repeatable
    assert tool().announcement is None
