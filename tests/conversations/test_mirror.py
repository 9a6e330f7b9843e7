from __future__ import annotations

import json
import threading
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from channels.db import database_sync_to_async
from django.core.management import CommandError, call_command
from django.db import transaction

from apps.accounts.caller import caller_in
from apps.chat.visitors import adopt
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation, Message
from apps.doors.sessions import session_bucket
from apps.live.database import on_a_thread
from apps.live.hub import Hub
from tests.catalog.rows import make_application, make_operator
from tests.chat.scripts import open_tab, says, scene, settled
from tests.contract import proves

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

FOLDER = Path("_platform", "ai-conversations")


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.CONVERSATION_MIRROR = str(tmp_path)
    return tmp_path


def written(folder: Path) -> dict[str, Any]:
    """Return the documents below the folder by scope and file name."""
    found = sorted((folder / FOLDER).glob("*/*"))
    return {f"{path.parent.name}/{path.name}": json.loads(path.read_bytes()) for path in found}


def rows() -> list[dict[str, Any]]:
    ids = dict(Message.objects.values_list("pk", "uuid"))
    conversations: list[Any] = list(Conversation.objects.order_by("pk").values())
    messages: list[Any] = list(Message.objects.order_by("pk").values())
    for row in messages:
        del row["id"], row["run_id"]
        row["parent_id"] = ids.get(row["parent_id"])
    return [*conversations, *messages]


@transaction.atomic
def wipe() -> None:
    """Delete the rows without signals, as if the tables were lost."""
    for model in (Message, Conversation):
        rows: Any = model.objects.all()
        rows._raw_delete("default")


def make_conversation(owner: str = "session-1", **fields: Any) -> Conversation:
    row = Conversation.objects.create(
        application=make_application(), owner=owner, title="Tides", **fields
    )
    row.messages.create(role="user", text="High tide?", attachments=[{"title": "map.png"}])
    answer = row.messages.create(role="assistant", text="At noon. ✓", usage={"input": 3})
    row.messages.create(role="summary", text="They asked for tides.", parent=answer)
    return row


def restored(*arguments: str) -> str:
    out = StringIO()
    call_command("restore_conversations", *arguments, stdout=out, stderr=out)
    return out.getvalue()


@proves("T-40")
@pytest.mark.django_db(transaction=True)
async def test_a_turn_is_in_the_file_once_its_answer_is_stored(folder):
    async with open_tab() as (on, tab):
        await tab.exchange("High tide?", says("At noon."))
        found = await database_sync_to_async(Conversation.objects.get)()

    [(name, document)] = written(folder).items()
    assert name == f"{found.owner}/{found.pk}.json"
    assert [(one["role"], one["text"]) for one in document["messages"]] == [
        ("user", "High tide?"),
        ("assistant", "At noon."),
    ]
    assert document["participants"] == [found.owner, f"application:{on.application.slug}"]
    assert document["title"] == "High tide?"


COMMITTER = "committer"


async def as_committer(work: Callable[[], Any]) -> Any:
    """Call the function on a thread that has the committer's name for that time."""

    def call() -> Any:
        thread = threading.current_thread()
        before, thread.name = thread.name, COMMITTER
        try:
            return work()
        finally:
            thread.name = before

    return await on_a_thread(call)


@pytest.mark.django_db(transaction=True)
async def test_a_file_is_not_written_in_the_thread_that_stores_answers(folder, monkeypatch):
    threads: list[str] = []

    def observed(conversation: UUID) -> None:
        threads.append(threading.current_thread().name)
        mirror(conversation)

    monkeypatch.setattr("apps.conversations.mirror.mirror", observed)
    async with scene() as on:
        hub = Hub(as_committer)
        tab = await on.visitor.tab(hub)
        await tab.exchange("High tide?", says("At noon."))
        await settled(hub)

    assert len(written(folder)) == len(threads) == 1
    assert COMMITTER not in threads


@proves("T-40")
def test_what_was_wiped_is_restored_as_it_was(folder):
    row = make_conversation(is_unread=True, has_memory=False)
    mirror(row.pk)
    before = rows()
    file = (folder / FOLDER / "session-1" / f"{row.pk}.json").read_bytes()
    wipe()

    assert restored() == "Restored: 1. Already existing: 0.\n"
    assert rows() == before
    mirror(row.pk)
    assert (folder / FOLDER / "session-1" / f"{row.pk}.json").read_bytes() == file
    assert restored(str(folder)) == "Restored: 0. Already existing: 1.\n"


@proves("T-40")
def test_a_conversation_whose_application_is_gone_can_be_read_again(folder):
    row = make_conversation()
    number = row.application_id
    mirror(row.pk)
    wipe()
    assert row.application is not None
    row.application.delete()

    restored()
    found = Conversation.objects.get()
    assert (found.application, found.former_application, found.former_slug, found.former_title) == (
        *(None, number),
        *("travel", "Travel"),
    )


@proves("T-40")
@pytest.mark.django_db(transaction=True)
def test_files_follow_a_new_title_and_whoever_signs_in_and_go_with_the_conversation(client, folder):
    client.get("/")
    row = make_conversation(session_bucket(client.session.session_key or ""))
    mirror(row.pk)

    client.post(f"/chat/travel/{row.pk}/rename/", {"title": "Sea"})
    [document] = written(folder).values()
    assert document["title"] == "Sea"

    grace = caller_in(make_operator("grace").pk)
    adopt(row.owner, grace)
    assert [*written(folder)] == [f"{grace.bucket}/{row.pk}.json"]

    Conversation.objects.get().delete()
    assert written(folder) == {}


@proves("T-40")
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"scope": "session-2"}, "of session-2"),
        ({"scope": "../up"}, "scope"),
        ({"messages": 7}, "messages"),
        ({"title": "x" * 201}, "title"),
    ],
)
def test_a_file_that_makes_no_sense_is_named_and_the_others_are_restored(folder, change, why):
    row = make_conversation()
    mirror(row.pk)
    path = folder / FOLDER / "session-1" / f"{row.pk}.json"
    broken = path.with_name(f"{UUID(int=1)}.json")
    document = {**json.loads(path.read_bytes()), "id": str(UUID(int=1)), **change}
    broken.write_text(json.dumps(document))
    wipe()

    out = StringIO()
    with pytest.raises(CommandError, match="1 files could not be restored"):
        call_command("restore_conversations", stdout=out, stderr=out)
    assert str(broken) in out.getvalue()
    assert why in out.getvalue()
    assert [found.pk for found in Conversation.objects.all()] == [row.pk]


def test_a_file_that_cannot_be_written_loses_no_answer(folder, settings, caplog):
    row = make_conversation()
    (folder / "file").write_text("")
    settings.CONVERSATION_MIRROR = str(folder / "file")

    mirror(row.pk)
    assert "Could not mirror" in caplog.text


def test_without_a_folder_nothing_is_written_and_nothing_restored(settings):
    settings.CONVERSATION_MIRROR = ""
    mirror(make_conversation().pk)

    with pytest.raises(CommandError, match="The folder"):
        restored()
