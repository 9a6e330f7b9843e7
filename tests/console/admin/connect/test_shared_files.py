"""Files that operators share with all applications."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.workspace.local.files import files
from apps.workspace.local.models import SharedFile, StoredFile

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage"), pytest.mark.postgres]

LIST = "/admin/workspace/sharedfile/"


def upload(name: str, content: bytes, kind: str = "text/plain") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, kind)


def shared(path: str) -> bytes:
    return files.read("public", path).content


def test_a_file_is_stored_under_its_own_name(admin_client):
    answer = admin_client.post(
        f"{LIST}add/", {"upload": upload("travel guide.pdf", b"%PDF"), "name": ""}
    )

    assert answer.status_code == 302
    row = SharedFile.objects.get()
    assert (row.name, row.content_type, row.size) == ("travel guide.pdf", "application/pdf", 4)
    assert shared("files/public/travel%20guide.pdf") == b"%PDF"


def test_its_page_shows_the_path_that_a_manifest_names(admin_client):
    admin_client.post(
        f"{LIST}add/", {"upload": upload("a.txt", b"a"), "name": "guides/my list.txt"}
    )

    page = admin_client.get(f"{LIST}{SharedFile.objects.get().pk}/change/").text

    assert "files/public/guides/my%20list.txt" in page


def test_a_new_file_takes_the_place_of_the_old_one_under_the_same_name(admin_client):
    admin_client.post(f"{LIST}add/", {"upload": upload("a.txt", b"old"), "name": ""})
    row = SharedFile.objects.get()

    admin_client.post(
        f"{LIST}{row.pk}/change/", {"upload": upload("b.md", b"new"), "name": "c.txt"}
    )

    assert [found.name for found in SharedFile.objects.all()] == ["a.txt"]
    assert shared("files/public/a.txt") == b"new"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"name": "a.txt"}, "This field is required."),
        ({"name": "../a.txt"}, "&#x27;.&#x27; and &#x27;..&#x27; are not allowed."),
        ({"name": "taken.txt"}, "A file with this name already exists. Open it to replace it."),
    ],
)
def test_what_cannot_be_stored_is_told_at_its_field(admin_client, fields, told):
    admin_client.post(f"{LIST}add/", {"upload": upload("taken.txt", b"first"), "name": ""})
    given = {} if told.startswith("This field") else {"upload": upload("x.txt", b"x")}

    answer = admin_client.post(f"{LIST}add/", {**given, **fields})

    assert told in answer.text
    assert [row.name for row in SharedFile.objects.all()] == ["taken.txt"]


def test_a_file_that_is_too_large_is_refused(admin_client, settings):
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 3

    answer = admin_client.post(f"{LIST}add/", {"upload": upload("a.txt", b"1234"), "name": ""})

    assert "The file is 4 bytes; the limit is 3." in answer.text


def test_files_of_people_are_not_shown_and_not_reached(admin_client):
    files.keep("user-7", "diary.txt", b"secret", "text/plain")
    row = StoredFile.objects.get()

    assert "diary.txt" not in admin_client.get(LIST).text
    assert admin_client.get(f"{LIST}{row.pk}/change/").status_code == 302


def test_a_deleted_file_is_gone_with_its_bytes(admin_client, tmp_path):
    admin_client.post(f"{LIST}add/", {"upload": upload("a.txt", b"a"), "name": ""})
    row = SharedFile.objects.get()

    admin_client.post(f"{LIST}{row.pk}/delete/", {"post": "yes"})

    assert not StoredFile.objects.exists()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_whoever_replaces_a_file_that_was_replaced_meanwhile_is_told_first(admin_client):
    admin_client.post(f"{LIST}add/", {"upload": upload("a.txt", b"old"), "name": ""})
    row = SharedFile.objects.get()
    url = f"{LIST}{row.pk}/change/"
    seen = admin_client.get(url).context["adminform"].form["seen_version"].value()
    admin_client.post(url, {"upload": upload("a.txt", b"theirs"), "seen_version": seen})

    told = admin_client.post(url, {"upload": upload("a.txt", b"mine"), "seen_version": seen})
    assert "Another user replaced this file in the meantime. operator, " in told.text
    assert shared("files/public/a.txt") == b"theirs"
    newer = told.context["adminform"].form["seen_version"].value()
    done = admin_client.post(url, {"upload": upload("a.txt", b"mine"), "seen_version": newer})

    assert (done.status_code, shared("files/public/a.txt")) == (302, b"mine")
