from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from apps.catalog.models import Widget
from apps.chat.widget.tokens import read_token
from apps.chat.widget.visitor_views import MOST_FILES
from apps.conversations.models import Conversation, Message
from apps.feedback.models import Feedback
from apps.workspace.local.models import StoredFile
from tests.chat.scripts import MANIFEST
from tests.chat.widget.widgets import SHOP, add_widget, ask_token, sign
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
TAKES_TEXTS = {**MANIFEST, "features": {"input_attachment_types": ["text/plain"]}}


class Visitor:
    """A visitor of a widget, whose browser sends a token and no cookie."""

    def __init__(self, widget: Widget, **body: Any) -> None:
        self.told = ask_token(widget, **body).json()
        self.bucket = read_token(self.told["token"]).bucket
        self.base = f"/widget/{widget.application.slug}"
        self.widget = widget

    def send(self, method: str, path: str, **given: Any) -> Any:
        headers = {"authorization": f"Bearer {self.told['token']}"}
        return getattr(Client(), method)(f"{self.base}{path}", headers=headers, **given)

    def upload(self, name: str = "a.txt", content: bytes = b"Hi", conversation: str = "") -> Any:
        file = SimpleUploadedFile(name, content)
        form = {"conversation": conversation or str(uuid4()), "file": file}
        return self.send("post", "/files/", data=form)

    def answer(self) -> Message:
        application = self.widget.application
        conversation = Conversation.objects.create(owner=self.bucket, application=application)
        return Message.objects.create(
            conversation=conversation, role=Message.Role.ASSISTANT, text="Hello"
        )


def code_of(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


@async_to_sync
async def content_of(response: Any) -> bytes:
    return b"".join([piece async for piece in response])


def test_a_visitor_uploads_a_file_and_reads_it_with_the_key_of_the_token():
    visitor = Visitor(add_widget(manifest=TAKES_TEXTS))

    stored = visitor.upload()

    assert stored.status_code == 201
    told = stored.json()
    assert (told["name"], told["type"], told["size"]) == ("a.txt", "text/plain", 2)
    assert told["url"].startswith(f"files/{visitor.bucket}/conversations/")
    shown = Client().get(f"{visitor.told['files']}/{told['url']}")
    saved = Client().get(f"{visitor.told['files']}/{told['url']}?download")
    assert (shown.status_code, content_of(shown), dict(shown.cookies)) == (200, b"Hi", {})
    assert saved.headers["Content-Disposition"].startswith("attachment")
    assert visitor.send("delete", f"/{told['url']}").status_code == 204
    assert Client().get(f"{visitor.told['files']}/{told['url']}").status_code == 404


def test_files_of_others_and_forged_keys_do_not_exist():
    widget = add_widget(manifest=TAKES_TEXTS)
    mine, other = Visitor(widget), Visitor(widget)
    url = mine.upload().json()["url"]
    key = mine.told["files"]

    found = {
        "of another": Client().get(f"{other.told['files']}/{url}"),
        "forged": Client().get(f"{key[:-1]}{'A' if key[-1] != 'A' else 'B'}/{url}"),
        "token as key": Client().get(f"{mine.base}/key/{mine.told['token']}/{url}"),
        "deleted by another": other.send("delete", f"/{url}"),
        "no key": Client().get(f"/{url}"),
    }

    statuses = {name: one.status_code for name, one in found.items()}
    assert statuses == dict.fromkeys(found, 404) | {"deleted by another": 404}
    assert StoredFile.objects.count() == 1


def test_a_key_of_files_ends_with_the_widget():
    visitor = Visitor(add_widget(manifest=TAKES_TEXTS))
    url = visitor.upload().json()["url"]
    visitor.widget.is_enabled = False
    visitor.widget.save()

    assert Client().get(f"{visitor.told['files']}/{url}").status_code == 404


def test_an_application_that_names_no_types_of_files_takes_none():
    assert code_of(Visitor(add_widget()).upload()) == (403, "no_uploads")


def test_a_file_of_another_type_is_refused_when_it_is_uploaded():
    visitor = Visitor(add_widget(manifest=TAKES_TEXTS))

    refused = visitor.upload("a.png", b"\x89PNG\r\n\x1a\n")

    assert code_of(refused) == (415, "wrong_type")
    assert refused.json()["error"]["message"] == "Can’t attach .png files. Allowed: text."
    assert not StoredFile.objects.exists()


def test_a_visitor_can_store_a_limited_number_of_files():
    visitor = Visitor(add_widget(manifest=TAKES_TEXTS))
    rows = [
        StoredFile(
            bucket=visitor.bucket, name=f"conversations/{uuid4()}/a", size=1, storage_name=str(n)
        )
        for n in range(MOST_FILES)
    ]
    StoredFile.objects.bulk_create(rows)

    refused = visitor.upload()

    assert code_of(refused) == (409, "too_many_files")
    assert (
        refused.json()["error"]["message"]
        == f"You have {MOST_FILES} files; the limit is {MOST_FILES}."
    )


@override_settings(PERSON_REQUESTS_PER_MINUTE=1)
async def test_uploads_count_as_requests_of_the_visitor_and_of_the_address():
    # In one event loop, because each loop counts separately.
    widget = await sync_to_async(add_widget)(manifest=TAKES_TEXTS)
    visitors = [await sync_to_async(Visitor)(widget) for _ in range(2)]

    first, again = [await sync_to_async(one.upload)() for one in visitors]

    assert first.status_code == 201
    assert code_of(again) == (429, "rate_limit_exceeded")
    assert 0 < int(again.headers["Retry-After"]) <= 60


@each_row("token", ["", "Bearer ", "Bearer x", "Basic x"])
def test_a_request_without_a_valid_token_is_refused(token: str):
    widget = add_widget(manifest=TAKES_TEXTS)
    headers = {"authorization": token} if token else {}
    base = f"/widget/{widget.application.slug}"

    answers = [
        Client().post(f"{base}/files/", {}, headers=headers),
        Client().get(f"{base}/feedback/", headers=headers),
        Client().post(f"{base}/messages/{uuid4()}/feedback/", {}, headers=headers),
        Client().get(f"{base}/{uuid4()}/turns/?run={uuid4()}", headers=headers),
        Client().delete(f"{base}/files/widget-1/a.txt", headers=headers),
    ]

    assert [code_of(one) for one in answers] == [(401, "token_invalid")] * len(answers)


def test_a_visitor_rates_an_answer_and_finds_the_rating_again():
    visitor = Visitor(add_widget())
    message = visitor.answer().uuid

    rated = visitor.send("post", f"/messages/{message}/feedback/", data={"rating": "up"})

    assert rated.status_code == 200
    assert Feedback.objects.get().bucket == visitor.bucket
    found = visitor.send("get", f"/feedback/?message={message}").json()["feedback"]
    assert found[str(message)]["rating"] == "up"
    assert visitor.send("delete", f"/messages/{message}/feedback/").status_code == 204
    assert not Feedback.objects.exists()


def test_answers_of_others_can_neither_be_rated_nor_read():
    widget = add_widget()
    mine, other = Visitor(widget), Visitor(widget, identity=sign(widget))
    message = mine.answer()
    conversation: UUID = message.conversation_id

    rated = other.send("post", f"/messages/{message.uuid}/feedback/", data={"rating": "up"})
    read = other.send("get", f"/{conversation}/turns/?message={message.uuid}")

    assert (rated.status_code, read.status_code) == (404, 404)
    assert other.send("get", f"/feedback/?message={message.uuid}").json() == {"feedback": {}}
    assert SHOP in widget.origins


def test_a_visitor_has_the_limit_of_other_files_and_not_that_of_the_page(settings):
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 10
    visitor = Visitor(add_widget(manifest=TAKES_TEXTS))

    answers = [visitor.upload(content=b"x" * size) for size in (10, 11, 30_000)]

    assert [answer.status_code for answer in answers] == [201, 413, 413]
