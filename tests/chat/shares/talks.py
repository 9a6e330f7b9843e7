"""A conversation with everything that a link can show or hide."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.accounts.caller import bucket_of
from apps.agent.events import (
    AttachmentAdded,
    NoticeAdded,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    TextDelta,
)
from apps.agent.messages import attachment_from_dict
from apps.catalog.models import Application
from apps.conversations.asking.questions import question_added
from apps.conversations.files.folder import folder_of
from apps.conversations.models import Conversation, Message
from apps.live.events import AnswerStored, StatusChanged, StreamEvent
from apps.live.journal import journal
from apps.live.models import Run
from apps.workspace.local.files import files
from tests.catalog.rows import manifest_with
from tests.chat.pages.test_views import run_in

OPEN = manifest_with(features={"sharing": {"with_anyone": True}})
"""The manifest of an application whose conversations may be shared with anyone."""
CITATION = {"type": "text/plain", "title": "[1] atlas.pdf, page 2", "data": "Riga is by the sea."}
MEMORY = {
    "tool_execution_history": [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "call-memory",
                    "type": "function",
                    "function": {"name": "store_memory", "arguments": "{}"},
                }
            ],
        },
        {"role": "tool", "content": "Stored", "tool_call_id": "call-memory"},
    ]
}


def person(name: str, full: str = "") -> User:
    first, _, last = full.partition(" ")
    return User.objects.create_user(name, first_name=first, last_name=last)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def begin(user: User, application: Application, title: str = "A trip") -> Conversation:
    return Conversation.objects.create(
        application=application, owner=bucket_of(user.pk), title=title
    )


def add_file(conversation: Conversation, name: str, content: bytes = b"stored") -> str:
    """Return the path of a new file in the folder of the conversation."""
    name = folder_of(conversation.pk) + name
    return files.keep(conversation.owner, name, content, "text/plain").path


def add_turn(
    conversation: Conversation,
    question: str = "When?",
    answer: str = "At **eight**.",
    *,
    file: str = "",
    status: str = "done",
) -> Run:
    """Add a question and its answer, with steps, metrics and memories; both have the file."""
    number = conversation.messages.count()
    run = run_in(conversation, status, finished_at=timezone.now())
    attached = [{"type": "text/plain", "title": "notes.txt", "url": file}] if file else []
    asked = Message.objects.create(
        conversation=conversation,
        run=run,
        role="user",
        text=question,
        attachments=attached,
        place={"slug": "desk", "title": "Desk", "narrative": "a secret customer"},
    )
    stored: dict[str, Any] = {
        "role": "assistant",
        "text": answer,
        "attachments": [CITATION, *attached],
    }
    answered = Message.objects.create(
        conversation=conversation, run=run, state=MEMORY, finish_reason="stop", **stored
    )
    shown = {
        **stored,
        "id": str(answered.uuid),
        "finish_reason": "stop",
        "models": ["gpt-secret"],
        "costs": {"EUR": "0.5"},
        "memories": [{"action": "stored", "text": "Likes a window seat"}],
        "todo": "- [ ] pack",
    }
    seen = [AttachmentAdded(attachment_from_dict(one)) for one in (CITATION, *attached)]
    with_file = [StageAttachment("call-1", attachment_from_dict(one)) for one in attached]
    events: list[StreamEvent] = [
        question_added(asked),
        StatusChanged("running"),
        StageOpened("call-1", "Timetable", None),
        StageDelta("call-1", f"Looked at {file or 'a page'}, number {number}."),
        *with_file,
        StageClosed("call-1", 0.2, False),
        TextDelta(answer[:2]),
        StageOpened("call-memory", "Remember", None),
        StageDelta("call-memory", "Likes a window seat"),
        StageClosed("call-memory", 0.2, False),
        NoticeAdded("context", "A tool is away."),
        TextDelta(answer[2:]),
        *seen,
        AnswerStored(shown),
        StatusChanged(status),
    ]
    journal.add(conversation.pk, run.pk, events)
    return run


def address_of(conversation: Conversation) -> str:
    return f"/chat/{conversation.application_slug}/{conversation.pk}/"


def share(client: Client, conversation: Conversation, **fields: str) -> dict[str, Any]:
    """Create a link. Return it as the dialog gets it."""
    answer = client.post(f"{address_of(conversation)}shares/", fields)
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()["share"]
    return found


def path_of(link: dict[str, Any]) -> str:
    address: str = link["address"]
    return f"/{address.split('/', 3)[3]}"
