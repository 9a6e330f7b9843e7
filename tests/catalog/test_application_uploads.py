"""Files of applications: those uploaded before applications had folders, and attached files."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.core.files.base import ContentFile

from apps.catalog.application_uploads import adopt_uploads, store_upload
from apps.catalog.models import Application
from apps.catalog.versions.version_recorder import save_live
from apps.workspace.local.corpora.corpus import Corpus
from apps.workspace.local.files import files
from tests.catalog.rows import make_application, manifest_with

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage"), pytest.mark.postgres]

link_uploads = import_module("apps.catalog.migrations.0004_uploads").link_uploads


def share(name: str) -> str:
    return files.share(name, ContentFile(b"x"), "text/plain").path


def naming(*urls: str) -> dict[str, Any]:
    kinds = (("folder" if url.endswith("/") else "file", url) for url in urls)
    return manifest_with(contexts=[{"type": kind, "url": url} for kind, url in kinds])


def linked() -> dict[str, list[str]]:
    """Return the names of the files of each application."""
    return {
        row.slug: sorted(one.file.name for one in row.uploads.all())
        for row in Application.objects.order_by("slug")
    }


def test_files_from_before_are_linked_with_the_application_of_their_folder_and_with_its_copies():
    paths = [
        share(f"applications/{name}")
        for name in ("desk/a b.txt", "desk/b.txt", "desktop/c.txt", "gone/d.txt")
    ]
    share("all.txt")
    make_application("desk"), make_application("desktop"), make_application("other")
    make_application("copy", manifest=naming(paths[0]))
    make_application("folders", manifest=naming("files/public/applications/desk/"))
    make_application("every", manifest=naming("files/public/all.txt"))
    Corpus.objects.create(application="desk", compared="1:1")

    link_uploads(apps, None)

    assert linked() == {
        "copy": ["applications/desk/a b.txt"],
        "desk": ["applications/desk/a b.txt", "applications/desk/b.txt"],
        "desktop": ["applications/desktop/c.txt"],
        "every": [],
        "folders": ["applications/desk/a b.txt", "applications/desk/b.txt"],
        "other": [],
    }
    assert list(Corpus.objects.values_list("compared", flat=True)) == [""]


def test_files_from_before_stay_with_an_application_that_was_renamed_since():
    share("applications/old/a.txt")
    row = make_application("old")
    row.slug = "new"
    save_live(row)

    link_uploads(apps, None)

    assert linked() == {"new": ["applications/old/a.txt"]}


def test_files_that_the_previous_version_stores_during_an_upgrade_are_linked():
    row, other = make_application("desk"), make_application("other")
    path = store_upload(other, "known.txt", ContentFile(b"x"), "text/plain").path
    share(f"applications/{row.pk}/a.txt"), share("applications/desk/b.txt")
    share("applications/gone/c.txt"), share("all.txt")

    counts = [adopt_uploads(), adopt_uploads()]

    assert counts == [2, 0]
    assert linked() == {
        "desk": [f"applications/{row.pk}/a.txt", "applications/desk/b.txt"],
        "other": [path.removeprefix("files/public/")],
    }


def test_two_applications_have_files_of_one_name():
    first, second = make_application("first"), make_application("second")

    paths = {
        store_upload(row, "a.txt", ContentFile(row.slug.encode()), "text/plain").path
        for row in (first, second)
    }

    assert sorted(files.read("public", path).content for path in paths) == [b"first", b"second"]
