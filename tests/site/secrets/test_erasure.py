"""After an account is deleted, no word of its user is left in any table, file or log line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.site.secrets.test_secrets import stored
from tests.sites.serving import DATABASE, Site, serve
from tests.sites.websocket import PageSocket

WORD = "zqplanted"
PATIENCE = 60.0
PLANTED = {
    *("accounts_apikey.name", "accounts_picture.content", "auth_user.email", "auth_user.username"),
    *("catalog_savedprompt.text", "chat_conversation.title", "chat_folder.instructions"),
    *("chat_message.text", "chat_message_words.text", "chat_preferences.instructions"),
    *("feedback_feedback.comment", "feedback_feedback.transcript", "notes_note.text"),
    *("notes_note_words.text", "notes_noteversion.text", "runs_journalentry.events"),
    *("runs_runstep.result", "runs_sentpart.text", "schedules_schedule.message"),
    *(
        "workspace_personalkey.origin",
        "workspace_storedfile.name",
        "workspace_storedmemory.content",
    ),
    *("workspace_toolaccount.title", "files", "mirror"),
}
"""Locations that must have contained the word, to prove that they were searched. Files are listed
by folder."""
PLANT = """
from datetime import timedelta
from importlib import import_module
from django.conf import settings
from django.contrib.auth import get_user_model, login
from django.test import RequestFactory
from django.utils import timezone
from apps.accounts.caller import bucket_of
from apps.accounts.models import ApiKey, Picture
from apps.accounts.preferences import Preferences
from apps.catalog.models import Application
from apps.catalog.saved_prompts import SavedPrompt
from apps.conversations.models import Folder
from apps.notes import store
from apps.notes.content import NoteContent
from apps.notes.store import Author
from apps.schedules.models import Schedule
from apps.workspace.local.files import files
from apps.workspace.local.models import MemoryCollection, StoredMemory, PersonalKey, ToolAccount
user = get_user_model().objects.create_user(
    f"ada-{word}", f"{word}@example.org", "a-password-for-tests", first_name=word
)
bucket = bucket_of(user.pk)
request = RequestFactory().get("/")
request.session = import_module(settings.SESSION_ENGINE).SessionStore()
login(request, user, backend="django.contrib.auth.backends.ModelBackend")
request.session.save()
application = Application.objects.get(slug="demo")
Preferences.objects.create(user=user, instructions=f"Say {word}.")
Picture.objects.create(user=user, content_type="image/png", content=word.encode())
ApiKey.objects.create_key(name=word, user=user, created_by=user)
SavedPrompt.objects.create(user=user, name="mine", title=word, text=f"About {word}")
Folder.objects.create(owner=bucket, name=word, position=1, instructions=word)
Schedule.objects.create(
    application=application, owner=bucket, user=user, name=word, message=word, kind="interval",
    interval_seconds=3600, next_at=timezone.now() + timedelta(days=1), caller={"kind": "user"},
)
collection = MemoryCollection.objects.create(bucket=bucket, application="demo")
StoredMemory.objects.create(
    collection=collection, number=1, content=word, importance=1, category="x", vector=b""
)
PersonalKey.objects.create(user=user, provider="openai", origin=f"https://{word}.example.org")
ToolAccount.objects.create(bucket=bucket, server=f"https://{word}.example.org", title=word)
files.keep(bucket, f"{word}.txt", word.encode(), "text/plain")
store.create(bucket, NoteContent(word, f"A note about {word}"), Author(user.pk))
result = [user.pk, bucket, request.session.session_key]
"""
CONVERSATION_OF = """
from apps.conversations.models import Conversation, Message
from apps.feedback.models import Feedback
from apps.catalog.models import Application
row = Conversation.objects.get(owner=bucket)
Conversation.objects.filter(pk=row.pk).update(title=word)
Feedback.objects.create(
    message=Message.objects.filter(conversation=row, role="assistant").first().uuid,
    conversation=row.pk, application=Application.objects.get(slug="demo"), bucket=bucket,
    rating="down", comment=word, shares_transcript=True, transcript={"question": word},
)
result = None
"""
DELETE = """
from django.contrib.auth import get_user_model
from apps.accounts.caller import Caller
from apps.chat.account.deletion import delete_account
delete_account(Caller(bucket, kind="user", user_id=user), get_user_model().objects.get(pk=user))
result = None
"""


def wait_for_writers(site: Site, folder: Path) -> set[str]:
    """Return the locations once the rows that are written asynchronously exist."""
    deadline = time.monotonic() + PATIENCE
    while not {"runs_sentpart.text", "runs_journalentry.events"} <= (found := places(site, folder)):
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    return found


def places(site: Site, folder: Path) -> set[str]:
    """Return the columns, files and file names that contain the word."""
    columns = {name for name, text in stored(folder).items() if WORD in text}
    files = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
        and not path.name.startswith(DATABASE)
        and (WORD in path.name or WORD.encode() in path.read_bytes())
    }
    return columns | files


@pytest.mark.slow("serves a site in a process of its own")
def test_no_word_of_a_deleted_user_is_left(tmp_path: Path):
    with serve(tmp_path, CONVERSATION_MIRROR=str(tmp_path / "mirror")) as site:
        site.manage("import_content")
        user, bucket, session = site.shell(PLANT, word=WORD)
        page = PageSocket(site.url, "demo", f"sessionid={session}")
        page.ask(f"What about {WORD}?")
        page.until("message.complete")
        page.until("run.status", status="done")
        page.close()
        site.shell(CONVERSATION_OF, word=WORD, bucket=bucket)
        before = wait_for_writers(site, tmp_path)

        site.shell(DELETE, user=user, bucket=bucket)

    left = places(site, tmp_path)
    assert {name.partition("/")[0] for name in before} >= PLANTED
    assert left == set()
