"""Files that are uploaded in the studio."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.catalog.models import Grant, Role
from apps.workspace.local import files
from apps.workspace.local.models import SharedFile
from tests.catalog.rows import make_application
from tests.console.pages import browser_of, staff_account
from tests.console.studio.asking import address

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage"), pytest.mark.postgres]


def upload(client: Any, row: Any, name: str = "a guide.txt", **more: str) -> Any:
    file = SimpleUploadedFile(name, b"Go east.", "text/plain")
    return client.post(address(row, "upload"), {"file": file, **more})


def offered(client: Any, row: Any) -> list[str]:
    found = client.get(address(row, "choices")).json()["files"]
    return [one["path"] for one in found]


def test_a_file_of_one_application_is_offered_to_no_other(admin_client):
    desk, hotel = make_application("desk"), make_application("hotel")

    path = upload(admin_client, desk).json()["path"]
    shared = upload(admin_client, desk, "all.txt", shared="true").json()["path"]

    assert path == "files/public/applications/desk/a%20guide.txt"
    assert files.read("public", path).content == b"Go east."
    assert offered(admin_client, desk) == [shared, path]
    assert offered(admin_client, hotel) == [shared] == ["files/public/all.txt"]


def test_a_file_takes_the_place_of_no_other(admin_client):
    row = make_application("desk")
    upload(admin_client, row)

    again = upload(admin_client, row)
    missing = admin_client.post(address(row, "upload"), {})

    assert (again.status_code, missing.status_code) == (422, 422)
    assert again.json()["message"] == (
        "There is already a file 'applications/desk/a guide.txt'. Rename yours, or replace that one "
        "under Shared files."
    )
    assert SharedFile.objects.count() == 1


def test_editors_upload_for_their_application_alone():
    row, other = make_application("desk", is_shared=False), make_application("hotel")
    editor = staff_account("olga")
    Grant.objects.create(application=row, user=editor, role=Role.EDITOR)
    client = browser_of(editor)

    own, shared = upload(client, row), upload(client, row, "all.txt", shared="true")
    foreign = upload(client, other)

    assert (own.status_code, shared.status_code) == (200, 403)
    assert foreign.status_code in (403, 404)
    assert list(SharedFile.objects.values_list("name", flat=True)) == [
        "applications/desk/a guide.txt"
    ]
