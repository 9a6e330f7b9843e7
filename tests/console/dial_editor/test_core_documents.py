from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.test import Client

from apps.accounts.caller import Caller, Credentials
from apps.console.dial_editor.edits import CONFLICT
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import configured_core
from apps.workspace.dial.kept_applications import find_caller, find_own_application
from tests.console.pages import signed_in
from tests.dial_core import Core, serve_core
from tests.dial_core.core import KEY

pytestmark = pytest.mark.django_db

MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "model-of-core"}},
    "contexts": [],
    "tool_sets": [],
}
BRIEF = {
    **MANIFEST,
    "orchestrator": {
        "deployment": {"deployment_id": "model-of-core"},
        "system_prompt": {"type": "custom", "variables": {}, "content": "Be brief."},
    },
}


@pytest.fixture
def core() -> Iterator[Core]:
    with serve_core() as served:
        yield served


@pytest.fixture
def name(core: Core) -> str:
    """Return the name of an application of the project whose key the editor has."""
    caller = core.keys.holder(KEY)
    assert caller is not None
    found = f"applications/{caller.identity.bucket}/My%20App__1.0"
    core.add_application(
        found,
        "http://127.0.0.1:9/",
        MANIFEST,
        schema_id=settings.APP_SCHEMA_ID,
        description="Kept.",
        unknownToUs=7,
    )
    return found


@pytest.fixture
def operator(core: Core, settings: Any) -> Client:
    settings.DIAL_URL = core.url
    settings.DIAL_EDITOR_API_KEY = KEY
    return signed_in()


def address(name: str) -> str:
    return f"/dial/editor/?id={name.replace('%', '%25')}"


def stored(core: Core, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(core.storage.items[name].content)
    return found


def edit(core: Core, name: str, manifest: Any = BRIEF, **fields: Any) -> dict[str, Any]:
    version = core.storage.items[name].etag
    return {"manifest": json.dumps(manifest), "seen_version": version, **fields}


def test_the_document_of_core_is_shown(operator, core, name):
    answer = operator.get(address(name))

    form = answer.context["form"]
    assert json.loads(form["manifest"].value()) == MANIFEST
    assert form["seen_version"].value() == core.storage.items[name].etag
    assert form.fields["manifest"].widget.findings == []
    assert 'data-check-url="/dial/editor/check/"' in answer.text


def test_the_whole_document_goes_back_with_the_edit(operator, core, name):
    before = stored(core, name)

    answer = operator.post(address(name), edit(core, name))

    after, put = stored(core, name), core.requests[-1]
    assert answer.json() == {"version": core.storage.items[name].etag, "has_changes": True}
    assert after["applicationProperties"] == BRIEF
    assert {key: after[key] for key in before.keys() - {"applicationProperties"}} == {
        key: value for key, value in before.items() if key != "applicationProperties"
    }
    assert (put.method, put.headers["api-key"]) == ("PUT", KEY)


def test_what_is_kept_of_the_application_is_dropped_when_it_is_saved(operator, core, name):
    caller = core.keys.holder(KEY)
    assert caller is not None

    async def kept() -> Any:
        place = configured_core()
        assert place is not None
        with core.keys.minted(name, caller, "trace") as key:
            asking = Caller("", "dial", credentials=Credentials(api_key=key.value))
            told = await find_caller(Calls(place, asking))
            found = await find_own_application(Calls(place, told))
        return found and found["application_properties"]

    before = async_to_sync(kept)()

    assert operator.post(address(name), edit(core, name)).status_code == 200
    assert (before, async_to_sync(kept)()) == (MANIFEST, BRIEF)


def test_what_the_chat_edits_goes_along(operator, core, name):
    general = {
        "name": "Renamed",
        "description": "New.",
        "iconUrl": "files/b/icon.svg",
        "topics": ["travel"],
        "display_version": "2.0",
    }

    operator.post(address(name), edit(core, name, general=json.dumps(general)))

    after = stored(core, name)
    names = ("displayName", "description", "iconUrl", "descriptionKeywords", "displayVersion")
    assert [after[key] for key in names] == list(general.values())


def test_a_name_in_several_languages_is_changed_in_one(operator, core, name):
    document = {**stored(core, name), "displayName": {"en": "Travel", "de": "Reisen"}}
    core.put(name, json.dumps(document).encode(), "application/json")
    general = {"name": "Fahrten", "primaryLocale": "de"}

    operator.post(address(name), edit(core, name, general=json.dumps(general)))

    assert stored(core, name)["displayName"] == {"en": "Travel", "de": "Fahrten"}


def test_saving_what_is_saved_asks_core_for_nothing(operator, core, name):
    answer = operator.post(address(name), edit(core, name, MANIFEST))

    assert answer.json() == {"version": core.storage.items[name].etag, "has_changes": False}
    assert {hop.method for hop in core.requests} == {"GET"}


def test_the_second_of_two_operators_is_told_and_may_overwrite(operator, core, name):
    late = edit(core, name)
    core.put(name, json.dumps({**stored(core, name), "maxInputAttachments": 3}).encode())

    told = operator.post(address(name), late)
    again = operator.post(address(name), {**late, "seen_version": told.json()["version"]})

    after = stored(core, name)
    assert (told.status_code, told.json()["error"]) == (409, CONFLICT)
    assert again.json()["has_changes"] is True
    assert (after["applicationProperties"], after["maxInputAttachments"]) == (BRIEF, 3)


def test_a_manifest_with_mistakes_is_not_sent(operator, core, name):
    answer = operator.post(address(name), edit(core, name, {"contexts": 3}))

    assert answer.status_code == 422
    assert answer.json()["error"].endswith("listed next to it. Nothing was saved.")
    assert core.requests == []


def test_deployments_of_core_are_not_looked_for_here(operator):
    found = operator.post("/dial/editor/check/", {"manifest": json.dumps(MANIFEST)})

    assert found.json() == {"findings": []}


def test_an_application_without_a_manifest_begins_with_the_smallest(operator, core, name):
    document = {k: v for k, v in stored(core, name).items() if k != "applicationProperties"}
    core.put(name, json.dumps(document).encode(), "application/json")

    answer = operator.get(address(name))

    shown = json.loads(answer.context["form"]["manifest"].value())
    assert shown == {**MANIFEST, "orchestrator": {"deployment": {"deployment_id": ""}}}


def test_an_application_of_another_type_is_left_alone(operator, core, name):
    core.add_application(name, "http://127.0.0.1:9/", MANIFEST, schema_id="https://other.example/")

    answer = operator.get(address(name))

    assert "This application is of a different type, which has its own editor." in answer.text


@pytest.mark.parametrize(
    ("id", "why"),
    [
        (
            "applications/nobody/none",
            "The application does not exist in DIAL Core, or the editor&#x27;s key cannot read it.",
        ),
        ("applications/../secrets", "The URL contains no application."),
        ("applications/", "The URL contains no application."),
    ],
)
def test_an_application_that_cannot_be_read_is_told(operator, id, why):
    answer = operator.get(address(id))

    assert why in answer.text


def test_without_a_key_the_page_says_what_to_set(operator, name, settings):
    settings.DIAL_EDITOR_API_KEY = ""

    answer = operator.get(address(name))

    assert "Ask an administrator to set DIAL_EDITOR_API_KEY." in answer.text


def test_a_wrong_key_is_told_and_not_shown(operator, name, settings):
    settings.DIAL_EDITOR_API_KEY = "wrong-key-0123456789"

    page = operator.get(address(name)).text

    assert "DIAL Core rejected the key in DIAL_EDITOR_API_KEY." in page
    assert "wrong-key" not in page


def test_a_core_that_is_gone_loses_nothing_typed(operator, name, settings, core):
    settings.DIAL_URL = "http://127.0.0.1:9"

    answer = operator.post(address(name), edit(core, name))

    assert (answer.status_code, answer.json()) == (
        422,
        {"error": "The application cannot be loaded. DIAL Core cannot be reached.", "version": ""},
    )
