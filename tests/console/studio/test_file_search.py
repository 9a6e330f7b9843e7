"""The search in attached files with the settings of a draft."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from apps.capabilities.documents.cache import cache
from apps.console.admin.build import attached_files
from apps.workspace.local.files import files
from tests.catalog.corpora.library import GUIDES, Process, attach, manifest, share
from tests.console.pages import staff
from tests.console.studio.asking import address, page_data, send, written

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def process(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    settings.MEDIA_ROOT = tmp_path
    settings.ENABLE_PREVIEW_FEATURES = True  # Folders are a preview feature.
    process = Process()
    monkeypatch.setattr(attached_files, "find_embedder", process.find_embedder)
    yield process
    cache.clear()


def test_the_draft_finds_passages_in_the_files_that_are_indexed(admin_client, process):
    share("a.txt", "A late check-out costs 20 euros.")
    share("b.txt", "Dogs stay free.")
    row = attach()
    process.look()
    draft = written(page_data(admin_client, row))

    found = send(admin_client, row, "files/search", {**draft, "q": "late check-out"}).json()
    nothing = send(admin_client, row, "files/search", {**draft, "q": "submarine"}).json()

    [passage] = found.pop("passages")
    assert (passage["address"], passage["text"]) == (
        "files/public/guides/a.txt",
        "A late check-out costs 20 euros.",
    )
    assert found == {"notice": "", "indexed": 2, "files": 2}
    assert nothing["passages"] == []


def test_the_contexts_of_the_draft_are_searched_and_not_those_of_the_live_version(
    admin_client, process
):
    share("a.txt", "A late check-out costs 20 euros.")
    share("b.txt", "A late breakfast costs 9 euros.")
    row = attach()
    process.look()
    only = manifest({"type": "file", "url": "files/public/guides/b.txt"})
    draft = written(page_data(admin_client, row), manifest=only)

    found = send(admin_client, row, "files/search", {**draft, "q": "late"}).json()

    assert [one["address"] for one in found["passages"]] == ["files/public/guides/b.txt"]


@pytest.mark.parametrize("changes", [{"q": " "}, {"manifest": manifest(GUIDES, enabled=False)}])
def test_a_search_that_is_not_possible_says_what_is_missing(admin_client, changes):
    row = attach()
    draft = written(page_data(admin_client, row))

    refused = send(admin_client, row, "files/search", {**draft, "q": "late", **changes})

    assert refused.status_code == 422
    assert refused.json()["message"].startswith("Add a file or a folder")


def test_files_of_the_owner_are_found_by_the_owner_alone(admin_client, process):
    owner = User.objects.create_user("owner")
    files.keep(f"user-{owner.pk}", "diary.txt", b"The safe is 1234.", "text/plain")
    row = attach({"type": "file", "url": f"files/user-{owner.pk}/diary.txt"}, owner=owner)
    process.look()
    draft = written(page_data(admin_client, row))

    found = send(admin_client, row, "files/search", {**draft, "q": "safe"}).json()

    assert (found["passages"], found["files"]) == ([], 0)


def test_viewers_cannot_search_with_a_draft():
    row = attach()

    refused = staff("view_application").post(address(row, "files/search"))

    assert refused.status_code == 403
