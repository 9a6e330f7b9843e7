from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry

from apps.catalog.actions import save_draft
from apps.catalog.extraction import FORBIDDEN
from apps.catalog.models import Application, Change, empty_manifest
from apps.catalog.versions.definitions import definition_of
from apps.catalog.versions.publishing_requests import AT_ONCE
from apps.console.dial_editor.local_applications import MAY_NOT_PUBLISH
from apps.workspace.local.models import Secret
from tests.catalog.credentials.documents import MARK, PATH, tracking
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.console.pages import browser_of, staff, staff_account

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

EDITOR = "/dial/editor/?id=travel&theme=dark&authProvider=keycloak"
BRIEF = manifest_with(
    orchestrator={
        "deployment": {"deployment_id": "demo-model"},
        "system_prompt": {"type": "custom", "variables": {}, "content": "Be brief."},
    }
)


@pytest.fixture
def application() -> Application:
    make_deployment("demo-model")
    return make_application("travel")


def edit(manifest: Any = BRIEF, version: int = 1, **fields: Any) -> dict[str, Any]:
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    return {"manifest": text, "seen_version": str(version), **fields}


def test_the_form_of_the_admin_is_shown_without_its_surroundings(admin_client, application):
    answer = admin_client.get(EDITOR)

    page = answer.text
    assert answer.status_code == 200
    assert json.loads(answer.context["form"]["manifest"].value()) == empty_manifest()
    assert 'data-state="open"' in page
    assert 'data-theme="dark" class="dark"' in page
    assert 'data-name="Quick App 2.0"' in page
    assert "nav-sidebar" not in page


def test_an_edit_is_saved_and_stands_in_the_history(admin_client, application):
    answer = admin_client.post(EDITOR, edit())

    application.refresh_from_db()
    assert (answer.status_code, answer.json()) == (200, {"version": "2", "has_changes": True})
    assert application.manifest == BRIEF
    assert LogEntry.objects.get().get_change_message() == "Changed manifest."


def test_what_the_chat_edits_is_saved_with_it(admin_client, application):
    general = {"name": "Journeys", "description": "By train.", "topics": ["travel"]}

    answer = admin_client.post(EDITOR, edit(general=json.dumps(general)))

    application.refresh_from_db()
    assert answer.json() == {"version": "2", "has_changes": True}
    assert (application.title, application.description) == ("Journeys", "By train.")


def test_saving_what_is_saved_changes_no_version(admin_client, application):
    answer = admin_client.post(EDITOR, edit(json.dumps(empty_manifest(), indent=7)))

    application.refresh_from_db()
    assert answer.json() == {"version": "1", "has_changes": False}
    assert (application.version, LogEntry.objects.count()) == (1, 0)


def test_a_manifest_with_mistakes_is_not_saved(admin_client, application):
    answer = admin_client.post(EDITOR, edit({**BRIEF, "contexts": 3}))

    application.refresh_from_db()
    assert (answer.status_code, answer.json()) == (
        422,
        {
            "error": "The manifest has 1 error, listed next to it. Nothing was saved.",
            "version": "",
        },
    )
    assert application.manifest == empty_manifest()


def test_a_title_that_does_not_fit_is_told_by_its_name(admin_client, application):
    answer = admin_client.post(EDITOR, edit(general=json.dumps({"name": "x" * 201})))

    assert answer.status_code == 422
    assert answer.json()["error"].startswith("Title: Ensure this value has at most 200 characters")


def test_the_second_of_two_operators_is_told_and_may_overwrite(admin_client, application):
    admin_client.post(EDITOR, edit())
    late = edit(empty_manifest(), general=json.dumps({"name": "Late"}))

    told = admin_client.post(EDITOR, late)
    again = admin_client.post(EDITOR, {**late, "seen_version": told.json()["version"]})

    assert (told.status_code, told.json()["version"]) == (409, "2")
    error = told.json()["error"]
    assert error.startswith("Another user saved this application while you were editing it.")
    assert error.endswith(": changed manifest.orchestrator.system_prompt.")
    assert again.json() == {"version": "3", "has_changes": True}


@pytest.mark.parametrize("general", ["{", "[]", '"name"'])
def test_what_cannot_be_read_is_refused(admin_client, application, general):
    answer = admin_client.post(EDITOR, edit(general=general))

    application.refresh_from_db()
    assert (answer.status_code, application.version) == (422, 1)


def test_who_may_not_change_applications_is_told_so(application):
    client = browser_of(staff_account("viewer", "view_application", "see_all_applications"))

    shown, saved = client.get(EDITOR), client.post(EDITOR, edit())

    application.refresh_from_db()
    assert "Your account can’t change applications." in shown.text
    assert (saved.status_code, application.version) == (422, 1)
    assert client.post("/dial/editor/check/", {"manifest": "{}"}).status_code == 403


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("/dial/editor/", "The URL contains no application"),
        ("/dial/editor/?id=nowhere", "Unknown application: &#x27;nowhere&#x27;"),
        ("/dial/editor/?id=%00", "Unknown application: &#x27;\\x00&#x27;"),
        ("/dial/editor/?id=%3Cb%3E", "&lt;b&gt;"),
        (
            "/dial/editor/?id=applications/b/a",
            "This installation is not connected to DIAL Core. Ask an administrator to set DIAL_URL.",
        ),
    ],
)
def test_what_cannot_be_edited_is_told(admin_client, address, why):
    answer = admin_client.get(address)

    assert (answer.status_code, why in answer.text) == (200, True)


def test_saving_takes_the_right_to_publish_and_one_person(application):
    editor, publisher = (
        browser_of(staff_account(name, "access_all_applications", "change_application", *more))
        for name, more in (("anna", ()), ("ben", ("publish_application",)))
    )
    refused = editor.post(EDITOR, edit())
    unchanged = editor.post(EDITOR, edit(empty_manifest()))
    Application.objects.update(needs_second_publisher=True)
    both = publisher.post(EDITOR, edit())

    assert (refused.status_code, refused.json()["error"]) == (422, MAY_NOT_PUBLISH)
    assert unchanged.json() == {"version": "1", "has_changes": False}
    assert (both.status_code, both.json()["error"]) == (422, AT_ONCE)
    application.refresh_from_db()
    assert (application.manifest, application.live_number) == (empty_manifest(), 1)


def test_a_draft_stays_as_it_is(admin_client, application):
    draft = save_draft.execute(application, {"title": "Tours"}, 0, None)

    shown = admin_client.get(EDITOR).context["form"]
    admin_client.post(EDITOR, edit())

    application.refresh_from_db()
    assert json.loads(shown["manifest"].value()) == empty_manifest()
    assert (application.manifest, application.live_number) == (BRIEF, 2)
    assert definition_of(application.draft).digest == definition_of(draft).digest


# --- Credentials --------------------------------------------------------------------------------


NAMED = manifest_with(tool_sets=[tracking({"$secret": "tracking-key"})])


def test_saving_makes_a_secret_and_saving_again_makes_no_second_one(admin_client, application):
    typed = manifest_with(tool_sets=[tracking()])

    answers = [admin_client.post(EDITOR, edit(typed, version)) for version in (1, 2)]

    application.refresh_from_db()
    assert [answer.status_code for answer in answers] == [200, 200]
    assert application.manifest == NAMED
    rows = Secret.objects.values_list("name", "value", "servers")
    assert list(rows) == [("tracking-key", MARK, ["https://track.example.org"])]
    assert MARK not in answers[0].text + str(list(Change.objects.values()))


def test_who_may_not_add_secrets_is_told_where_a_credential_is(application):
    client = staff("change_application", "publish_application")

    answer = client.post(EDITOR, edit(manifest_with(tool_sets=[tracking()])))

    application.refresh_from_db()
    assert answer.status_code == 422
    assert answer.json()["error"] == f"{PATH}: {FORBIDDEN}"
    assert (application.manifest, Secret.objects.count()) == (empty_manifest(), 0)
