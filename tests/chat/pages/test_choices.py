"""Options of the message box, results of the command palette, and questions in addresses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.capabilities.registry import PredefinedContent
from apps.catalog.models import Application, SavedPrompt
from apps.chat.pages.choices import skills_of
from apps.conversations.keeping.tags import add_known_tags
from apps.conversations.models import Conversation
from apps.manifest.markdown.skill_document import InstalledSkill, SkillDocument
from apps.workspace.local.models import Deployment, StoredFile
from tests.catalog.rows import store_application
from tests.chat.scripts import MANIFEST

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture(autouse=True)
def applications() -> None:
    Deployment.objects.create(
        deployment_id="paced", provider="demo", features={"reasoning_efforts": ["low", "high"]}
    )
    for slug, title in (("travel", "Travel desk"), ("food", "Food")):
        store_application(is_public=True, slug=slug, title=title, manifest=MANIFEST)


def own_conversation(grace: User, **fields: Any) -> Conversation:
    application = Application.objects.get(slug="travel")
    owner = f"user-{grace.pk}"
    return Conversation.objects.create(application=application, owner=owner, **fields)


def test_prompts_applications_files_and_efforts_are_offered(browser, grace):
    SavedPrompt.objects.create(user=grace, name="mine", title="Mine", text="Said.")
    SavedPrompt.objects.create(
        user=User.objects.create_user("mallory"), name="theirs", title="Theirs", text="Hidden."
    )
    bucket = f"user-{grace.pk}"
    known: dict[str, Any] = {"content_type": "text/plain", "size": 5, "etag": "1"}
    StoredFile.objects.create(
        bucket=bucket, name="conversations/1/plan.txt", storage_name="a", **known
    )
    StoredFile.objects.create(
        bucket="user-0", name="conversations/1/secret.txt", storage_name="b", **known
    )

    offered = browser.get("/chat/travel/composer/").json()

    assert offered.pop("skills") == []  # the built-in ones are meant for models
    assert offered == {
        "prompts": [{"name": "mine", "title": "Mine", "text": "Said.", "own": True}],
        "applications": [{"slug": "food", "title": "Food", "detail": ""}],
        "files": [
            {
                "name": "plan.txt",
                "url": f"files/{bucket}/conversations/1/plan.txt",
                "type": "text/plain",
                "size": 5,
            }
        ],
        "efforts": ["low", "high"],
        "effort": "",
        "models": [],
        "model": "",
        "tools": [],
    }


def test_skills_that_are_meant_for_models_are_not_offered():
    metadata: tuple[dict[str, str], ...] = (
        {},
        {"user-invocable": "true"},
        {"user-invocable": "false"},
        {"owner": "sales"},
    )
    documents = [
        SkillDocument(f"skill-{place}", f"About {place}", metadata=one)
        for place, one in enumerate(metadata)
    ]
    skills = tuple(InstalledSkill(document, "", {}) for document in documents)
    application: Any = SimpleNamespace(predefined=PredefinedContent(skills))

    assert skills_of(application) == [
        {"name": f"skill-{place}", "detail": f"About {place}"} for place in (0, 1, 3)
    ]


def test_an_effort_is_kept_with_its_conversation(browser, grace):
    mine = own_conversation(grace, title="Mine")
    others = own_conversation(User.objects.create_user("mallory"))
    address = f"/chat/travel/{mine.pk}/effort/"

    kept = browser.post(address, {"effort": "high"})
    chosen = browser.get(f"/chat/travel/composer/?conversation={mine.pk}").json()["effort"]
    refused = browser.post(address, {"effort": "endless"})

    assert (kept.status_code, refused.status_code) == (302, 400)
    assert refused.text == "effort: the model supports low, high."
    assert chosen == "high"
    assert browser.post(f"/chat/travel/{others.pk}/effort/", {"effort": "low"}).status_code == 404
    assert browser.get(f"/chat/travel/composer/?conversation={others.pk}").status_code == 404


def test_an_application_that_sets_the_effort_offers_none(browser):
    deployment = {"deployment_id": "paced", "parameters": {"reasoning_effort": "low"}}
    manifest = {**MANIFEST, "orchestrator": {"deployment": deployment}}
    store_application(is_public=True, slug="set", title="Set", manifest=manifest)

    assert browser.get("/chat/set/composer/").json()["efforts"] == []


def test_the_palette_finds_own_conversations_applications_and_pages(browser, grace):
    mine = own_conversation(grace, title="A travel to Riga")
    own_conversation(User.objects.create_user("mallory"), title="A secret travel")

    groups = browser.get("/find/?q=travel").json()["groups"]
    pages = browser.get("/find/?q=prompts").json()["groups"]
    lists = browser.get("/find/?q=all apps").json()["groups"]

    conversation = f"/chat/travel/{mine.pk}/"
    assert groups == [
        {
            "title": "Conversations",
            "found": [{"title": "A travel to Riga", "detail": "Travel desk", "url": conversation}],
        },
        {
            "title": "Apps",
            "found": [{"title": "Travel desk", "detail": "", "url": "/chat/travel/"}],
        },
    ]
    assert [found["url"] for found in pages[-1]["found"]] == ["/prompts/"]
    assert [found["url"] for found in lists[-1]["found"]] == ["/#apps"]
    assert Client().get("/find/?q=prompts").json() == {"groups": []}


def test_the_filters_of_the_palette_find_only_conversations(browser, grace):
    mine = own_conversation(grace, title="A travel to Riga")
    own_conversation(grace, title="A travel to Oslo")
    add_known_tags(mine, ["work"])

    def found(query: str) -> list[tuple[str, list[str]]]:
        groups = browser.get(f"/find/?{query}").json()["groups"]
        return [(group["title"], [one["title"] for one in group["found"]]) for group in groups]

    assert found("q=&tag=work") == [("Conversations", ["A travel to Riga"])]
    assert found("q=travel&tag=work&days=7") == [("Conversations", ["A travel to Riga"])]
    assert found("q=travel&has=code") == []
    refused = browser.get("/find/?q=&days=8")
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        400,
        "days: use 7, 30 or 365.",
    )


def test_a_question_in_the_address_goes_to_the_application_that_it_names(browser):
    to_travel = browser.get("/", {"q": "Where & when?", "app": "travel"})
    unknown = browser.get("/", {"q": "Where & when?", "app": "odd"})

    assert to_travel.headers["Location"] == "/chat/travel/?q=Where+%26+when%3F"
    assert 'href="/chat/food/?q=Where%20%26%20when%3F"' in unknown.text
