"""The studio's page, its choices, and the page for new applications."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.catalog.actions import create, save_draft
from apps.catalog.models import Application, ApplicationDraft
from apps.catalog.versions.states import ApplicationState, application_state
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.console.pages import browser_of, staff, staff_account, words
from tests.console.studio.asking import address, page_data, send, written

pytestmark = pytest.mark.django_db

NEW = "/admin/catalog/application/new/"


def made(answer: Any) -> Application:
    assert answer.status_code == 302
    row = Application.objects.latest("pk")
    assert answer["Location"] == address(row)
    return row


def test_the_check_tells_mistakes_and_warnings_with_their_paths(admin_client):
    row = make_application()
    typed = written(page_data(admin_client, row))
    typed["manifest"] = manifest_with(
        orchestrator={"deployment": {"deployment_id": "nowhere"}, "max_iterations": 0}
    )
    found = send(admin_client, row, "check", typed).json()["findings"]
    assert [(one["severity"], one["path"]) for one in found] == [
        ("error", "orchestrator.max_iterations"),
        ("warning", "orchestrator.deployment.deployment_id"),
    ]


def test_the_choices_tell_what_each_model_can_do_and_what_may_be_added(admin_client):
    row = make_application()
    make_deployment("quick", display_name="Quick", fallbacks=["demo-model"])
    make_application("helper")
    found = admin_client.get(address(row, "choices")).json()
    (model,) = found["deployments"]
    assert (model["id"], model["name"], model["can"], model["fallbacks"]) == (
        "quick",
        "Quick",
        "tools, parallel tool calls",
        ["demo-model"],
    )
    assert found["applications"] == [{"id": "helper", "name": "Helper"}]
    assert set(found["add"]) == {"address", "content", "deployment", "file", "secret", "server"}


def test_a_deployment_is_tested_by_its_name(admin_client):
    row = make_application()
    make_deployment()
    told = send(admin_client, row, "test", {"deployment_id": "demo-model"}).json()
    assert told == {"ok": True, "message": "The demo model answers; it is part of this server."}
    missing = send(admin_client, row, "test", {"deployment_id": "none"}).json()
    assert missing == {"ok": False, "message": "Unknown deployment: 'none'."}


def test_an_application_begins_as_a_draft_with_a_name_of_its_title(admin_client):
    make_deployment("gpt", provider="openai")
    make_deployment()
    row = made(admin_client.post(NEW, {"title": "Desk helper", "start": "empty"}))
    assert (row.slug, application_state(row)) == ("desk-helper", ApplicationState.DRAFT)
    draft = ApplicationDraft.objects.get(application=row)
    assert draft.manifest["orchestrator"] == {"deployment": {"deployment_id": "gpt"}}
    again = made(admin_client.post(NEW, {"title": "Desk helper", "start": "empty"}))
    assert again.slug == "desk-helper-2"


@pytest.mark.postgres
def test_a_title_in_another_script_becomes_a_name_in_addresses_that_is_shown_beforehand(
    admin_client,
):
    make_deployment()
    shown = admin_client.get(f"{NEW}slug/", {"title": "Кошка"}).json()
    row = made(admin_client.post(NEW, {"title": "Кошка", "start": "empty"}))
    again = admin_client.get(f"{NEW}slug/", {"title": "Кошка"}).json()
    assert (shown, row.slug, again) == ({"slug": "koshka"}, "koshka", {"slug": "koshka-2"})
    assert admin_client.get(f"{NEW}slug/").json() == {"slug": ""}


def test_an_application_begins_as_a_copy_or_a_file(admin_client):
    original = make_application(
        manifest=manifest_with(contexts=[{"type": "user-defined", "content": "A"}])
    )
    copied = made(admin_client.post(NEW, {"title": "B", "start": "copy", "copy": original.pk}))
    assert copied.draft.manifest == original.manifest
    text = json.dumps({"title": "X", "description": "From a file.", "manifest": manifest_with()})
    file = SimpleUploadedFile("x.json", text.encode())
    read = made(admin_client.post(NEW, {"title": "D", "start": "file", "file": file}))
    assert (read.draft.description, read.draft.manifest) == ("From a file.", manifest_with())


def test_a_copy_has_the_icon_and_is_of_the_draft_if_nothing_is_published(admin_client):
    original = make_application(icon="🧭", description="Live")
    save_draft.execute(original, {"icon": "🚲", "description": "Draft"}, 0, None)
    unpublished = Application(slug="tours", title="Tours", icon="🗺️", manifest=manifest_with(odd=1))
    create.execute(unpublished, None)

    copies = [
        made(admin_client.post(NEW, {"title": f"Copy {row.pk}", "start": "copy", "copy": row.pk}))
        for row in (original, unpublished)
    ]

    drafts = [(one.draft.icon, one.draft.description, one.draft.manifest) for one in copies]
    assert drafts == [("🧭", "Live", manifest_with()), ("🗺️", "", manifest_with(odd=1))]


def test_the_page_tells_about_the_application_and_links_what_can_be_done_with_it(admin_client):
    row = make_application()
    viewer = browser_of(staff_account("vera", "view_application", "see_all_applications"))

    general = page_data(admin_client, row)["general"]

    place = f"/admin/catalog/application/{row.pk}"
    assert general["facts"][0] == ("Revision", "1")
    assert [name for name, _ in general["facts"]] == ["Revision", "Created", "Changed"]
    assert general["links"] == [
        ("Clone", f"{NEW}?copy={row.pk}"),
        ("Export", f"{place}/export/"),
        ("History of changes", f"{place}/history/"),
        ("Attached files", f"{place}/files/"),
    ]
    assert [name for name, _ in page_data(viewer, row)["general"]["links"]] == [
        "Export",
        "History of changes",
        "Attached files",
    ]


def test_a_viewer_reads_the_studio_and_changes_nothing():
    row = make_application()
    client = browser_of(staff_account("vera", "view_application", "see_all_applications"))

    data = page_data(client, row)
    saved = send(client, row, "save", written(data, title="Mine"))

    assert (data["title"], data["may_change"], data["managed"]) == ("Travel", False, "")
    assert saved.status_code == 403


def test_the_studio_of_a_deleted_application_says_so_and_links_its_history(admin_client):
    row = make_application()
    number = row.pk
    row.delete()

    answer = admin_client.get(address(Application(pk=number)))
    never = admin_client.get(address(Application(pk=number + 1)))

    assert answer.status_code == 404
    assert "This application was deleted" in words(answer)
    assert f'href="/admin/catalog/application/{number}/history/"' in answer.text
    assert (never.status_code, "was deleted" in words(never)) == (404, False)


def test_what_cannot_begin_is_told_at_its_place(admin_client):
    make_application("desk")
    taken = admin_client.post(NEW, {"title": "Desk", "slug": "desk", "start": "empty"})
    assert list(taken.context["form"].errors) == ["slug"]
    broken = SimpleUploadedFile("x.json", b"{")
    unread = admin_client.post(NEW, {"title": "Desk", "start": "file", "file": broken})
    assert list(unread.context["form"].errors) == ["file"]
    missing = admin_client.post(NEW, {"title": "Desk", "start": "copy"})
    assert list(missing.context["form"].errors) == ["copy"]
    assert Application.objects.count() == 1


def test_only_those_who_may_add_applications_begin_one():
    client = staff("view_application")
    assert [client.get(url).status_code for url in (NEW, f"{NEW}slug/?title=a")] == [403, 403]


def test_the_home_page_shows_the_first_steps_until_they_are_done_or_skipped(admin_client):
    shown = words(admin_client.get("/admin/"))
    make_deployment("gpt", provider="openai")
    row = make_application()
    steps = admin_client.get("/admin/").context["steps"]
    admin_client.post("/tour/")
    skipped = admin_client.get("/admin/").context["steps"]

    assert "Your first app in three steps" in shown
    assert [(step.name, step.is_done) for step in steps] == [
        ("model", True),
        ("application", True),
        ("conversation", False),
    ]
    assert (steps[2].link, skipped) == (f"/chat/{row.slug}/", [])
