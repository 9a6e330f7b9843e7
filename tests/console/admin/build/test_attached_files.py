"""The page of the attached files of an application."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.capabilities.documents.cache import cache
from apps.console.admin.build import attached_files
from apps.workspace.local.corpora.corpus import Corpus, CorpusDocument
from apps.workspace.local.files import files
from apps.workspace.local.models import SharedFile
from tests.catalog.corpora.library import GUIDES, Process, attach, manifest, share
from tests.catalog.rows import make_application
from tests.console.pages import signed_in, staff
from tests.documents.samples import protected_pdf

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def process(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    settings.MEDIA_ROOT = tmp_path
    settings.ENABLE_PREVIEW_FEATURES = True  # folders are one too
    process = Process()
    # Replaces the built-in model.
    monkeypatch.setattr(attached_files, "find_embedder", process.find_embedder)
    yield process
    cache.clear()


def url(pk: int) -> str:
    return f"/admin/catalog/application/{pk}/files/"


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.text


def test_the_page_shows_how_far_each_file_is_and_what_is_wrong(admin_client, process):
    share("a.txt", "Dogs stay free.")
    share("b.pdf", protected_pdf("secret"), "application/pdf")
    application = attach()
    before = page(admin_client, url(application.pk))
    process.look()

    shown = page(admin_client, url(application.pk))

    assert "No files yet." in before
    assert "100% of the readable content is indexed" in shown
    assert "files/public/guides/a.txt" in shown
    assert "It is protected by a password." in shown


def test_the_page_says_when_the_database_searches(admin_client, process):
    share("a.txt", "Dogs stay free.")
    application = attach()
    process.look()
    small = page(admin_client, url(application.pk))
    Corpus.objects.update(is_large=True)

    said = "There are many passages, so the database searches them."
    assert (said in small, said in page(admin_client, url(application.pk))) == (False, True)


def test_a_search_finds_what_the_tool_finds_and_shows_it_as_text(admin_client, process):
    share("a.txt", "A late check-out costs <b>20</b> euros.")
    share("b.txt", "Dogs stay free.")
    application = attach()
    process.look()

    found = page(admin_client, f"{url(application.pk)}?q=late+%3Ci%3Echeck-out")
    nothing = page(admin_client, f"{url(application.pk)}?q=submarine")

    assert "A late check-out costs &lt;b&gt;20&lt;/b&gt; euros." in found
    assert "<code>files/public/guides/a.txt</code>, score 0.0328" in found
    assert 'value="late &lt;i&gt;check-out"' in found
    assert "<b>20" not in found
    assert "Dogs stay free." not in found
    assert "Nothing found for" in nothing


def test_files_of_the_owner_are_shown_to_nobody_else(admin_client, process):
    owner = User.objects.create_user("owner")
    files.keep(f"user-{owner.pk}", "diary.txt", b"The safe is 1234.", "text/plain")
    application = attach({"type": "file", "url": f"files/user-{owner.pk}/diary.txt"}, owner=owner)
    process.look()

    shown = page(admin_client, f"{url(application.pk)}?q=safe")

    assert CorpusDocument.objects.get().state == "ready"
    assert "1234" not in shown
    assert "diary.txt" not in shown
    assert "1 further file belongs to the owner" in shown


def test_who_may_edit_has_files_indexed_again_and_who_may_view_only_looks(process):
    share("a.txt", "Dogs stay free.")
    share("b.txt", "Cats do not.")
    application = attach()
    process.look()
    number = CorpusDocument.objects.get(name="guides/a.txt").pk
    viewer, editor = staff("view_application"), signed_in()

    refused = viewer.post(url(application.pk)).status_code
    one = editor.post(url(application.pk), {"document": number}, follow=True).text
    states = sorted(CorpusDocument.objects.values_list("state", flat=True))
    everything = editor.post(url(application.pk), follow=True).text

    assert refused == 403
    assert "Index again" not in page(viewer, url(application.pk))
    assert ("1 file is queued for indexing." in one, states) == (True, ["ready", "waiting"])
    assert "2 files are queued for indexing." in everything


def test_who_may_not_view_applications_sees_nothing():
    application = attach()

    assert staff("view_sharedfile").get(url(application.pk)).status_code == 403


def test_an_application_that_searches_no_files_says_what_it_needs(admin_client):
    application = make_application(manifest=manifest(GUIDES, enabled=False))

    assert "set <code>features.documents.enabled</code>" in page(admin_client, url(application.pk))


def test_a_shared_file_that_is_replaced_or_deleted_is_noticed_at_once(admin_client, process):
    share("a.txt", "Dogs stay free.")
    attach()
    process.look()
    row = SharedFile.objects.get()
    address = f"/admin/workspace/sharedfile/{row.pk}"

    upload = SimpleUploadedFile("a.txt", b"Dogs pay.", "text/plain")
    admin_client.post(f"{address}/change/", {"upload": upload, "name": ""})
    replaced = Corpus.objects.get().compared
    process.look()
    chunk = CorpusDocument.objects.get().chunks.get().text
    admin_client.post(f"{address}/delete/", {"post": "yes"})

    assert (replaced, chunk) == ("", "Dogs pay.")
    assert process.look() == {}
