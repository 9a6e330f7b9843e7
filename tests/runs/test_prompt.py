from __future__ import annotations

import pytest

from apps.agent.messages import ModelMessage
from apps.errors import InitializationIssue
from apps.manifest.prompts import fill_text
from apps.manifest.validation.validation import read_manifest
from apps.runs.preparation import with_system, without_content_gaps
from apps.runs.prompt import APPLICATION, compose, inline_contexts, override, written_prompt
from tests.contract import proves
from tests.runs.prompts import context_of

QUESTION = ModelMessage("user", "Hello")


def manifest_of(prompt: object = None, **parts: object):
    orchestrator: dict[str, object] = {"deployment": {"deployment_id": "gpt"}}
    if prompt is not None:
        orchestrator["system_prompt"] = prompt
    return read_manifest({"orchestrator": orchestrator, "contexts": [], "tool_sets": [], **parts})


def written(prompt: object = None, locale: str = "en") -> str:
    return written_prompt(manifest_of(prompt).orchestrator.system_prompt, locale)


def test_a_custom_prompt_has_its_variables_filled_in():
    prompt = {"type": "custom", "content": "Speak as {who}.", "variables": {"who": "a pirate"}}

    assert written(prompt) == "Speak as a pirate."


def test_an_application_without_a_prompt_has_an_empty_one():
    assert written() == ""


def test_a_predefined_prompt_knows_the_locale_and_what_the_installation_adds(settings):
    settings.PROMPT_VARIABLES = {"company": "Acme {today}"}
    template = {"type": "predefined", "template": "x", "content": "{company} in {locale}, {x}."}

    assert written(template, "de") == "Acme {today} in de, {x}."


async def test_a_prompt_that_is_stored_in_dial_needs_dial():
    prompt = {"type": "dial", "path": "prompts/public/pirate", "variables": {}}

    with pytest.raises(InitializationIssue, match="prompts/public/pirate"):
        await compose([APPLICATION], context_of(manifest_of(prompt)))


def test_a_variable_that_nobody_defined_stays_and_is_warned_of(caplog):
    prompt = {
        "type": "custom",
        "content": 'Be {tone}, {name}. Answer with {"a": {1}} or {name}.',
        "variables": {"tone": "kind"},
    }

    found = written(prompt)

    assert found == 'Be kind, {name}. Answer with {"a": {1}} or {name}.'
    assert caplog.messages == ["The system prompt has undefined variables: name"]


def test_only_known_variables_are_replaced():
    assert fill_text('{a} {"b": {c}} {d}', {"a": "1", "c": "3"}) == '1 {"b": 3} {d}'


@proves("11.1")
def test_inline_contexts_are_part_of_the_prompt():
    contexts = [{"type": "user-defined", "content": "Riga is in Latvia."}]

    assert inline_contexts(manifest_of(contexts=contexts)) == ["Riga is in Latvia."]


@pytest.mark.parametrize(("allowed", "found"), [(True, "Mine."), (False, "")])
def test_a_system_message_of_the_client_replaces_the_prompt_only_where_that_is_allowed(
    allowed, found
):
    assert override([ModelMessage("system", " Mine. "), QUESTION], allowed=allowed) == found


def test_text_parts_of_a_system_message_are_joined():
    parts = ({"type": "text", "text": "a"}, {"type": "text", "text": "b"})

    assert override([ModelMessage("system", parts), QUESTION], allowed=True) == "a\nb"


@proves("G-05", "T-01")
def test_the_parts_of_the_prompt_are_one_message_in_front():
    found = with_system([ModelMessage("system", "of the client"), QUESTION], "a\n\nb")

    assert found == [ModelMessage("system", "a\n\nb"), QUESTION]


def test_a_prompt_that_says_nothing_is_no_message():
    assert with_system([ModelMessage("system", "of the client"), QUESTION], "") == [QUESTION]


@proves("4")
def test_an_answer_that_said_nothing_is_a_space():
    assert without_content_gaps(ModelMessage("assistant")) == ModelMessage("assistant", " ")
    assert without_content_gaps(ModelMessage("user")) == ModelMessage("user")
