"""Drafts in the studio are saved, merged, discarded and published."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.catalog.actions import archive
from apps.catalog.models import Application, ApplicationDraft
from apps.catalog.own_skills import skills_of
from apps.catalog.resolved_application import prepare_version
from apps.catalog.versions.content_changes import content_changes, live_content
from apps.workspace.local.models import Secret
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.console.pages import signed_in, staff
from tests.console.studio.asking import page_data, send, written
from tests.contract import proves

pytestmark = pytest.mark.django_db

NEXT = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "


@pytest.fixture
def row() -> Application:
    make_deployment()
    return make_application(manifest=prompted("You help.", max_iterations=3))


def prompted(content: str, **rest: Any) -> dict[str, Any]:
    prompt = {"type": "custom", "content": content, "variables": {}}
    deployment = {"deployment_id": "demo-model"}
    return manifest_with(orchestrator={"deployment": deployment, "system_prompt": prompt, **rest})


def save(client: Client, row: Application, data: Any, document: Any, **more: Any) -> Any:
    body = written(data, manifest=document, version=data["version"], base=written(data), **more)
    return send(client, row, "save", body)


def test_a_draft_is_saved_shown_again_and_answers_nobody(admin_client, row):
    data = page_data(admin_client, row)
    assert data["state"] | {"number": 0} == {
        "name": "live",
        "title": "Live",
        "number": 0,
        "has_draft": False,
        "can_discard": False,
        "can_publish": False,
        "takes_two": False,
        "notice": "",
        "take_over": "",
    }
    answer = save(admin_client, row, data, prompted("You sell."))
    assert (answer.status_code, answer.json()["message"]) == (200, "Saved.")
    assert answer.json()["state"]["name"] == "changed"
    assert page_data(admin_client, row)["manifest"] == prompted("You sell.")
    row.refresh_from_db()
    assert row.manifest == prompted("You help.", max_iterations=3)


def test_edits_of_two_at_different_places_are_both_kept(row):
    anna, ben = signed_in("anna"), signed_in("ben")
    seen = page_data(anna, row)
    assert save(ben, row, seen, prompted("You help.", max_iterations=9)).status_code == 200
    answer = save(anna, row, seen, prompted("You sell.", max_iterations=3))
    assert (
        answer.json()["message"] == "Saved. ben saved this draft just now. Both edits were merged."
    )
    assert answer.json()["manifest"] == prompted("You sell.", max_iterations=9)


def test_for_places_that_two_changed_the_second_chooses(row):
    anna, ben = signed_in("anna"), signed_in("ben")
    seen = page_data(anna, row)
    save(ben, row, seen, prompted("You trade."))
    User.objects.filter(username="ben").update(first_name="Ben", last_name="Berg")
    ApplicationDraft.objects.update(updated_at=timezone.now() - timedelta(minutes=2))
    mine = prompted("You sell.", max_iterations=3)
    refused = save(anna, row, seen, mine)
    path = "manifest.orchestrator.system_prompt.content"
    assert refused.status_code == 409
    assert refused.json() == {
        "message": "Ben Berg saved this draft 2 minutes ago. You changed the same fields. Choose "
        "one value for each.",
        "clashes": [
            {
                "path": path,
                "label": NEXT.join(("Instructions", "Prompt")),
                "mine": '"You sell."',
                "theirs": '"You trade."',
            }
        ],
    }
    assert save(anna, row, seen, mine, choices={path: "theirs"}).status_code == 200
    assert page_data(ben, row)["manifest"] == prompted("You trade.")


def test_a_field_that_no_draft_can_have_keeps_its_value_and_all_others_are_saved(admin_client, row):
    data = page_data(admin_client, row)
    changed = {"title": " ", "description": "New", "icon": "no icon", "manifest": prompted("A")}
    body = written(data, **changed) | {"version": 0, "base": written(data)}
    answer = send(admin_client, row, "save", body)
    found = answer.json()
    assert (answer.status_code, sorted(found["refused"])) == (200, ["icon", "title"])
    labels = {one["path"]: one["label"] for one in found["findings"]}
    assert labels == {
        "(title)": NEXT.join(("Instructions", "Title")),
        "(icon)": NEXT.join(("Instructions", "Icon")),
    }
    assert found["message"].startswith(f"Not saved: {labels[found['findings'][0]['path']]}: ")
    assert (found["title"], found["icon"]) == (data["title"], data["icon"])
    assert (found["description"], found["manifest"]) == ("New", prompted("A"))


def test_a_bad_value_in_the_manifest_is_saved_as_it_was_typed(admin_client, row):
    document = prompted("You help.", max_iterations="many")
    answer = save(admin_client, row, page_data(admin_client, row), document)
    found = send(admin_client, row, "check", written(page_data(admin_client, row))).json()
    assert (answer.json()["message"], answer.json()["manifest"]) == ("Saved.", document)
    assert [one["path"] for one in found["findings"]] == ["orchestrator.max_iterations"]


@proves("R-01")
@pytest.mark.parametrize(("limit", "published"), [(7, 7), (0, 3)])
def test_r_01_the_limit_of_other_systems_is_stored_as_ours_and_is_not_zero(
    admin_client, row, limit, published
):
    document = prompted("You help.", maxIterations=limit)

    saved = save(admin_client, row, page_data(admin_client, row), document)
    answer = send(admin_client, row, "publish", {"note": "The limit"}).json()

    row.refresh_from_db()
    assert saved.json()["manifest"] == prompted("You help.", max_iterations=limit)
    assert row.manifest["orchestrator"]["max_iterations"] == published
    found = [one["path"] for one in answer.get("findings", ())]
    assert found == ([] if limit else ["orchestrator.max_iterations"])


def test_a_credential_that_is_being_typed_does_not_become_a_secret(admin_client, row):
    authorization = {"type": "bearer", "token": "sk-ha"}
    server = {"protocol": "streamable_http", "url": "https://desk.example.com/mcp"}
    info = {**server, "authorization": authorization}
    toolset = {"type": "mcp", "name": "desk", "mcp_server_info": info}
    document = prompted("You help.") | {"tool_sets": [toolset]}
    data = page_data(admin_client, row)
    held = save(admin_client, row, data, document, is_automatic=True)
    without = save(admin_client, row, data, prompted("You sell."), is_automatic=True)
    assert (held.status_code, held.json()["message"][:14]) == (202, "Not saved yet.")
    assert (without.status_code, Secret.objects.count()) == (200, 0)


def test_credentials_are_masked_kept_and_become_secrets(admin_client, row):
    data = page_data(admin_client, row)
    document = prompted("You help.") | {
        "tool_sets": [
            {
                "type": "mcp",
                "name": "desk",
                "mcp_server_info": {
                    "protocol": "streamable_http",
                    "url": "https://desk.example.com/mcp",
                    "authorization": {"type": "bearer", "token": "sk-very-secret"},
                },
            }
        ]
    }
    saved = save(admin_client, row, data, document)
    assert saved.status_code == 200
    (secret,) = Secret.objects.all()
    shown = saved.json()["manifest"]["tool_sets"][0]["mcp_server_info"]["authorization"]
    assert (secret.value, shown["token"]) == ("sk-very-secret", {"$secret": secret.name})
    assert saved.json()["message"] == (
        f"Saved. A credential is stored as the secret {secret.name!r}, for https://desk.example.com."
    )
    for again in (saved.json()["manifest"], document):
        said = save(admin_client, row, page_data(admin_client, row), again).json()["message"]
        assert (said, Secret.objects.count()) == ("Saved.", 1)


def test_publishing_shows_what_changes_asks_for_a_note_and_makes_a_version(admin_client, row):
    number = row.live_number
    save(admin_client, row, page_data(admin_client, row), prompted("You sell.", max_iterations=3))
    shown = send(admin_client, row, "difference", {}).json()
    (change,) = shown["differences"]
    assert (change["path"], change["before"], change["after"]) == (
        "orchestrator.system_prompt.content",
        '"You help."',
        '"You sell."',
    )
    assert change["label"] == NEXT.join(("Instructions", "Prompt"))
    refused = send(admin_client, row, "publish", {"note": " "})
    assert (refused.status_code, refused.json()["message"]) == (
        422,
        "Enter a note that describes the changes.",
    )
    unseen = send(admin_client, row, "publish", {"note": "It sells.", "version": 0})
    assert (unseen.status_code, unseen.json()["message"][-16:]) == (409, "Reload the page.")
    body = {"note": "It sells.", "version": shown["version"]}
    answer = send(admin_client, row, "publish", body)
    assert answer.json()["message"] == f"Published as version {number + 1}."
    assert answer.json()["state"]["name"] == "live"
    assert not ApplicationDraft.objects.exists()
    version = row.versions.first()
    assert (version.number, version.note) == (number + 1, "It sells.")


def test_a_draft_with_mistakes_is_saved_and_not_published(admin_client, row):
    save(admin_client, row, page_data(admin_client, row), manifest_with(orchestrator={"depl": 1}))
    answer = send(admin_client, row, "publish", {"note": "Broken"})
    assert answer.status_code == 422
    assert [one["path"] for one in answer.json()["findings"]] != []
    assert row.versions.first().note != "Broken"


def test_what_is_discarded_is_gone_and_the_live_version_stays(admin_client, row):
    save(admin_client, row, page_data(admin_client, row), prompted("You sell."))
    answer = send(admin_client, row, "discard", {})
    assert answer.json()["manifest"] == prompted("You help.", max_iterations=3)
    assert answer.json()["state"]["name"] == "live"


def test_an_archived_application_is_restored_by_its_owner_alone(admin_client, row):
    archive.execute(row)
    editor = staff("view_application", "change_application")
    seen = {
        name: page_data(one, row) for name, one in (("owner", admin_client), ("editor", editor))
    }

    refused = send(editor, row, "unarchive", {})
    answer = send(admin_client, row, "unarchive", {})

    assert {name: data["may_archive"] for name, data in seen.items()} == {
        "owner": True,
        "editor": False,
    }
    assert seen["owner"]["state"]["name"] == "archived"
    assert refused.status_code == 403
    assert answer.json()["message"] == f"{row.title} is no longer archived."
    assert answer.json()["state"]["name"] == "live"
    row.refresh_from_db()
    assert (row.archived_at, row.is_enabled) == (None, True)


def test_who_may_only_look_changes_nothing_and_who_may_change_does_not_publish(row):
    client = staff("view_application")
    data = page_data(client, row)
    assert (data["may_change"], data["may_publish"]) == (False, False)
    for name in ("save", "check", "discard", "publish", "difference", "answer", "test"):
        assert send(client, row, name, {}).status_code == 403
    assert client.get(f"/admin/catalog/application/{row.pk + 1}/studio/").status_code == 404


def test_publishing_has_a_permission_of_its_own(row):
    client = staff("view_application", "change_application")
    assert save(client, row, page_data(client, row), prompted("You sell.")).status_code == 200
    assert send(client, row, "publish", {"note": "Mine"}).status_code == 403


def test_what_is_no_request_of_the_studio_is_told_so(admin_client, row):
    bodies: tuple[Any, ...] = ([], {"manifest": []}, {"manifest": {}, "base": 3})
    for body in bodies:
        assert send(admin_client, row, "save", body).status_code == 400


def test_two_people_publish_in_the_studio(row):
    Application.objects.update(needs_second_publisher=True)
    anna, ben = signed_in("anna"), signed_in("ben")
    save(anna, row, page_data(anna, row), prompted("You sell."))
    data = page_data(anna, row)

    early = send(ben, row, "publish", {"note": "Selling"})
    late = send(anna, row, "request", {"note": "Selling", "version": 7})
    silent = send(anna, row, "request", {"note": " ", "version": data["version"]})
    asked = send(anna, row, "request", {"note": "Selling", "version": data["version"]})
    seen = page_data(ben, row)["state"]
    own = send(anna, row, "publish", {"note": "Selling"})
    returned = send(ben, row, "return", {"words": "Sell what?"})
    told = page_data(anna, row)["state"]
    send(anna, row, "request", {"note": "Selling", "version": data["version"]})
    published = send(ben, row, "publish", {"note": "Selling"})

    assert [one.status_code for one in (early, late, silent, own)] == [403, 409, 422, 403]
    assert (data["state"]["takes_two"], data["state"]["can_publish"]) == (True, False)
    assert asked.json()["state"]["is_requested"]
    assert (seen["can_publish"], seen["notice"]) == (True, "anna requests publishing: Selling")
    assert returned.status_code == 200
    assert told["notice"] == "ben sent the draft back: Sell what?"
    assert published.json()["message"] == "Published as version 2."


def test_a_skill_and_an_icon_are_part_of_the_draft_and_of_what_is_published(admin_client, row):
    text = "---\nname: tone\ndescription: How we write.\n---\n\nBe kind.\n"
    skills = {"tone": {"SKILL.md": text, "words.md": "please"}}
    data = page_data(admin_client, row)
    body = written(data, icon="🦊", skills=skills) | {"version": 0, "base": written(data)}
    assert send(admin_client, row, "save", body).status_code == 200

    row.refresh_from_db()
    assert (row.icon, skills_of(row.pk)) == ("", {})
    changes = send(admin_client, row, "difference", {}).json()["differences"]
    assert [(one["path"], one["kind"]) for one in changes] == [
        ("icon", "changed"),
        ("skill tone", "added"),
        ('skill tone["words.md"]', "added"),
    ]
    assert (
        "Be kind."
        in send(admin_client, row, "publish", {"note": "Tone"}).json()["skills"]["tone"]["SKILL.md"]
    )

    row = Application.objects.get()
    assert (row.icon, skills_of(row.pk)) == ("🦊", skills)
    assert [
        skill.document.name
        for skill in prepare_version(row, 2).predefined.skills
        if skill.text == text
    ]
    assert content_changes(row.manifest, *live_content(row)) == []


def test_a_broken_skill_is_saved_and_not_published(admin_client, row):
    data = page_data(admin_client, row)
    skills = {"tone": {"SKILL.md": "Be kind."}}
    body = written(data, skills=skills) | {"version": 0, "base": written(data)}
    assert send(admin_client, row, "save", body).status_code == 200

    refused = send(admin_client, row, "publish", {"note": "Tone"})

    assert refused.status_code == 422
    assert [one["path"] for one in refused.json()["findings"]] == ["skills/tone/SKILL.md"]
    assert skills_of(row.pk) == {}
