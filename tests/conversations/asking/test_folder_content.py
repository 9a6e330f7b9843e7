"""Instructions and files of a folder affect the answers in its conversations."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from channels.db import database_sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.conversations.models import Conversation, Folder
from apps.runs.prompt import FOLDER_INTRODUCTION
from apps.workspace.local.models import StoredFile
from tests.chat.pages.test_views import add_application, add_conversation, visiting
from tests.chat.scripts import MANIFEST, Scene, open_tab, says

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("nothing_predefined"),
    pytest.mark.postgres,
]


@pytest.fixture
def client() -> Client:
    return visiting()


@pytest.fixture
def folder(client: Client) -> Folder:
    owner = add_conversation(add_application(), client).owner
    return Folder.objects.create(owner=owner, name="Riga", position=1)


def address(folder: Folder, what: str) -> str:
    return f"/conversations/folders/{folder.pk}/{what}/"


def upload(client: Client, folder: Folder, name: str = "plan.txt", text: bytes = b"Go.") -> Any:
    return client.post(address(folder, "files"), {"file": SimpleUploadedFile(name, text)})


def test_its_owner_writes_instructions_and_adds_files(client, folder):
    said = client.post(address(folder, "content"), {"instructions": " Answer in Latvian.\r\n"})
    first, second = upload(client, folder), upload(client, folder)
    told = client.get(address(folder, "content")).json()

    assert (said.status_code, first.status_code, second.status_code) == (200, 201, 201)
    assert told["instructions"] == "Answer in Latvian."
    assert [(one["name"], one["size"]) for one in told["files"]] == [
        ("plan (2).txt", 3),
        ("plan.txt", 3),
    ]
    path = f"files/{folder.owner}/folders/{folder.pk}/plan.txt"
    assert told["files"][1]["url"] == path
    assert (client.get(f"/{path}").status_code, visiting().get(f"/{path}").status_code) == (
        200,
        404,
    )


def test_it_is_nobody_elses(client, folder):
    upload(client, folder)
    stranger = visiting()

    refused = [
        stranger.get(address(folder, "content")),
        stranger.post(address(folder, "content"), {"instructions": "Obey."}),
        upload(stranger, folder),
    ]

    assert [(one.status_code, one.json()["error"]["code"]) for one in refused] == [
        (400, "folder_not_found")
    ] * 3
    folder.refresh_from_db()
    assert folder.instructions is None
    assert StoredFile.objects.count() == 1


def test_what_cannot_be_taken_is_refused_by_its_field(client, folder):
    long = client.post(address(folder, "content"), {"instructions": "x" * 4001})
    empty = upload(client, folder, "none.png", b"")
    without = client.post(address(folder, "files"))

    assert [one.json()["error"]["code"] for one in (long, empty, without)] == [
        "too_long",
        "empty_file",
        "bad_request",
    ]
    assert long.json()["error"]["message"].startswith("The instructions have 4,001 characters")
    assert StoredFile.objects.count() == 0


def test_its_files_go_with_it(client, folder):
    upload(client, folder)
    client.post(f"/conversations/folders/{folder.pk}/delete/")

    assert not Folder.objects.exists()
    assert not StoredFile.objects.exists()


def fill(on: Scene, conversation: str, owner: str | None = None) -> Folder:
    """Create a folder with a text and a picture, and move the conversation into it."""
    folder = Folder.objects.create(
        owner=owner or on.visitor.bucket, name="Riga", position=1, instructions="Say less."
    )
    for name, kind in (("plan.txt", "text/plain"), ("map.png", "image/png")):
        StoredFile.objects.create(
            bucket=folder.owner,
            name=f"folders/{folder.pk}/{name}",
            storage_name=name,
            content_type=kind,
            size=3,
            etag="1",
        )
    Conversation.objects.filter(pk=UUID(conversation)).update(folder=folder)
    return folder


def read(on: Scene) -> list[tuple[str, list[str]]]:
    """Return the texts of the model's last request, each with the names of files."""
    return [
        (one.text, [attachment.title for attachment in one.attachments])
        for one in on.model.asked[-1].messages
    ]


async def test_each_question_in_it_brings_them_along():
    async with open_tab() as (on, tab):
        await tab.exchange("Now?", says("Yes."))
        before = read(on)
        await database_sync_to_async(fill)(on, tab.conversation)
        await tab.exchange("Now?", says("Yes."))

    assert before == [("Now?", [])]
    [(prompt, _), first, _, (question, files)] = read(on)
    assert prompt == f"{FOLDER_INTRODUCTION}\n\nSay less."
    assert first == ("Now?", [])
    assert [f"<title>{name}</title>" in question for name in ("map.png", "plan.txt")] == [True] * 2
    assert files == ["map.png"]
    stored = [one.attachments async for one in (await row_of(tab.conversation)).messages.all()]
    assert stored == [[], [], [], []]


async def row_of(conversation: str) -> Conversation:
    return await Conversation.objects.aget(pk=UUID(conversation))


async def test_the_folder_of_another_brings_nothing():
    async with open_tab() as (on, tab):
        await tab.exchange("Now?", says("Yes."))
        await database_sync_to_async(fill)(on, tab.conversation, "user-0")
        await tab.exchange("Now?", says("Yes."))

    assert [files for _, files in read(on)] == [[], [], []]


async def test_an_application_gets_the_types_that_it_takes():
    features = {"input_attachment_types": ["image/*"]}
    async with open_tab(manifest={**MANIFEST, "features": features}) as (on, tab):
        await tab.exchange("Now?", says("Yes."))
        await database_sync_to_async(fill)(on, tab.conversation)
        await tab.exchange("Now?", says("Yes."))

    sent = str(read(on))
    assert ("map.png" in sent, "plan.txt" in sent) == (True, False)
