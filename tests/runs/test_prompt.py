from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.core.exceptions import ImproperlyConfigured

from apps.agent.messages import ModelMessage
from apps.capabilities.chat_context import ChatContext
from apps.capabilities.registry import PredefinedContent
from apps.errors import InitializationIssue, PlaceNotFound
from apps.manifest.markdown.chat_place import ChatPlace
from apps.manifest.prompts import fill_text
from apps.manifest.validation.validation import read_manifest
from apps.runs.prompt import (
    APPLICATION,
    PERSON_INTRODUCTION,
    PLATFORM,
    PromptLayer,
    PromptPart,
    compose,
    inline_contexts,
    join_parts,
    override,
    prompt_layers,
    spans_of,
    text_parts,
    written_prompt,
)
from apps.runs.requests import RunRequest
from tests.accounts.teams import make_team
from tests.contract import proves
from tests.runs.prompts import MANIFEST, context_of

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


ORDERS = ChatPlace("orders", "Orders", "They look at orders.")


def says(text: str):
    return lambda context: text_parts("x", "test", text)


def meets(barrier: asyncio.Barrier, text: str):
    async def build(context):
        async with asyncio.timeout(60):
            await barrier.wait()
        return text_parts("x", "test", text)

    return build


def fails(context):
    raise RuntimeError("broken")


@proves("R-14", "T-21")
async def test_t_21_the_layers_are_platform_application_place_and_those_of_capabilities():
    prompt = {"type": "custom", "content": "You sell trips.", "variables": {}}
    contexts = [{"type": "user-defined", "content": "Riga is in Latvia."}]
    orchestrator = {"deployment": {"deployment_id": "gpt"}, "system_prompt": prompt}
    manifest = read_manifest({**MANIFEST, "orchestrator": orchestrator, "contexts": contexts})
    told = (("mcp", "Cards."), ("skills", "Skills."), ("memory", "Remember."))
    request = RunRequest((), place=ORDERS, instructions="Be brief.")
    context = context_of(
        manifest, request, layer_prompts={"platform": "We are Acme."}, instructions=told
    )

    found = await compose(prompt_layers(), context)

    assert found == (
        PromptPart("platform", "predefined prompt 'platform'", "We are Acme."),
        PromptPart("application", "orchestrator.system_prompt", "You sell trips."),
        PromptPart("application", "contexts", "Riga is in Latvia."),
        PromptPart("place", "place 'orders'", "They look at orders."),
        PromptPart("tools", "capability 'mcp'", "Cards."),
        PromptPart("skills", "capability 'skills'", "Skills."),
        PromptPart("memory", "capability 'memory'", "Remember."),
        PromptPart("client", "system message of the client", "Be brief."),
    )
    assert sum(span.length + 2 for span in spans_of(found)) - 2 == len(join_parts(found))


@proves("R-14")
@pytest.mark.django_db
async def test_t_21_the_layer_of_the_team_stands_between_application_and_place():
    team = await sync_to_async(make_team)("Docs", prompt="docs")
    prompt = {"type": "custom", "content": "You sell trips.", "variables": {}}
    orchestrator = {"deployment": {"deployment_id": "gpt"}, "system_prompt": prompt}
    manifest = read_manifest({**MANIFEST, "orchestrator": orchestrator})
    request = RunRequest((), place=ORDERS)

    async def told(team: int | None, **prompts: str) -> list[str]:
        found = await compose(
            prompt_layers(), context_of(manifest, request, layer_prompts=prompts, team=team)
        )
        return [part.text for part in found]

    assert await told(team.pk, docs="Write plainly.") == [
        *("You sell trips.", "Write plainly.", "They look at orders."),
    ]
    without = ["You sell trips.", "They look at orders."]
    assert await told(None, docs="Write plainly.") == without
    assert await told(team.pk) == await told(0, docs="Write plainly.") == without


@proves("R-14")
@pytest.mark.django_db
async def test_t_24_a_broken_layer_of_the_team_is_left_out_and_logged(caplog):
    team = await sync_to_async(make_team)("Docs", prompt="docs")
    context = context_of(broken_prompts={"docs": "Leave empty for no expiry"}, team=team.pk)

    assert await compose(prompt_layers(), context) == ()
    assert "The layer 'team' of the system prompt failed" in caplog.text


async def test_own_instructions_stand_behind_what_all_callers_share():
    async def own() -> str:
        return "Answer in rhymes."

    request = RunRequest((), instructions="Be brief.", chat=ChatContext(own_instructions=own))
    found = await compose(
        prompt_layers(), context_of(request=request, instructions=(("memory", "Remember."),))
    )

    assert [part.layer for part in found] == ["memory", "person", "client"]
    assert found[1] == PromptPart(
        "person", "own instructions of the person", f"{PERSON_INTRODUCTION}\n\nAnswer in rhymes."
    )


@proves("T-21")
async def test_t_21_layers_that_say_nothing_are_absent():
    assert await compose(prompt_layers(), context_of()) == ()


@proves("T-20")
async def test_t_20_the_prompt_is_made_anew_for_each_person():
    layer = PromptLayer("who", lambda context: text_parts("who", "x", context.request.instructions))

    mine = await compose([layer], context_of(request=RunRequest((), instructions="Ann")))
    other = await compose([layer], context_of(request=RunRequest((), instructions="Ben")))

    assert (join_parts(mine), join_parts(other)) == ("Ann", "Ben")


@proves("T-22")
async def test_t_22_layers_wait_together_and_keep_their_order():
    all_three = asyncio.Barrier(3)
    layers = [PromptLayer("a", meets(all_three, "first")), PromptLayer("b", says("second"))]
    layers += [PromptLayer("c", meets(all_three, "")), PromptLayer("d", meets(all_three, "last"))]

    found = await compose(layers, context_of())

    assert join_parts(found) == "first\n\nsecond\n\nlast"


@proves("T-24")
@pytest.mark.parametrize("build", [fails, says("x")])
async def test_t_24_an_optional_layer_that_fails_is_left_out_and_logged(build, caplog):
    async def breaks(context):
        build(context)
        raise RuntimeError("broken")

    layers = [PromptLayer("odd", breaks if build is not fails else fails)]

    assert (
        join_parts(await compose([*layers, PromptLayer("b", says("rest"))], context_of())) == "rest"
    )
    assert "The layer 'odd' of the system prompt failed" in caplog.text


@proves("T-24")
async def test_t_24_without_a_required_layer_no_model_is_asked():
    with pytest.raises(InitializationIssue, match="The layer 'odd' of the system prompt failed"):
        await compose([PromptLayer("odd", fails, is_required=True)], context_of())


async def test_t_24_a_platform_prompt_that_cannot_be_read_is_told():
    context = context_of(broken_prompts={"platform": "the file is empty."})

    with pytest.raises(InitializationIssue, match=r"'platform'.*the file is empty"):
        await compose([PLATFORM], context)


async def test_a_cancelled_run_cancels_its_layers():
    composing = asyncio.create_task(
        compose([PromptLayer("a", meets(asyncio.Barrier(2), "x"))], context_of())
    )
    await asyncio.sleep(0)

    composing.cancel()

    with pytest.raises(asyncio.CancelledError):
        await composing


def test_an_entry_that_is_no_layer_is_named(settings):
    settings.PROMPT_LAYERS = ["apps.runs.prompt.fill_variables"]

    with pytest.raises(
        ImproperlyConfigured, match=r"'apps.runs.prompt.fill_variables'.* but a function"
    ):
        prompt_layers()


def test_a_place_that_there_is_not_is_told():
    application = context_of(predefined=PredefinedContent(places={"orders": ORDERS})).application

    assert (application.place(""), application.place("orders")) == (None, ORDERS)
    with pytest.raises(PlaceNotFound, match="Unknown place: 'order'"):
        application.place("order")
