"""Users' own prompts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.accounts.caller import Caller
from apps.accounts.models import Team
from apps.catalog.models import SavedPrompt
from apps.catalog.saved_prompts import offered_prompts

pytestmark = pytest.mark.django_db

REPORT = {"name": "weekly-report", "title": "Weekly report", "text": "Report on {{topic}}."}


def kept(user: User) -> list[Any]:
    return list(SavedPrompt.objects.filter(user=user).values("name", "title", "text"))


def test_a_prompt_is_made_changed_and_deleted(browser, grace):
    made = browser.post("/prompts/new/", REPORT)
    row = SavedPrompt.objects.get(user=grace)
    changed = browser.post(f"/prompts/{row.pk}/", {**REPORT, "text": "Another."})
    after = kept(grace)
    listed = browser.get("/prompts/").text
    gone = browser.post(f"/prompts/{row.pk}/delete/")

    assert [answer.headers["Location"] for answer in (made, changed, gone)] == ["/prompts/"] * 3
    assert after == [{**REPORT, "text": "Another."}]
    assert "/weekly-report" in listed
    assert kept(grace) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "Weekly Report"}, "Use lowercase letters, digits, and single hyphens between"),
        ({"name": "taken"}, "You already have a prompt with this name. Choose another"),
        ({"text": ""}, "This field is required."),
        ({"text": "x" * 20_001}, "at most 20000 characters"),
    ],
)
def test_a_wrong_prompt_is_refused_at_its_field(browser, grace, changes, words):
    SavedPrompt.objects.create(user=grace, name="taken", title="Taken", text="Said.")

    refused = browser.post("/prompts/new/", {**REPORT, **changes})

    assert refused.status_code == 400
    assert words in refused.text
    assert SavedPrompt.objects.count() == 1


def test_nobody_reads_or_changes_the_prompts_of_others(browser):
    others = SavedPrompt.objects.create(user=User.objects.create_user("mallory"), **REPORT)

    answers = [
        browser.get(f"/prompts/{others.pk}/"),
        browser.post(f"/prompts/{others.pk}/", REPORT),
        browser.post(f"/prompts/{others.pk}/delete/"),
    ]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert "weekly-report" not in browser.get("/prompts/").text
    assert "weekly-report" not in browser.get("/prompts/export/").text


def test_prompts_are_offered_to_their_person_their_team_and_everybody(grace):
    group = Group.objects.create(name="Desk")
    team = Team.objects.create(group=group)
    SavedPrompt.objects.create(user=grace, name="mine", title="Mine", text="1")
    SavedPrompt.objects.create(team=team, name="ours", title="Ours", text="2")
    SavedPrompt.objects.create(name="of-all", title="Of all", text="3")

    def names(caller: Caller) -> list[str]:
        return [row.name for row in offered_prompts(caller)]

    assert names(Caller("user-x", user_id=grace.pk)) == ["mine", "of-all"]
    assert names(Caller("user-y", user_id=grace.pk + 1, team=team.pk)) == ["of-all", "ours"]
    assert names(Caller("session-z")) == ["of-all"]


def test_prompts_are_taken_along_and_brought_in(browser, grace):
    SavedPrompt.objects.create(user=grace, **REPORT)
    exported = browser.get("/prompts/export/")
    SavedPrompt.objects.filter(user=grace).update(text="Changed.")
    document = {"prompts": [*exported.json()["prompts"], {"name": "second", "text": "Two."}]}

    browser.post("/prompts/import/", {"file": as_file(json.dumps(document))})

    assert exported.json() == {"prompts": [REPORT]}
    assert kept(grace) == [{"name": "second", "title": "second", "text": "Two."}, REPORT]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Nothing was imported."),
        ('{"prompts": [{"name": "a"}]}', "prompts.0.text: Field required."),
        ('{"prompts": [{"name": "A b", "text": "x"}]}', "prompts.0.name: Use lowercase letters"),
    ],
)
def test_a_file_with_a_mistake_changes_nothing_and_names_the_field(browser, grace, text, words):
    refused = browser.post("/prompts/import/", {"file": as_file(text)})

    assert refused.status_code == 400
    assert words in refused.text
    assert kept(grace) == []


def as_file(text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("prompts.json", text.encode(), "application/json")
