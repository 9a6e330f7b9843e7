"""Files of questions that are never sent are deleted."""

from __future__ import annotations

import errno
import time
from datetime import timedelta
from io import StringIO
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.conversations.files import unsent
from apps.workspace.local.files import files
from apps.workspace.local.files.directory_storage import DirectoryStorage
from apps.workspace.local.files.leftovers import delete_leftovers
from apps.workspace.local.files.storage import storage
from apps.workspace.local.models import StoredFile
from tests.chat.pages.test_views import add_application, add_conversation, visiting
from tests.conversations.files.test_files import send, stored_bytes
from tests.sites.serving import serve

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage"), pytest.mark.postgres]

OLD = timedelta(hours=25)
HALF_OLD = timedelta(hours=23)


def age(by: timedelta, name: str = "") -> None:
    rows = StoredFile.objects.filter(name__contains=name)
    rows.update(updated_at=timezone.now() - by)


def names() -> set[str]:
    return set(StoredFile.objects.values_list("name", flat=True))


def test_files_whose_question_was_never_asked_go_with_the_next_upload_of_their_owner():
    application, client, other = add_application(), visiting(), visiting()
    conversation = add_conversation(application, client)
    asked = send(client, application.slug, conversation=conversation.pk)[1]["url"]
    send(client, application.slug)
    foreign = send(other, application.slug)[1]["url"]
    age(OLD)

    kept = send(client, application.slug)[1]["url"]

    assert names() == {url.split("/", 2)[2] for url in (asked, foreign, kept)}


def test_everybodys_are_deleted_with_their_bytes_at_once(
    tmp_path, django_capture_on_commit_callbacks
):
    application = add_application()
    for _ in range(3):
        send(visiting(), application.slug)
    age(OLD)
    recent = send(visiting(), application.slug)[1]["url"]
    age(HALF_OLD, recent.split("/", 2)[2])

    with django_capture_on_commit_callbacks(execute=True):
        assert (unsent.delete(), unsent.delete()) == (3, 0)
    assert names() == {recent.split("/", 2)[2]}
    assert stored_bytes(tmp_path) == 1


def test_a_question_that_is_still_being_prepared_keeps_its_older_files():
    application, client, begin = add_application(), visiting(), uuid4()
    send(client, application.slug, name="first.txt", conversation=begin)
    age(OLD)
    send(client, application.slug, name="second.txt", conversation=begin)

    assert unsent.delete() == 0
    assert len(names()) == 2


def test_other_files_of_a_user_are_nobodys_drafts():
    for name in ("notes/plan.md", "conversations/plan.md", f"other/{uuid4()}/a.txt"):
        files.keep("user-1", name, b"x", "text/plain")
    age(OLD)

    assert unsent.delete() == 0
    assert len(names()) == 3


def test_many_are_looked_up_in_several_queries(monkeypatch):
    monkeypatch.setattr(unsent, "AT_ONCE", 2)
    for _ in range(5):
        files.keep("user-1", f"conversations/{uuid4()}/a.txt", b"x", "text/plain")
    age(OLD)

    assert unsent.delete() == 5


def test_bytes_without_a_file_are_deleted_once_they_are_old(tmp_path, monkeypatch):
    files.keep("user-1", "notes/plan.md", b"x", "text/plain")
    row = StoredFile.objects.get()
    folder = row.storage_name[:2]
    lost, alone, strange = f"{folder}/{uuid4().hex}", f"00/{uuid4().hex}", "reports/summary.txt"
    for name in (lost, alone, strange):
        storage().put(name, [b"lost"])

    assert delete_leftovers() == 0  # a file may be about to refer to them
    monkeypatch.setattr(timezone, "now", lambda now=timezone.now: now() + OLD)
    assert delete_leftovers() == 2
    assert [storage().exists(name) for name in (row.storage_name, strange)] == [True, True]
    assert [storage().exists(name) for name in (lost, alone)] == [False, False]


def test_bytes_that_an_outage_kept_from_being_deleted_are_deleted_later(monkeypatch):
    path = files.keep("user-1", "notes/plan.md", b"x", "text/plain").path
    stored = StoredFile.objects.get().storage_name
    with monkeypatch.context() as outage:
        refusal = OSError(errno.EROFS, "Read-only file system")
        outage.setattr(DirectoryStorage, "delete", Mock(side_effect=refusal))
        files.delete("user-1", path)
    assert storage().exists(stored)

    monkeypatch.setattr(timezone, "now", lambda now=timezone.now: now() + OLD)
    delete_leftovers()

    assert not storage().exists(stored)


def test_a_storage_that_was_never_used_has_no_leftovers(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "none"

    assert delete_leftovers() == 0


def test_the_command_tells_what_it_deleted():
    send(visiting(), add_application().slug)
    age(OLD)
    told = StringIO()

    call_command("clean_files", stdout=told)

    assert told.getvalue() == "Questions that were never sent: 1\nUnused files: 0\n"
    assert names() == set()


ADD = """
from datetime import timedelta
from uuid import uuid4
from django.utils import timezone
from apps.workspace.local.files import files
from apps.workspace.local.models import StoredFile
files.keep("user-1", f"conversations/{uuid4()}/a.txt", b"x", "text/plain")
StoredFile.objects.update(updated_at=timezone.now() - timedelta(hours=25))
"""
COUNT = "result = StoredFile.objects.count()"
DONE = """
from apps.tasks.models import ChoreRun
rows = ChoreRun.objects.filter(work="apps.conversations.files.unsent.delete")
result = rows.update(started_at="2026-01-01T00:00Z")
"""


DELETED = "Delete files of unsent questions: 1"


@pytest.mark.slow("starts a site that deletes files by itself")
@pytest.mark.full
def test_a_server_deletes_them_by_itself(tmp_path):
    with serve(tmp_path) as site:
        deadline = time.monotonic() + 60
        while not site.shell(DONE) and time.monotonic() < deadline:
            pass  # the first server has started its hourly work
        site.shell(ADD)
    with serve(tmp_path) as site:
        deadline = time.monotonic() + 60
        while DELETED not in site.log.read_text() and time.monotonic() < deadline:
            pass  # the line is written after the rows are gone

        assert DELETED in site.log.read_text()
        assert site.shell(COUNT) == 0
