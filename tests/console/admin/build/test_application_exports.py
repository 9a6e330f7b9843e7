"""Applications are created from clones and files, exported, and managed by files."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework.test import APIClient

from apps.catalog.actions import publish
from apps.catalog.application_files import managed_files
from apps.catalog.application_files.archives import archive, unpack_archive
from apps.catalog.application_files.exporter import exported_files
from apps.catalog.application_files.starts import (
    application_from_files,
    new_from_file,
)
from apps.catalog.models import Application, ApplicationDraft
from apps.catalog.own_skills import skills_of
from tests.catalog.rows import make_application, make_deployment, make_operator
from tests.console.pages import browser_of, script_of, staff, staff_account
from tests.console.studio import asking as studio
from tests.console.studio.asking import page_data, written

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

START = "/admin/catalog/application/new/"
FILES = {
    "application/travel/application.yaml": b"""\
# Ours
title: Travel
public: true
manifest:
  orchestrator:
    deployment: {deployment_id: demo-model}
  contexts: []
  tool_sets: []
""",
    "application/travel/skills/tone/SKILL.md": b"---\nname: tone\ndescription: How.\n---\n\nShort.\n",
}


@pytest.fixture(autouse=True)
def deployment() -> None:
    make_deployment("demo-model")


def send(client: Client, content: bytes, name: str = "travel.zip", slug: str = "travel"):
    upload = SimpleUploadedFile(name, content)
    return client.post(START, {"title": "T", "slug": slug, "start": "file", "file": upload})


def test_an_exported_file_makes_an_application_with_all_that_lies_beside_it(admin_client):
    answer = send(admin_client, archive(FILES))
    row = Application.objects.get()
    publish.execute(row, "The first")
    exported = admin_client.get(f"/admin/catalog/application/{row.pk}/export/")

    assert answer.url == f"/admin/catalog/application/{row.pk}/studio/"
    assert (row.slug, str(row.owner), row.is_public, row.live_number) == (
        "travel",
        "operator",
        True,
        0,
    )
    assert set(skills_of(row.pk)) == {"tone"}
    document = "application/travel/application.yaml"
    retitled = FILES[document].replace(b"title: Travel", b"title: T")
    assert unpack_archive(exported.content) == {**FILES, document: retitled}
    assert exported["Content-Disposition"] == 'attachment; filename="travel.zip"'


def test_a_file_with_mistakes_saves_nothing_and_tells_each(admin_client):
    broken = {**FILES, "application/travel/run.sh": b""}
    wrong = FILES["application/travel/application.yaml"].replace(b"tool_sets: []", b"tool_sets: 3")
    taken = make_application("taken")

    stray = send(admin_client, archive(broken)).text
    invalid = send(admin_client, wrong, "travel.yaml").text
    twice = send(admin_client, archive(FILES), slug="taken").text
    bomb = send(admin_client, b"PK\x03\x04").text

    assert "application/travel/run.sh: is not part of an application" in stray
    assert "line 8: manifest.tool_sets: expected a list, found the integer 3" in invalid
    assert "Application with this Slug already exists." in twice
    assert "this is not a readable ZIP file" in bomb
    assert list(Application.objects.all()) == [taken]


def test_a_file_can_start_as_a_draft():
    row = new_from_file(application_from_files(FILES), make_operator(), slug="mine", as_draft=True)

    draft = ApplicationDraft.objects.get()
    assert (row.slug, draft.application, row.live_number) == ("mine", row, 0)
    assert draft.manifest["orchestrator"] == {"deployment": {"deployment_id": "demo-model"}}
    documents = exported_files(row, draft=True)
    assert documents["application/mine/application.yaml"].startswith(b"# Ours\ntitle: Travel\n")


def test_the_page_is_for_those_who_add_and_the_export_for_those_who_see_the_application():
    row = make_application("travel")
    viewer = staff("view_application")
    other = browser_of(staff_account("stranger", "view_application"))
    url = f"/admin/catalog/application/{row.pk}/export/"

    assert viewer.get(START).status_code == 403
    assert [client.get(url).status_code for client in (viewer, other, Client())] == [200, 404, 302]


def test_programs_export_what_they_see():
    make_application("travel", title="Travel")
    api = script_of(make_operator())
    answer = api.get("/api/applications/travel/export/")
    draft = api.put("/api/applications/travel/draft/", {"title": "Journeys"})
    drafted = api.get("/api/applications/travel/export/?draft=true")

    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    assert ZipFile(BytesIO(answer.content)).namelist() == ["application/travel/application.yaml"]
    assert draft.status_code == 200
    assert (
        b"title: Journeys" in unpack_archive(drafted.content)["application/travel/application.yaml"]
    )
    assert APIClient().get("/api/applications/travel/export/").status_code in (401, 403)


def test_an_application_of_a_managed_directory_is_read_and_duplicated(
    admin_client, settings, tmp_path
):
    settings.CONTENT_PATHS = [str(tmp_path)]
    managed_files.forget_files()
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    broken = tmp_path / "application/broken/application.yaml"
    broken.parent.mkdir()
    broken.write_text("title: [")
    api = script_of(User.objects.get())

    listed = admin_client.get("/admin/catalog/application/").text
    row = Application.objects.get(slug="travel")
    data = page_data(admin_client, row)
    saved = studio.send(admin_client, row, "save", written(data, title="Mine"))
    patched = api.patch("/api/applications/travel/", {"title": "Mine"})

    assert f"Not loaded: {broken}: line 1: not valid YAML" in listed
    assert (data["managed"], data["may_change"]) == (str(tmp_path), False)
    assert ("Clone", f"{START}?copy={row.pk}") in data["general"]["links"]
    assert (saved.status_code, patched.status_code) == (403, 403)
    assert "duplicate it" in patched.data["detail"]
    assert Application.objects.get(slug="travel").title == "Travel"
