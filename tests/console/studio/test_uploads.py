"""Uploads of files in the studio."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.catalog.models import Application, Grant, Role
from apps.workspace.local.files import files
from apps.workspace.local.files.storage import storage
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

    assert path == f"files/public/applications/{desk.pk}/a%20guide.txt"
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
        f"A file named 'applications/{row.pk}/a guide.txt' already exists. Rename your file, or replace the "
        "existing one under Shared files."
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
        f"applications/{row.pk}/a guide.txt"
    ]


def test_the_files_of_an_application_are_erased_with_it_unless_a_copy_has_them(
    admin_client, django_capture_on_commit_callbacks
):
    desk, desktop = make_application("desk"), make_application("desktop")
    for name in ("a.txt", "b.txt"):
        upload(admin_client, desk, name)
    form = {"start": "copy", "copy": desk.pk, "title": "Second desk", "slug": "second"}
    admin_client.post("/admin/catalog/application/new/", form)
    upload(admin_client, desk, "c.txt")
    upload(admin_client, desktop, "e.txt")
    upload(admin_client, desk, "all.txt", shared="true")
    number = desk.pk
    gone = SharedFile.objects.get(name__endswith="/c.txt").storage_name

    with django_capture_on_commit_callbacks(execute=True):
        desk.delete()

    assert set(SharedFile.objects.values_list("name", flat=True)) == {
        "all.txt",
        *(f"applications/{number}/{name}" for name in ("a.txt", "b.txt")),
        f"applications/{desktop.pk}/e.txt",
    }
    assert not storage().exists(gone)
    second = Application.objects.get(slug="second")
    assert len(offered(admin_client, second)) == 3
