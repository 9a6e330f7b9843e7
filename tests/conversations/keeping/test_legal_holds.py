"""Data under a legal hold is hidden or retained until the hold is lifted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.test import Client
from django.utils import timezone

from apps.accounts import audit
from apps.accounts.caller import bucket_of, caller_in
from apps.accounts.legal_holds import LegalHold, holds
from apps.accounts.models import AuditEntry
from apps.chat.account.deletion import delete_conversations
from apps.chat.pages.choices import recent_files
from apps.conversations.branch_changes import delete_turn
from apps.conversations.files import unsent
from apps.conversations.keeping import arrangement, retention
from apps.conversations.models import Conversation, Folder, Message
from apps.errors import Conflict, FileMissing, FileRefused
from apps.live.history import run_rows, sent_requests
from apps.live.hub import HUB
from apps.live.models import Run, RunSummary
from apps.live.sent_request_rows import SentRequestRow
from apps.notes import store
from apps.notes.content import NoteContent
from apps.notes.models import Note
from apps.notes.store import Author
from apps.workspace.local.files import files
from apps.workspace.local.memories import remembered
from apps.workspace.local.memories.memories import LocalMemories
from apps.workspace.local.models import MemoryCollection, MemoryMerge
from apps.workspace.memories.errors import MemoryRefused
from tests.chat.pages.test_views import add_application

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.usefixtures("storage")]

LONG_AGO = timezone.now() - timedelta(days=5000)
TEXT = (
    "This can’t be deleted now, because your data must be retained for legal reasons. "
    "Contact an administrator."
)


@pytest.fixture
def grace() -> User:
    return User.objects.create_user("grace")


def hold(user: User, conversation: UUID | None = None) -> LegalHold:
    return LegalHold.objects.create(
        user=user, owner=bucket_of(user.pk), conversation=conversation, reason="Case 7"
    )


def lift(row: LegalHold) -> None:
    row.user, row.lifted_at = None, timezone.now()
    row.save()


def add(owner: str, **fields: Any) -> Conversation:
    return Conversation.objects.create(
        application=add_application(), owner=owner, title="Mine", **fields
    )


def keep_file(conversation: Conversation, name: str = "plan.txt") -> str:
    path = f"conversations/{conversation.pk}/{name}"
    return files.keep(conversation.owner, path, b"secret", "text/plain").path


def titles() -> set[tuple[UUID, bool]]:
    """Return the conversations, and whether their owners see them."""
    return {(row.pk, row.deleted_at is None) for row in Conversation.objects.all()}


def run_jobs() -> None:
    arrangement.erase_deleted()
    arrangement.erase_temporary()
    retention.erase_untouched()


# --- Conversations ----------------------------------------------------------------------------


def test_jobs_hide_conversations_of_a_held_user_and_erase_them_after_it(grace: User):
    mine, now = bucket_of(grace.pk), timezone.now()
    add("user-0", deleted_at=LONG_AGO)
    deleted = add(mine, deleted_at=LONG_AGO)
    temporary = add(f"{mine}-team-3", temporary_until=LONG_AGO)
    kept = add(mine)
    foreign = add(f"{mine}0", deleted_at=now)
    path = keep_file(temporary)
    held = hold(grace)

    run_jobs()

    assert titles() == {
        (deleted.pk, False),
        (temporary.pk, False),
        (kept.pk, True),
        (foreign.pk, False),
    }
    with pytest.raises(FileMissing):
        files.info(temporary.owner, path)

    lift(held)
    Conversation.objects.filter(pk=temporary.pk).update(deleted_at=LONG_AGO)
    run_jobs()

    assert titles() == {(kept.pk, True), (foreign.pk, False)}


def test_a_hold_on_a_conversation_covers_that_alone(grace: User):
    mine = bucket_of(grace.pk)
    held, other = add(mine, deleted_at=LONG_AGO), add(mine, deleted_at=LONG_AGO)
    hold(grace, held.pk)

    run_jobs()

    assert titles() == {(held.pk, False)}
    assert not Conversation.objects.filter(pk=other.pk).exists()


def test_the_conversation_of_a_visitor_can_be_held():
    row = add("visitor-1", deleted_at=LONG_AGO)
    LegalHold.objects.create(owner="visitor-1", conversation=row.pk, reason="Case 7")

    run_jobs()

    assert titles() == {(row.pk, False)}


def test_the_owner_deletes_a_held_conversation_and_no_longer_finds_it_or_its_files(grace: User):
    row, caller = add(bucket_of(grace.pk)), caller_in(grace.pk)
    Message.objects.create(conversation=row, role="user", text="Where to?")
    path = keep_file(row)
    listed = [one["url"] for one in recent_files(caller)]
    hold(grace)
    client = Client()
    client.force_login(grace)

    arrangement.delete(HUB, caller, row, "travel")
    run_jobs()

    assert (listed, recent_files(caller)) == ([path], [])
    assert client.get(f"/chat/{row.application_slug}/{row.pk}/").status_code == 404
    assert client.get("/conversations/search/?q=where").json()["hits"] == []
    assert Message.objects.get().text == "Where to?"

    arrangement.restore(row)

    assert files.info(row.owner, path).size == 6


def test_all_conversations_of_a_held_user_are_hidden_at_once(grace: User):
    mine = bucket_of(grace.pk)
    first, second = add(mine), add(f"{mine}-team-3")
    path = keep_file(first)
    hold(grace, first.pk)

    count = delete_conversations(caller_in(grace.pk), grace.pk)

    assert count == 2
    assert titles() == {(first.pk, False)}
    assert not Conversation.objects.filter(pk=second.pk).exists()
    with pytest.raises(FileMissing):
        files.info(mine, path)


# --- Refusals ---------------------------------------------------------------------------------


def delete_a_file(grace: User) -> None:
    files.delete(bucket_of(grace.pk), files.keep(bucket_of(grace.pk), "a.txt", b"x", "a/b").path)


def delete_a_folder(grace: User) -> None:
    folder = Folder.objects.create(owner=bucket_of(grace.pk), name="Work", position=1)
    files.keep(folder.owner, f"folders/{folder.pk}/a.txt", b"x", "text/plain")
    arrangement.delete_folder(folder)


def delete_memories(grace: User) -> None:
    MemoryCollection.objects.get_or_create(bucket=bucket_of(grace.pk), application="travel")
    LocalMemories(bucket_of(grace.pk), "travel").delete()


@pytest.mark.parametrize(
    ("delete", "error"),
    [
        (delete_a_file, FileRefused),
        (delete_a_folder, Conflict),
        (delete_memories, MemoryRefused),
    ],
)
def test_other_deletions_of_a_held_user_are_refused(
    grace: User, delete: Callable[[User], None], error: type[Exception]
):
    held = hold(grace)

    with pytest.raises(error, match="must be retained for legal reasons") as refused:
        delete(grace)
    lift(held)

    assert str(refused.value) == TEXT
    if delete is not delete_a_folder:
        delete(grace)


def test_a_file_of_a_held_conversation_stays(grace: User):
    row = add(bucket_of(grace.pk))
    path, other = keep_file(row), files.keep(row.owner, "a.txt", b"x", "text/plain").path
    hold(grace, row.pk)

    with pytest.raises(FileRefused, match="legal reasons"):
        files.delete(row.owner, path)
    files.delete(row.owner, other)

    assert files.info(row.owner, path).size == 6


def test_a_turn_of_a_held_conversation_stays(grace: User):
    row = add(bucket_of(grace.pk))
    message = Message.objects.create(conversation=row, role="user", text="Where to?")
    hold(grace, row.pk)

    with pytest.raises(Conflict, match="legal reasons"):
        delete_turn(caller_in(grace.pk), row.application_slug, row.pk, message.uuid)

    assert Message.objects.get() == message


def test_a_deleted_note_of_a_held_user_stays(grace: User):
    author = Author(grace.pk)
    note = store.create(bucket_of(grace.pk), NoteContent("Plans", "To Oslo"), author)
    store.delete(note, author)
    held = hold(grace)
    client = Client()
    client.force_login(grace)

    refused = client.post(f"/notes/{note.pk}/forget/", follow=True)
    there = Note.objects.count()
    lift(held)
    client.post(f"/notes/{note.pk}/forget/")

    assert "must be retained for legal reasons" in refused.text
    assert (there, Note.objects.count()) == (1, 0)


def test_the_account_of_a_held_user_cannot_be_deleted_in_any_way(grace: User):
    held = hold(grace)

    with pytest.raises(ProtectedError):
        grace.delete()
    with pytest.raises(ProtectedError):
        User.objects.filter(pk=grace.pk).delete()

    lift(held)
    grace.delete()
    assert LegalHold.objects.get().owner == held.owner


# --- Other jobs -------------------------------------------------------------------------------


def test_jobs_spare_runs_requests_events_files_and_merges_of_held_data(grace: User, settings):
    settings.RUN_ROWS_DAYS = settings.AUDIT_DAYS = 30
    mine, conversation, stream = bucket_of(grace.pk), uuid4(), uuid4()
    hold(grace)
    ada = User.objects.create_user("ada")
    hold(ada, conversation)
    for bucket in (mine, f"{mine}-team-3", "user-0"):
        run = RunSummary.objects.create(
            application=bucket, bucket=bucket, door="page", started_at=LONG_AGO
        )
        SentRequestRow.objects.create(
            stream=stream, run=run.pk, at=LONG_AGO, application=bucket, model="m", members=[]
        )
        AuditEntry.objects.create(event="access.denied", at=LONG_AGO, actor=bucket)
        row = MemoryCollection.objects.create(bucket=bucket, application="travel")
        MemoryMerge.objects.create(
            collection=row, number=1, survivor=1, merged_at=LONG_AGO, originals=[]
        )
    held_run = Run.objects.create(
        stream=conversation, bucket="visitor-1", request=uuid4(), caller={}, status="done"
    )
    RunSummary.objects.create(
        pk=held_run.pk, application="held", bucket="visitor-1", door="page", started_at=LONG_AGO
    )
    SentRequestRow.objects.create(
        stream=conversation, run=held_run.pk, at=LONG_AGO, application="held", model="m", members=[]
    )
    AuditEntry.objects.create(
        event="access.denied", at=LONG_AGO, actor="held", conversation=conversation
    )

    sent_requests.delete_old()
    run_rows.delete_old()
    audit.delete_old()
    remembered.delete_old_merges()

    stay = {mine, f"{mine}-team-3"}
    assert set(RunSummary.objects.values_list("application", flat=True)) == {*stay, "held"}
    assert set(SentRequestRow.objects.values_list("application", flat=True)) == {*stay, "held"}
    assert set(AuditEntry.objects.values_list("actor", flat=True)) == {*stay, "held"}
    assert set(MemoryMerge.objects.values_list("collection__bucket", flat=True)) == stay


def test_files_of_unsent_questions_of_a_held_user_stay(grace: User):
    path = files.keep(
        bucket_of(grace.pk), f"conversations/{uuid4()}/a.txt", b"x", "text/plain"
    ).path
    files.rows_below(bucket_of(grace.pk), "").update(updated_at=LONG_AGO)
    held = hold(grace)

    assert unsent.delete() == 0
    lift(held)
    assert unsent.delete() == 1
    with pytest.raises(FileMissing):
        files.info(bucket_of(grace.pk), path)


# --- Rows of holds ----------------------------------------------------------------------------


def test_there_is_one_active_hold_of_a_user(grace: User):
    lift(hold(grace))
    hold(grace)

    with pytest.raises(IntegrityError), transaction.atomic():
        hold(grace)


def test_lifted_holds_cover_nothing(grace: User):
    add(bucket_of(grace.pk))
    lift(hold(grace))

    assert not Conversation.objects.filter(holds("owner", "pk")).exists()
