"""Users choose another offered model, for a conversation or for one more answer."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from apps.conversations.answering.continuation import sweeper
from apps.conversations.models import Conversation, Message
from apps.errors import DeploymentNotFound
from apps.live.models import Run
from apps.workspace.local.models import Deployment
from apps.workspace.port import DeploymentInfo
from tests.catalog.rows import store_application
from tests.chat.scripts import MANIFEST, ScriptedWorkspace, Tab, open_tab, says, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_predefined")]

OFFERING: dict[str, Any] = {
    **MANIFEST,
    "orchestrator": {**MANIFEST["orchestrator"], "choices": ["other", "third", "paced"]},
}


async def answered(tab: Tab, text: str, **more: Any) -> str:
    """Ask and wait for the answer. Return the deployment that was called."""
    await tab.exchange(text, says("Yes."), **more)
    return tab.model.deployments[-1]


async def test_a_new_conversation_is_answered_by_the_model_that_was_chosen_for_it():
    async with open_tab(manifest=OFFERING) as (_, tab):
        first = await answered(tab, "Now?", deployment="other")
        second = await answered(tab, "And now?")
        row = await Conversation.objects.aget(pk=UUID(tab.conversation))

    assert (first, second, row.deployment) == ("other", "other", "other")


async def test_one_more_answer_is_given_by_another_model_and_the_next_by_the_chosen_one():
    async with open_tab(manifest=OFFERING) as (_, tab):
        own = await answered(tab, "Now?")
        question = str((await Message.objects.aget(role="user")).uuid)
        again = await answered(tab, "", again=question, deployment="third")
        after = await answered(tab, "Next")

    assert (own, again, after) == ("paced", "third", "paced")


async def row_of(conversation: str) -> Conversation:
    return await Conversation.objects.aget(pk=UUID(conversation))


async def test_a_model_that_is_not_offered_is_refused_by_its_field():
    async with open_tab(manifest=OFFERING) as (on, tab):
        unknown = await tab.refusal(deployment="secret")
        await answered(tab, "Now?")
        queued = {"conversation": tab.conversation, "while_running": "queue"}
        misplaced = await tab.refusal(deployment="other", **queued)

    assert unknown["code"] == misplaced["code"] == "bad_frame"
    assert unknown["text"] == "deployment: use one of paced, other, third."
    assert misplaced["text"] == (
        "deployment: send it only with a new conversation or with `again`; otherwise, set the deployment of the "
        "conversation."
    )
    assert "secret" not in on.model.deployments


async def test_an_application_with_one_model_offers_none():
    async with open_tab() as (_, tab):
        frame = await tab.refusal(deployment="other")

    assert frame["text"] == "deployment: omit it; the application's model is fixed."


async def test_a_model_that_is_offered_no_more_gives_way_with_words():
    async with open_tab(manifest=OFFERING) as (on, tab):
        await answered(tab, "Now?")
        conversation = await row_of(tab.conversation)
        conversation.deployment = "former"
        await conversation.asave()
        frames = await tab.exchange("And now?", says("Still."))

    assert text_of(frames) == "Still."
    assert on.model.deployments[-1] == "paced"
    assert [frame["text"] for frame in frames if frame["type"] == "notice.added"] == [
        "You chose former, but it is no longer available. paced is used instead."
    ]


async def test_a_deployment_that_is_gone_gives_way_with_words(monkeypatch):
    async def facts(self: ScriptedWorkspace, deployment_id: str) -> DeploymentInfo:
        if deployment_id == "other":
            raise DeploymentNotFound(deployment_id)
        return DeploymentInfo(deployment_id, deployment_id)

    monkeypatch.setattr(ScriptedWorkspace, "facts", facts)
    async with open_tab(manifest=OFFERING) as (on, tab):
        frames = await tab.exchange("Now?", says("Still."), deployment="other")

    assert text_of(frames) == "Still."
    assert on.model.deployments == ["paced"]
    assert any("You chose other," in frame.get("text", "") for frame in frames)


async def test_a_run_that_is_taken_up_goes_on_with_the_chosen_model():
    async with open_tab(manifest=OFFERING) as (on, tab):
        await tab.ask("Now?", deployment="other")
        await on.model.was_asked.wait()
        [supervisor] = on.hub.supervisors.values()
        supervisor.hand_over(1.0)
        await tab.until("run.status", status="queued")
        on.model.put(says("Here."), None)
        on.hub.is_closing = False
        await sweeper(on.hub, on.visitor.open_workspace).sweep(UUID(tab.conversation))
        await tab.until("run.status", status="done")
        run = await Run.objects.aget(stream=UUID(tab.conversation))

    assert on.model.deployments == ["other", "other"]
    assert run.status == Run.Status.DONE


def test_the_composer_offers_the_models_that_there_are(browser, grace):
    words = "Best for hard questions."
    for name, efforts, detail in (("paced", [], ""), ("other", ["low", "high"], words)):
        Deployment.objects.create(
            deployment_id=name,
            display_name=name.title(),
            description=detail,
            provider="demo",
            features={"reasoning_efforts": efforts},
        )
    slug = f"models-{uuid4().hex[:8]}"
    application = store_application(slug=slug, title="Models", is_public=True, manifest=OFFERING)
    row = Conversation.objects.create(application=application, owner=f"user-{grace.pk}")
    address = f"/chat/{slug}/{row.pk}/deployment/"

    refused = browser.post(address, {"deployment": "secret"})
    taken = browser.post(address, {"deployment": "other"})
    offered = browser.get(f"/chat/{slug}/composer/?conversation={row.pk}").json()
    new = browser.get(f"/chat/{slug}/composer/").json()
    stranger = Client().post(address, {"deployment": "third"})

    assert (refused.status_code, refused.text) == (
        400,
        "deployment: use one of paced, other, third.",
    )
    assert (taken.status_code, stranger.status_code) == (302, 404)
    assert offered["models"] == [
        {"id": "paced", "title": "Paced", "detail": ""},
        {"id": "other", "title": "Other", "detail": words},
    ]
    assert (offered["model"], offered["efforts"]) == ("other", ["low", "high"])
    assert (new["model"], new["efforts"]) == ("", [])
    row.refresh_from_db()
    assert row.deployment == "other"
