"""The writes of the pages for users: chat, notes, memory, account, schedules."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from apps.accounts.models import ApiKey, NoticeSettings, Picture
from apps.accounts.preferences import Preferences
from apps.catalog.saved_prompts import SavedPrompt
from apps.chat.models import PinnedApplication, UsedIdentity
from apps.chat.shares.models import Share
from apps.conversations.models import Conversation, Folder
from apps.feedback.models import Feedback
from apps.live.models import Consent
from apps.notes.models import Note
from apps.schedules.models import Schedule
from apps.workspace.local.models import (
    MemoryCollection,
    MemoryMerge,
    MemorySettings,
    PersonalKey,
    StoredFile,
    StoredMemory,
    ToolAccount,
)
from tests.chat.imports import samples
from tests.chat.widget.widgets import SHOP, sign
from tests.writes.calls import Write
from tests.writes.world import PNG

CONVERSATIONS = json.dumps([samples.TRIP]).encode()
MEMORIES = b'{"memories": [{"data": {"id": 5, "content": "Likes coffee"}}]}'
NOTES = samples.zip_of({"Tartu.md": b"# Tartu"}).getvalue()
VISITOR: dict[str, Any] = {
    "user": "",
    "headers": {"authorization": "Bearer {w.visitor_token}"},
}
"""The options of a request of a widget's visitor, who has no session."""
TRIP = "/chat/travel/{w.conversation.pk}/"


def post(path: str, changes: Any, body: Any = None, **options: Any) -> Write:
    return Write("POST", path, changes, body, **options)


PAGES = [
    post("/account/name/", User, {"name": "Ada"}),
    post(
        "/account/notices/",
        NoticeSettings,
        {
            "sends_mail": "",
            "quiet_from": "22:00",
            "quiet_until": "06:00",
            "time_zone": "Europe/Riga",
        },
    ),
    post("/account/picture/", Picture, {"picture": ("a.png", PNG, "image/png")}),
    post("/account/keys/", ApiKey, {"name": "script", "until": "2030-01-01"}),
    post("/account/keys/revoke/", ApiKey, {"prefix": "{w.key.prefix}"}),
    post("/account/sessions/end/", Session, {}, prepare=lambda w, client: w.session_of("operator")),
    post("/account/delete/", User, {"confirmation": "grace"}, user="grace"),
    post("/settings/theme/", Preferences, {"theme": "dark"}, status=204),
    post("/tour/", Preferences, {"step": "model"}),
    post(
        "/settings/appearance/",
        Preferences,
        {
            "language": "",
            "theme": "dark",
            "density": "compact",
            "width": "wide",
            "text_size": "large",
        },
    ),
    post("/settings/writing/", Preferences, {"send_key": "enter"}),
    post(
        "/settings/instructions/",
        Preferences,
        {"uses_instructions": "on", "instructions": "Be brief."},
    ),
    post("/settings/retention/", Preferences, {"retention_days": "30"}),
    post("/settings/data/delete/", Conversation, {"confirmation": "delete"}),
    post(
        "/settings/data/import/",
        Conversation,
        {"application": "travel", "file": ("a.json", CONVERSATIONS, "application/json")},
        status=200,
    ),
    post("/prompts/new/", SavedPrompt, {"name": "new", "title": "New", "text": "Do it."}),
    post("/prompts/{w.prompt.pk}/", SavedPrompt, {"name": "hi", "title": "Hello", "text": "Hi!"}),
    post("/prompts/{w.prompt.pk}/delete/", SavedPrompt),
    post(
        "/prompts/import/",
        SavedPrompt,
        {
            "file": (
                "p.json",
                b'{"prompts": [{"name": "x", "title": "X", "text": "Y"}]}',
                "application/json",
            )
        },
    ),
    post("/approvals/", Consent, {"consent": "{w.consent.pk}"}),
    post("/connections/", ToolAccount, {"account": "{w.tool_account.pk}"}),
    post(
        "/connections/keys/store/",
        PersonalKey,
        {"service": "openai|https://127.0.0.1:1", "key": "sk-2"},
    ),
    post("/connections/keys/test/", None, {"service": "openai|https://127.0.0.1:1"}),
    post("/connections/keys/delete/", PersonalKey, {"key": "{w.personal_key.pk}"}),
    post(
        "/conversations/selected/",
        Conversation,
        {"conversations": "{w.conversation.pk}", "archived": "true"},
        status=200,
    ),
    post("/conversations/folders/", Folder, {"name": "Oslo"}, status=200),
    post("/conversations/folders/{w.folder.pk}/", Folder, {"name": "Oslo"}, status=200),
    post(
        "/conversations/folders/{w.folder.pk}/content/",
        Folder,
        {"instructions": "Be brief."},
        status=200,
    ),
    post(
        "/conversations/folders/{w.folder.pk}/files/",
        StoredFile,
        {"file": ("a.txt", b"text", "text/plain")},
        status=201,
    ),
    post("/conversations/folders/{w.folder.pk}/delete/", Folder, {}, status=200),
    post(
        "/widget/travel/token/",
        UsedIdentity,
        {"host": SHOP, "identity": lambda world: sign(world.widget)},
        kind="json",
        status=200,
    ),
    post(
        "/widget/travel/files/",
        StoredFile,
        {"conversation": "{w.visited.pk}", "file": ("b.txt", b"text", "text/plain")},
        status=201,
        **VISITOR,
    ),
    Write(
        "DELETE",
        "/widget/travel/files/{w.visitor}/conversations/{w.visited.pk}/a.txt",
        StoredFile,
        status=204,
        **VISITOR,
    ),
    post(
        "/widget/travel/messages/{w.visited_answer.uuid}/feedback/",
        Feedback,
        {"rating": "up"},
        status=200,
        **VISITOR,
    ),
    Write(
        "DELETE",
        "/widget/travel/messages/{w.rated_answer.uuid}/feedback/",
        Feedback,
        status=204,
        **VISITOR,
    ),
    post("/widget/travel/sign-in/", None, {}, status=200),
    post("/chat/travel/pin/", PinnedApplication, {"pinned": "true"}),
    post(TRIP + "effort/", None, {"effort": ""}),
    post(TRIP + "deployment/", None, {"deployment": ""}),
    post(TRIP + "arrange/", Conversation, {"folder": "{w.folder.pk}"}, status=200),
    post(TRIP + "go-on/", Conversation, {"application": "hotel"}, status=200),
    post(TRIP + "fork/", Conversation, {"message": "{w.answer.uuid}"}, status=201),
    post(TRIP + "run/", None, {"code": "6 * 7"}, status=404),  # The application has no interpreter.
    post("/chat/travel/{w.deleted.pk}/restore/", Conversation, {}, status=200),
    post(TRIP + "rename/", Conversation, {"title": "A journey"}),
    post(TRIP + "delete/", Conversation, {}),
    post("/chat/travel/{w.temporary.pk}/keep/", Conversation, {}),
    post(TRIP + "shares/", Share, {"title": "A trip"}, status=201),
    post(TRIP + "memory/", Conversation, {"on": "false"}),
    post(
        "/chat/travel/files/",
        StoredFile,
        {"conversation": "{w.conversation.pk}", "file": ("a.txt", b"text", "text/plain")},
        status=201,
    ),
    Write("DELETE", "/{w.file.path}", StoredFile, status=204),
    post(
        "/messages/{w.answer.uuid}/feedback/",
        Feedback,
        {"rating": "down", "reason": "wrong", "comment": "No."},
        status=200,
    ),
    Write("DELETE", "/messages/{w.feedback.message}/feedback/", Feedback, status=204),
    post("/teams/switch/", None, {"team": "{w.team.pk}"}),
    post("/teams/{w.team.pk}/", User.groups.through, {"do": "add", "account": "grace"}),
    post("/memory/settings/", MemorySettings, {"is_shared": "on"}),
    post(
        "/memory/import/",
        MemoryCollection,
        {"application": "", "file": ("m.json", MEMORIES, "application/json")},
    ),
    post("/memory/delete/", MemoryCollection, {}),
    post("/memory/{w.collection.pk}/delete/", MemoryCollection, {}),
    post("/memory/{w.collection.pk}/undo/", MemoryMerge, {"merge": "1"}),
    post("/memory/{w.collection.pk}/forget/", StoredMemory, {"memory": "1"}),
    post(
        "/memory/{w.collection.pk}/1/",
        StoredMemory,
        {"content": "Likes coffee"},
        page="/memory/{w.collection.pk}/1/",
    ),
    post("/notes/new/", Note, {"title": "Tallinn", "text": "North."}, page="/notes/new/"),
    post("/notes/import/", Note, {"file": ("n.zip", NOTES, "application/zip")}),
    post(
        "/notes/{w.note.pk}/edit/",
        Note,
        {"title": "Rīga", "text": "By the sea."},
        page="/notes/{w.note.pk}/edit/",
    ),
    post("/notes/{w.note.pk}/delete/", Note, {"number": "2"}),
    post("/notes/{w.note.pk}/restore/", Note, {"version": "1"}),
    post("/notes/{w.note.pk}/undo/", Note, {"number": "2"}),
    post("/notes/{w.gone.pk}/forget/", Note, {}),
    post("/shares/{w.share.pk}/revoke/", Share, {}, status=204),
    post("/shared/{w.share.token}/continue/", Conversation, {}, status=201),
    post(
        "/scheduled/new/",
        Schedule,
        {
            "application": "{w.application.pk}",
            "name": "Daily",
            "message": "Hi",
            "kind": "cron",
            "expression": "0 9 * * *",
        },
        page="/scheduled/new/",
    ),
    post(
        "/scheduled/{w.schedule.pk}/",
        Schedule,
        {"message": "Hello"},
        page="/scheduled/{w.schedule.pk}/",
    ),
    post("/scheduled/{w.schedule.pk}/run/", Schedule, {}),
    post("/scheduled/{w.schedule.pk}/pause/", Schedule, {}),
    post("/scheduled/{w.schedule.pk}/resume/", Schedule, {}),
    post("/scheduled/{w.schedule.pk}/agree/", Schedule, {}),
    post("/scheduled/{w.schedule.pk}/take-back/", Schedule, {}),
    post("/scheduled/{w.schedule.pk}/delete/", Schedule, {}),
]
