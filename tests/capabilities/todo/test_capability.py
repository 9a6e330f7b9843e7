"""The to-do list of a conversation is written, sent to the model after everything else, and stored."""

import json
from typing import Any

import pytest

from apps.agent.events import Event, TodoChanged
from apps.agent.messages import ModelMessage
from apps.agent.todo_list import todo_message
from apps.capabilities.todo.capability import MOST_CHARACTERS
from apps.errors import ModelFailed
from apps.manifest.validation.validation import read_manifest
from tests.capabilities import runs
from tests.capabilities.runs import application, led_by, results, state_of
from tests.contract import proves
from tests.fakes import MemoryLedger, ScriptedModel, calling, saying
from tests.manifest.documents import manifest

QUESTION = ModelMessage("user", "Plan the trip.")
LIST = "- [ ] pack\n  - [x] shoes\n  - [ ] coat"


def write(text: object, call_id: str = "1", **more: Any) -> tuple[str, str, object]:
    return call_id, "manage-todo", {"operation": "write", "text": text, **more}


READ = ("r", "manage-todo", {"operation": "read"})


PLANNER = application(
    read_manifest(
        manifest(
            orchestrator=led_by(prompt="You plan."),
            tool_sets=[],
            features={"timestamp": None, "todo": {"enabled": True}},
        ),
        preview=False,
    )
)


async def events_of(model: ScriptedModel, *messages: ModelMessage, **rest: Any) -> list[Event]:
    return await runs.events_of(PLANNER, {"gpt": model}, *(messages or (QUESTION,)), **rest)


def answered(events: list[Event], text: str = "Planned.") -> ModelMessage:
    """Return the answer as the next request contains it, with its state as JSON."""
    return ModelMessage("assistant", text, state=json.loads(json.dumps(state_of(events))))


@proves("D-49")
async def test_a_list_is_written_counted_and_shown():
    model = ScriptedModel(calling(write(LIST)), calling(READ), saying("Planned."))

    events = await events_of(model)

    assert results(model) == ["3 items, 1 completed.", f"3 items, 1 completed.\n\n{LIST}"]
    assert [one for one in events if isinstance(one, TodoChanged)] == [TodoChanged(LIST)]


@proves("R-14")
async def test_every_prompt_has_the_list_as_it_stands_behind_everything_else():
    later = LIST.replace("[ ] coat", "[x] coat")
    model = ScriptedModel(calling(write(LIST)), calling(write(later, "2")), saying("Planned."))

    await events_of(model)

    first, second, third = (list(request.messages) for request in model.asked)
    assert first[-1] == QUESTION
    assert second[-1] == todo_message(LIST)
    assert third[-1] == todo_message(later)
    # Everything before the list is sent again byte by byte, because services cache it.
    assert second[:-1] == [*first, *second[2:-1]]
    assert third[: len(second) - 1] == second[:-1]


@proves("D-49")
async def test_the_list_survives_the_answer_and_the_next_prompt_holds_it():
    model = ScriptedModel(calling(write(LIST)), saying("Planned."), saying("Still planned."))
    before = await events_of(model)
    again = ModelMessage("user", "And now?")

    after = await events_of(model, QUESTION, answered(before), again)

    assert model.asked[-1].messages[-1] == todo_message(LIST)
    assert answered(after).state["todo_list"] == LIST


@proves("D-49")
async def test_the_list_survives_an_answer_that_fails():
    model = ScriptedModel(calling(write(LIST)), [ModelFailed("No.", reason="down")])
    events: list[Event] = []

    with pytest.raises(ModelFailed):
        await events_of(model, events=events)

    assert answered(events).state["todo_list"] == LIST


async def test_an_empty_text_removes_the_list():
    model = ScriptedModel(calling(write(LIST)), calling(write("")), calling(READ), saying("Ok."))

    events = await events_of(model)

    assert model.asked[-1].messages[-1].role == "tool"
    assert results(model)[-1] == "There is no to-do list."
    assert "todo_list" not in answered(events).state


@proves("D-50")
async def test_a_workspace_and_other_arguments_that_it_does_not_know_are_ignored():
    named = write(LIST, workspaceName="wiki", tone="kind")
    model = ScriptedModel(calling(named), saying("Planned."))

    await events_of(model)

    assert results(model) == ["3 items, 1 completed."]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"operation": "write"}, "text"),
        ({"operation": "write", "text": "x" * (MOST_CHARACTERS + 1)}, "10,001 characters"),
        ({"operation": "erase"}, "expected one of write, read"),
        ({}, "operation"),
    ],
)
async def test_a_call_that_cannot_be_understood_is_told(arguments, told):
    model = ScriptedModel(calling(("1", "manage-todo", arguments)), saying("Ok."))

    events = await events_of(model)

    assert told in results(model)[0]
    assert [one for one in events if isinstance(one, TodoChanged)] == []


@pytest.mark.parametrize("stored", [7, ["- [ ] a"], None, "x" * 20_000], ids=type)
async def test_a_state_that_a_client_made_up_does_no_harm(stored):
    model = ScriptedModel(saying("Ok."))
    made_up = ModelMessage("assistant", "Hi", state={"todo_list": stored})

    await events_of(model, QUESTION, made_up, QUESTION)

    last = model.asked[0].messages[-1]
    kept = stored[:MOST_CHARACTERS] if isinstance(stored, str) else None
    assert last == (QUESTION if kept is None else todo_message(kept))


@proves("D-49")
async def test_a_run_that_another_process_goes_on_with_has_the_list():
    ledger = MemoryLedger()
    model = ScriptedModel(calling(write(LIST)), [ModelFailed("No.", reason="down")])
    with pytest.raises(ModelFailed):
        await events_of(model, ledger=ledger)
    next_model = ScriptedModel(saying("Planned."))

    events = await events_of(next_model, ledger=ledger)

    assert next_model.asked[0].messages[-1] == todo_message(LIST)
    assert answered(events).state["todo_list"] == LIST


@proves("D-49")
async def test_lists_of_two_conversations_know_nothing_of_each_other():
    first = ScriptedModel(calling(write("- [ ] mine")), saying("Ok."))
    second = ScriptedModel(saying("Hello."))

    await events_of(first)
    await events_of(second)

    assert list(second.asked[0].messages)[-1] == QUESTION
