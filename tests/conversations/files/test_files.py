from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from apps.conversations.keeping.arrangement import UNDO, erase_deleted
from apps.conversations.models import Conversation, Message
from apps.doors.sessions import session_bucket
from apps.live.models import JournalEntry
from apps.workspace.local.files import files
from apps.workspace.local.files.storage import storage
from apps.workspace.local.models import StoredFile
from tests.chat.pages.test_views import add_application, add_conversation, run_in, visiting

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage"), pytest.mark.postgres]

PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n\x00\x01trailer<</Root 1 0 R>>\n%%EOF"
PNG = bytes.fromhex("89504e470d0a1a0a0000000d494844520000000100000001080600000037")


def send(
    client: Client,
    slug: str,
    content: bytes = b"Oslo,7",
    name: str = "weather.csv",
    conversation: UUID | str | None = None,
) -> tuple[int, dict[str, Any]]:
    response = client.post(
        f"/chat/{slug}/files/",
        {"file": SimpleUploadedFile(name, content), "conversation": str(conversation or uuid4())},
    )
    return response.status_code, response.json()


def read(client: Client, path: str, **headers: str) -> tuple[int, bytes, Any]:
    response = client.get(path, headers=headers)
    if not response.streaming:
        return response.status_code, response.content, response
    return response.status_code, async_to_sync(joined)(response), response


async def joined(response: Any) -> bytes:
    return b"".join([piece async for piece in response])


def owner_of(client: Client) -> str:
    return session_bucket(client.session.session_key or "")


def stored_bytes(root: Any) -> int:
    return sum(path.is_file() for path in root.rglob("*"))


def test_a_visitor_uploads_a_file_for_a_conversation_that_has_yet_to_begin(tmp_path):
    application, client = add_application(), visiting()
    begin = uuid4()

    status, told = send(client, application.slug, conversation=begin)

    path = f"files/{owner_of(client)}/conversations/{begin}/weather.csv"
    assert (status, told) == (
        201,
        {
            "name": "weather.csv",
            "url": path,
            "type": "text/csv",
            "size": 6,
            "updated_at": StoredFile.objects.get().updated_at.isoformat(),
        },
    )
    assert read(client, f"/{path}")[:2] == (200, b"Oslo,7")


def test_a_large_file_is_stored_from_the_disk(settings):
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 1000
    application, client = add_application(), visiting()
    content = b"0123456789" * 100_000

    status, told = send(client, application.slug, content, "digits.txt")

    assert (status, told["size"]) == (201, 1_000_000)
    assert read(client, f"/{told['url']}")[1] == content


def test_files_of_the_same_name_are_told_apart():
    application, client = add_application(), visiting()
    begin = uuid4()

    names = [
        send(client, application.slug, b"x", name, begin)[1]["name"]
        for name in ("a.txt", "A.txt", "a.txt", ".env", ".env", "b")
    ]

    assert names == ["a.txt", "A (2).txt", "a (3).txt", "env", "env (2)", "b"]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\Plan: A?.txt", "Plan_ A_.txt"),
        ("a\u202egpj.exe", "agpj.exe"),
        ("  100%  #1 .txt", "100_ _1.txt"),
        ("Éte\u0301.txt", "Été.txt"),
        ("🙂" * 200 + ".pdf", "🙂" * 59 + ".pdf"),
        ("...", "file"),
    ],
)
def test_names_are_made_safe(written, kept):
    application, client = add_application(), visiting()

    from apps.conversations.files.folder import safe_name

    assert safe_name(written) == kept
    assert send(client, application.slug, PDF, kept)[0] == 201


TYPES = [
    ("report.pdf", PDF, "application/pdf"),
    ("report.txt", PDF, "application/pdf"),
    ("photo.pdf", PNG, "image/png"),
    ("notes.png", b"BMW and GIFs", "text/plain"),
    ("notes.md", "# Grüße".encode(), "text/markdown"),
    ("notes.csv", "a;Grüße".encode("cp1252"), "text/csv"),
    ("notes.txt", "Grüße".encode("utf-16"), "text/plain"),
    ("page.html", b"<script>", "text/html"),
    ("drawing.svg", b'<?xml version="1.0"?>\n<svg xmlns="x"/>', "image/svg+xml"),
    ("drawing.svg", b"<html>", "text/plain"),
    ("data.bin", b"\x00\x01\x02", "application/octet-stream"),
    ("code.py", b"print(1)\n", "text/x-python"),
    (
        "table.xlsx",
        b"PK\x03\x04" + bytes(40),
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
]
"""Name, content and type of files."""


def test_a_file_has_the_type_that_its_bytes_say():
    application, client = add_application(), visiting()

    told = [send(client, application.slug, content, name)[1]["type"] for name, content, _ in TYPES]

    assert told == [content_type for *_, content_type in TYPES]


@pytest.mark.parametrize(
    ("name", "content", "status", "code"),
    [
        ("photo.png", b"\x00\x01\x02", 400, "wrong_content"),
        ("notes.txt", b"\x00\x01\x02", 400, "wrong_content"),
        ("empty.txt", b"", 400, "empty_file"),
    ],
)
def test_a_file_that_cannot_be_what_it_says_is_refused(name, content, status, code):
    application, client = add_application(), visiting()

    found, told = send(client, application.slug, content, name)

    assert (found, told["error"]["code"]) == (status, code)
    assert StoredFile.objects.count() == 0


def test_limits_hold_before_and_after_the_form_is_read(settings, tmp_path):
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 10
    settings.CHAT_UPLOAD_MAX_BYTES = 1000
    application, client = add_application(), visiting()

    answers = [
        send(client, application.slug, b"x" * size, name)
        for size, name in ((1000, "a.txt"), (1001, "b.txt"), (20_000, "c.txt"))
    ]

    assert [status for status, _ in answers] == [201, 413, 413]
    refusals = [told["error"] for _, told in answers[1:]]
    assert refusals == [{"message": "Too large. The limit is 1 KB.", "code": "too_large"}] * 2
    assert stored_bytes(tmp_path) == StoredFile.objects.count() == 1


def test_files_of_a_folder_have_the_limit_of_the_page(settings):
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 10
    settings.CHAT_UPLOAD_MAX_BYTES = 1000
    client = visiting()
    folder = client.post("/conversations/folders/", {"name": "Work"}).json()["folder"]
    address = f"/conversations/folders/{folder}"

    answers = [
        client.post(f"{address}/files/", {"file": SimpleUploadedFile("a.txt", b"x" * size)})
        for size in (1000, 1001)
    ]

    assert [answer.status_code for answer in answers] == [201, 413]
    assert client.get(f"{address}/content/").json()["limits"] == {"size": 1000, "types": []}


async def test_an_upload_whose_connection_breaks_leaves_nothing_behind(settings, tmp_path):
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "temporary"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/chat/desk/files/",
        "query_string": b"",
        "headers": [
            (b"content-type", b"multipart/form-data; boundary=x"),
            (b"content-length", b"9000000"),
        ],
    }
    asked = ApplicationCommunicator(get_asgi_application(), scope)
    begin = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'

    await asked.send_input({"type": "http.request", "body": begin, "more_body": True})
    await asked.send_input({"type": "http.request", "body": b"x" * 4_000_000, "more_body": True})
    await asked.send_input({"type": "http.disconnect"})
    await asked.wait(60)

    assert asked.output_queue.empty()
    assert await StoredFile.objects.acount() == 0
    assert stored_bytes(tmp_path) == 0


def test_a_conversation_takes_a_bounded_number_of_files(monkeypatch):
    monkeypatch.setattr("apps.conversations.files.folder.MOST_FILES", 2)
    application, client = add_application(), visiting()
    begin = uuid4()

    statuses = [send(client, application.slug, conversation=begin)[0] for _ in range(3)]

    assert statuses == [201, 201, 409]


def test_uploads_need_a_token_a_post_and_an_application_that_may_be_used():
    public, private = add_application(), add_application(is_public=False)
    client = visiting()
    careful = Client(enforce_csrf_checks=True)
    careful.get("/")
    form = {"file": SimpleUploadedFile("a.txt", b"a"), "conversation": str(uuid4())}

    assert careful.post(f"/chat/{public.slug}/files/", form).status_code == 403
    assert client.get(f"/chat/{public.slug}/files/").status_code == 405
    assert send(client, private.slug)[0] == 404
    assert send(client, public.slug, conversation="nothing")[1]["error"]["code"] == "bad_request"
    no_file = client.post(f"/chat/{public.slug}/files/", {"conversation": str(uuid4())})
    assert (no_file.status_code, StoredFile.objects.count()) == (400, 0)


def test_a_file_goes_to_no_conversation_of_somebody_else():
    application, owner, stranger = add_application(), visiting(), visiting()
    conversation = add_conversation(application, owner)
    other = add_application()

    found = [
        send(owner, application.slug, conversation=conversation.pk),
        send(stranger, application.slug, conversation=conversation.pk),
        send(owner, other.slug, conversation=conversation.pk),
    ]

    assert [status for status, _ in found] == [201, 404, 404]
    assert found[1] == found[2]


def test_a_foreign_file_is_answered_like_a_missing_one():
    application, owner, stranger = add_application(), visiting(), visiting()
    url = send(owner, application.slug)[1]["url"]

    foreign = stranger.get(f"/{url}")
    missing = stranger.get(f"/{url[:-1]}x")
    deleted = stranger.delete(f"/{url}")

    assert [foreign.status_code, missing.status_code, deleted.status_code] == [404, 404, 404]
    assert foreign.content == missing.content.replace(b"weather.csx", b"weather.csv")
    assert read(owner, f"/{url}")[0] == 200


def test_what_operators_share_is_shown_to_everybody_and_deleted_by_nobody():
    shared = files.share("terms.txt", ContentFile(b"Be kind."), "text/plain")
    client = visiting()

    deleted = client.delete(f"/{shared.path}").status_code

    assert (deleted, read(client, f"/{shared.path}")[:2]) == (404, (200, b"Be kind."))


@pytest.mark.parametrize(
    ("name", "content", "shown_as", "disposition"),
    [
        ("a.png", PNG, "image/png", "inline"),
        ("a.pdf", PDF, "application/pdf", "inline"),
        ("a.html", b"<script>alert(1)</script>", "text/plain; charset=utf-8", "inline"),
        ("a.svg", b"<svg onload='alert(1)'/>", "image/svg+xml", "inline"),
        ("ä b.bin", b"\x00", "application/octet-stream", "attachment"),
    ],
)
def test_no_file_becomes_a_page_of_ours(name, content, shown_as, disposition):
    application, client = add_application(), visiting()
    url = send(client, application.slug, content, name)[1]["url"]

    response = client.get(f"/{url}")
    saved = client.get(f"/{url}?download")

    assert response["Content-Type"] == shown_as
    assert response["Content-Disposition"].startswith(f"{disposition}; filename*=UTF-8''")
    assert saved["Content-Disposition"].startswith("attachment; ")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert ("sandbox" in response["Content-Security-Policy"]) is (name != "a.pdf")
    assert response["Cache-Control"] == "private, no-cache"


RANGES = {
    "bytes=0-3": (206, b"0123"),
    "bytes=7-": (206, b"789"),
    "bytes=-2": (206, b"89"),
    "bytes=8-99": (206, b"89"),
    "bytes=10-": (416, b""),
    "bytes=5-2": (416, b""),
    "bytes=0-1,3-4": (200, b"0123456789"),
    "lines=1": (200, b"0123456789"),
}
"""Each request, with the status and the content of the response."""


def test_a_part_of_a_file_is_sent():
    application, client = add_application(), visiting()
    url = send(client, application.slug, b"0123456789", "a.txt")[1]["url"]

    found = {wish: read(client, f"/{url}", range=wish) for wish in RANGES}

    assert {wish: answer[:2] for wish, answer in found.items()} == RANGES
    lengths = {
        len(sent): answer["Content-Length"]
        for status, sent, answer in found.values()
        if status == 206
    }
    assert lengths == {2: "2", 3: "3", 4: "4"}


def test_a_file_that_the_browser_has_is_not_sent_again():
    application, client = add_application(), visiting()
    url = send(client, application.slug)[1]["url"]
    etag = client.get(f"/{url}")["ETag"]

    again = client.get(f"/{url}", headers={"if-none-match": etag})

    assert again.status_code == 304


def test_a_deleted_file_is_gone_with_its_bytes(django_capture_on_commit_callbacks, tmp_path):
    application, client = add_application(), visiting()
    url = send(client, application.slug)[1]["url"]

    statuses = [client.delete(f"/{url}").status_code, client.get(f"/{url}").status_code]

    assert (statuses, stored_bytes(tmp_path)) == ([204, 404], 0)


def test_the_files_of_a_conversation_are_what_was_uploaded_and_what_was_made():
    application, client = add_application(), visiting()
    conversation = add_conversation(application, client)
    owner = conversation.owner
    uploaded = send(client, application.slug, conversation=conversation.pk)[1]
    other = send(client, application.slug)[1]
    stored = StoredFile.objects.get(name__endswith=f"{conversation.pk}/weather.csv")
    made = StoredFile.objects.create(
        bucket=owner, name="made by a tool.txt", storage_name=stored.storage_name,
        content_type="text/plain", size=3, etag="x",
    )  # fmt: skip
    path = f"files/{owner}/made%20by%20a%20tool.txt"
    run = run_in(conversation)
    events = [
        {"type": "stage.delta", "stage": "1", "attachment": {"type": "text/plain", "url": path}}
    ]
    JournalEntry.objects.create(stream=conversation.pk, run=run.pk, first=1, last=1, events=events)
    Message.objects.create(
        conversation=conversation, role="assistant",
        attachments=[{"url": "https://example.org/x"}, {"url": "files/user-7/theirs.txt"}, {}],
    )  # fmt: skip

    response = client.get(f"/chat/{application.slug}/{conversation.pk}/files/")
    foreign = visiting().get(f"/chat/{application.slug}/{conversation.pk}/files/")

    found = [(file["url"], file["uploaded"]) for file in response.json()["files"]]
    assert found == [(path, False), (uploaded["url"], True)]
    assert other["url"] not in response.text
    assert foreign.status_code == 404
    assert made.name == "made by a tool.txt"


def test_a_deleted_conversation_takes_its_files_with_it(
    django_capture_on_commit_callbacks, tmp_path
):
    application, client = add_application(), visiting()
    first, second = (add_conversation(application, client) for _ in range(2))
    for conversation in (first, first, second):
        send(client, application.slug, conversation=conversation.pk)

    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"/chat/{application.slug}/{first.pk}/delete/")
        Conversation.objects.filter(pk=first.pk).update(deleted_at=timezone.now() - UNDO)
        erase_deleted()

    [left] = StoredFile.objects.all()
    assert left.name == f"conversations/{second.pk}/weather.csv"
    assert stored_bytes(tmp_path) == 1


def test_files_follow_their_owner_who_signs_in():
    application, client = add_application(), visiting()
    conversation = add_conversation(application, client)
    url = send(client, application.slug, conversation=conversation.pk)[1]["url"]
    User.objects.create_user("grace", password="long enough")

    client.post("/accounts/login/", {"username": "grace", "password": "long enough"})
    client.get(f"/chat/{application.slug}/{conversation.pk}/")
    listed = client.get(f"/chat/{application.slug}/{conversation.pk}/files/").json()["files"]

    assert read(client, f"/{url}")[1] == b"Oslo,7"
    assert [file["url"] for file in listed] == [url]
    Conversation.objects.get().delete()
    assert StoredFile.objects.count() == 0
    client.logout()
    assert client.get(f"/{url}").status_code == 404


def test_bytes_that_are_gone_are_a_missing_file():
    application, client = add_application(), visiting()
    url = send(client, application.slug)[1]["url"]
    storage().delete(StoredFile.objects.get().storage_name)

    assert client.get(f"/{url}").status_code == 404


def test_the_page_knows_the_limits_of_uploads():
    application, client = add_application(), visiting()

    context = client.get(f"/chat/{application.slug}/").context

    assert json.dumps([context[f"upload_{name}"] for name in ("limit", "types", "most")]) == (
        '[50000000, "", 20]'
    )
