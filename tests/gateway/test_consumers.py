from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import ApiKey
from apps.catalog.models import Application, empty_manifest
from apps.live.process import health
from apps.workspace.local import installation
from tests.gateway.scripts import MANIFEST, add_application, get

pytestmark = pytest.mark.django_db


async def key_for(*applications):
    row, key = await sync_to_async(ApiKey.objects.create_key)(name="test")
    assert isinstance(row, ApiKey)
    await row.applications.aset(applications)
    return {"Api-Key": key}


# --- What there is -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["/openai/models", "/openai/deployments", "/openai/v1/models", "/openai/v1/deployments/"],
)
async def test_the_list_has_what_the_key_may_use(path):
    await Application.objects.all().adelete()
    one, two = await add_application(title="B", is_public=False), await add_application(title="A")
    await add_application(title="C")

    answer = await get(path, headers=await key_for(one, two))

    assert answer.status == 200
    assert answer.json()["object"] == "list"
    assert [entry["id"] for entry in answer.json()["data"]] == [two.slug, one.slug]


@pytest.mark.postgres
def test_the_list_loads_no_manifests_but_names_the_types_of_attachments():
    Application.objects.all().delete()
    features = {"features": {"input_attachment_types": ["image/png"]}}
    for title, manifest in (("A", {**empty_manifest(), **features}), ("B", {})):
        async_to_sync(add_application)(title=title, manifest=manifest)

    with CaptureQueriesContext(connection) as captured:
        listed = async_to_sync(get)("/openai/models").json()["data"]

    assert [entry.get("input_attachment_types") for entry in listed] == [["image/png"], None]
    lists = [query["sql"] for query in captured if '"catalog_application"."slug"' in query["sql"]]
    assert len(lists) == 1
    assert ', "catalog_application"."manifest"' not in lists[0]


async def test_visitors_see_what_is_public():
    await Application.objects.all().adelete()
    public = await add_application()
    await add_application(is_public=False)

    answer = await get("/openai/models")

    assert [entry["id"] for entry in answer.json()["data"]] == [public.slug]


async def test_nobody_else_sees_anything():
    answer = await get("/openai/models", client=("10.0.0.1", 1))

    assert answer.status == 401
    assert answer.json()["error"]["code"] == "unauthorized"


async def test_an_entry_can_be_read_by_clients_of_either_kind():
    application = await add_application(title="Weather", description="Tells it")

    for name in (
        f"models/{application.slug}",
        f"deployments/{application.slug}",
        f"v1/models/{application.slug}@1",
    ):
        answer = await get(f"/openai/{name}")
        slug = name.rpartition("/")[2]
        assert answer.json() == {
            "id": slug,
            "object": "model",
            "model": slug,
            "owned_by": "quickapps",
            "owner": "quickapps",
            "display_name": "Weather",
            "description": "Tells it",
            "status": "succeeded",
            "created": int(application.created_at.timestamp()),
            "created_at": int(application.created_at.timestamp()),
            "updated_at": int(application.updated_at.timestamp()),
            "features": {"configuration": True, "tools": True},
        }


async def test_an_entry_tells_the_types_that_may_be_attached():
    features = {"input_attachment_types": ["image/*"]}
    application = await add_application(manifest={**MANIFEST, "features": features})

    entry = (await get(f"/openai/deployments/{application.slug}")).json()

    assert entry["input_attachment_types"] == ["image/*"]


async def test_an_entry_that_may_not_be_used_looks_like_one_that_does_not_exist():
    private, mine = await add_application(is_public=False), await add_application()
    headers = await key_for(mine)

    answers = [
        await get(f"/openai/models/{slug}", headers=headers)
        for slug in (private.slug, "x" * len(private.slug))
    ]

    assert [answer.status for answer in answers] == [404, 404]


# --- What it starts with -----------------------------------------------------------------------


async def test_the_starters_are_buttons_of_a_form():
    starters = {
        "intro_text": "What next?",
        "auto_submit": False,
        "chat_message_input_disabled": True,
        "starters": [
            {"title": "Plan a trip", "text": "Plan a trip to Oslo"},
            {"title": "Weather", "text": "How is the weather?"},
        ],
    }
    application = await add_application(manifest={**MANIFEST, "conversation_starters": starters})

    answer = await get(f"/openai/deployments/{application.slug}/configuration")

    def button(number, title, text):
        options = {"populateText": text, "submit": False, "confirmationMessage": None}
        return {"const": number, "title": title, "dial:widgetOptions": options}

    assert answer.json() == {
        "type": "object",
        "dial:chatMessageInputDisabled": True,
        "properties": {
            "starter": {
                "type": "integer",
                "description": "What next?",
                "dial:widget": "buttons",
                "oneOf": [
                    button(1, "Plan a trip", "Plan a trip to Oslo"),
                    button(2, "Weather", "How is the weather?"),
                ],
            }
        },
    }


async def test_starters_of_earlier_manifests_are_buttons_as_well():
    application = await add_application(manifest={**MANIFEST, "starters": ["Hello"]})

    answer = await get(f"/openai/deployments/{application.slug}/configuration")

    (button,) = answer.json()["properties"]["starter"]["oneOf"]
    assert (button["title"], button["dial:widgetOptions"]["populateText"]) == ("Hello", "Hello")


async def test_without_starters_the_form_is_empty():
    application = await add_application()

    answer = await get(f"/openai/deployments/{application.slug}/configuration")

    assert answer.json() == {"type": "object", "properties": {}}


# --- Is it well --------------------------------------------------------------------------------


async def test_a_process_that_answers_is_healthy():
    answer = await get("/healthz", client=("10.0.0.1", 1), headers={"Host": "10.0.0.2"})

    assert (answer.status, answer.json()) == (200, {"status": "ok"})


async def test_a_process_that_has_what_it_needs_is_ready(storage):
    answer = await get("/readyz")

    assert (answer.status, answer.json()) == (200, {"status": "ok"})


async def test_what_fails_is_named_without_its_secrets(monkeypatch, caplog):
    def broken():
        raise DatabaseError("password=secret")

    class Deaf:
        async def new_channel(self):
            return "c"

        async def send(self, channel, message):
            pass

        async def receive(self, channel):
            raise TimeoutError

    monkeypatch.setattr(health, "database_answers", broken)
    monkeypatch.setattr(health, "get_channel_layer", Deaf)

    answer = await get("/readyz")

    assert answer.status == 503
    assert answer.json() == {
        "status": "unavailable",
        "failing": {
            "database": "Failed with DatabaseError; see the server's log.",
            "channel_layer": "No response within 3 seconds.",
        },
    }
    assert "password=secret" in caplog.text


async def test_a_process_without_the_channel_layer_is_ready_and_degraded(storage, monkeypatch):
    class Away:
        async def new_channel(self):
            raise ConnectionError("redis://:secret@cache")

    monkeypatch.setattr(health, "get_channel_layer", Away)

    answer = await get("/readyz")

    text = "Failed with ConnectionError; see the server's log."
    assert (answer.status, answer.json()) == (
        200,
        {"status": "ok", "degraded": {"channel_layer": text}},
    )


async def test_what_processes_do_not_share_is_named(monkeypatch):
    monkeypatch.setattr(installation, "register_process", lambda: ["Set DATA_DIR."])

    answer = await get("/readyz")

    assert (answer.status, answer.json()["failing"]) == (503, {"installation": "Set DATA_DIR."})


async def test_migrations_that_wait_are_named(monkeypatch):
    class Executor(MigrationExecutor):
        def migration_plan(self, targets: Any, clean_start: bool = False) -> Any:
            return [("accounts", "0002")]

    monkeypatch.setattr(health, "MigrationExecutor", Executor)
    monkeypatch.setattr(health, "_applied", False)

    answer = await get("/readyz")

    assert answer.json()["failing"] == {
        "migrations": "1 migrations are not applied; run manage.py migrate."
    }
