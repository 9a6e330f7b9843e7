"""Another model of those that the operator offers: for a conversation, or for one more answer."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.catalog.models import Application
from apps.chat.continuation import sweeper
from apps.chat.models import Conversation
from apps.errors import DeploymentNotFound
from apps.live.models import Run
from apps.workspace.local.models import Deployment
from apps.workspace.port import DeploymentInfo
from tests.chat.scripts import MANIFEST, Scene, ScriptedWorkspace, Tab, says, scene, text_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("nothing_predefined"),
]

OFFERING: dict[str, Any] = {
    **MANIFEST,
    "orchestrator": {**MANIFEST["orchestrator"], "choices": ["other", "third", "paced"]},
}


async def answered(on: Scene, tab: Tab, text: str, conversation: str | None, **more: Any) -> str:
    """Ask, and have it answered; the deployment that was asked."""
    on.model.put(says("Yes."), None)
    await tab.ask(text, conversation, **more)
    await tab.until_over()
    return on.model.deployments[-1]


async def refusal(tab: Tab) -> dict[str, Any]:
    [*_, frame] = await tab.until("error")
    return frame


async def test_a_new_conversation_is_answered_by_the_model_that_was_chosen_for_it():
    async with scene(manifest=OFFERING) as on:
        tab = await on.visitor.tab(on.hub)
        first = await answered(on, tab, "Now?", None, deployment="other")
        second = await answered(on, tab, "And now?", tab.conversation)
        row = await Conversation.objects.aget(pk=UUID(tab.conversation))

    assert (first, second, row.deployment) == ("other", "other", "other")


async def test_one_more_answer_is_given_by_another_model_and_the_next_by_the_chosen_one():
    async with scene(manifest=OFFERING) as on:
        tab = await on.visitor.tab(on.hub)
        own = await answered(on, tab, "Now?", None)
        conversation = tab.conversation
        [question] = [
            str(one.uuid) async for one in (await row_of(conversation)).messages.filter(role="user")
        ]
        again = await answered(on, tab, "", conversation, again=question, deployment="third")
        after = await answered(on, tab, "Next", conversation)

    assert (own, again, after) == ("paced", "third", "paced")


async def row_of(conversation: str) -> Conversation:
    return await Conversation.objects.aget(pk=UUID(conversation))


async def test_a_model_that_is_not_offered_is_refused_by_its_field():
    async with scene(manifest=OFFERING) as on:
        tab = await on.visitor.tab(on.hub)
        frame = {"type": "ask", "id": str(uuid4()), "text": "Now?", "deployment": "secret"}
        await tab.send_json_to(frame)
        unknown = await refusal(tab)
        await answered(on, tab, "Now?", None)
        await tab.send_json_to(
            {
                **frame,
                "id": str(uuid4()),
                "deployment": "other",
                "conversation": tab.conversation,
                "while_running": "queue",
            }
        )
        misplaced = await refusal(tab)

    assert unknown["code"] == misplaced["code"] == "bad_frame"
    assert unknown["text"] == "deployment: this application offers one of paced, other, third."
    assert misplaced["text"].startswith("deployment: name it with a new conversation")
    assert "secret" not in on.model.deployments


async def test_an_application_with_one_model_offers_none():
    async with scene() as on:
        tab = await on.visitor.tab(on.hub)
        await tab.send_json_to(
            {"type": "ask", "id": str(uuid4()), "text": "Now?", "deployment": "other"}
        )
        frame = await refusal(tab)

    assert frame["text"] == "deployment: this application offers nothing: its model is fixed."


async def test_a_model_that_is_offered_no_more_gives_way_with_words():
    async with scene(manifest=OFFERING) as on:
        tab = await on.visitor.tab(on.hub)
        await answered(on, tab, "Now?", None)
        conversation = await row_of(tab.conversation)
        conversation.deployment = "former"
        await conversation.asave()
        on.model.put(says("Still."), None)
        await tab.ask("And now?", tab.conversation)
        frames = await tab.until_over()

    assert text_of(frames) == "Still."
    assert on.model.deployments[-1] == "paced"
    assert [frame["text"] for frame in frames if frame["type"] == "notice.added"] == [
        "former, which you chose, is not offered here any more. paced answers instead."
    ]


async def test_a_deployment_that_is_gone_gives_way_with_words(monkeypatch):
    async def facts(self: ScriptedWorkspace, deployment_id: str) -> DeploymentInfo:
        if deployment_id == "other":
            raise DeploymentNotFound(deployment_id)
        return DeploymentInfo(deployment_id, deployment_id)

    monkeypatch.setattr(ScriptedWorkspace, "facts", facts)
    async with scene(manifest=OFFERING) as on:
        tab = await on.visitor.tab(on.hub)
        on.model.put(says("Still."), None)
        await tab.ask("Now?", deployment="other")
        frames = await tab.until_over()

    assert text_of(frames) == "Still."
    assert on.model.deployments == ["paced"]
    assert any("other, which you chose" in frame.get("text", "") for frame in frames)


async def test_a_run_that_is_taken_up_goes_on_with_the_chosen_model():
    async with scene(manifest=OFFERING) as on:
        tab = await on.visitor.tab(on.hub)
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


@pytest.fixture
def grace() -> User:
    return User.objects.create_user("grace")


@pytest.fixture
def client(grace: User) -> Client:
    signed_in = Client()
    signed_in.force_login(grace)
    return signed_in


def test_the_composer_offers_the_models_that_there_are(client, grace):
    for name, efforts in (("paced", []), ("other", ["low", "high"])):
        Deployment.objects.create(
            deployment_id=name,
            display_name=name.title(),
            provider="demo",
            features={"reasoning_efforts": efforts},
        )
    slug = f"models-{uuid4().hex[:8]}"
    application = Application.objects.create(
        slug=slug, title="Models", is_public=True, manifest=OFFERING
    )
    row = Conversation.objects.create(application=application, owner=f"user-{grace.pk}")
    address = f"/chat/{slug}/{row.pk}/deployment/"

    refused = client.post(address, {"deployment": "secret"})
    taken = client.post(address, {"deployment": "other"})
    offered = client.get(f"/chat/{slug}/composer/?conversation={row.pk}").json()
    new = client.get(f"/chat/{slug}/composer/").json()
    stranger = Client().post(address, {"deployment": "third"})

    assert (refused.status_code, refused.content.decode()) == (
        400,
        "deployment: this application offers one of paced, other, third.",
    )
    assert (taken.status_code, stranger.status_code) == (302, 404)
    assert offered["models"] == [
        {"id": "paced", "title": "Paced"},
        {"id": "other", "title": "Other"},
    ]
    assert (offered["model"], offered["efforts"]) == ("other", ["low", "high"])
    assert (new["model"], new["efforts"]) == ("", [])
    row.refresh_from_db()
    assert row.deployment == "other"
