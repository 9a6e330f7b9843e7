"""Creates a test case from the messages of a run. Operators edit it before they save it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from apps.agent.messages import Attachment, ModelMessage
from apps.agent.steps.results import read_opening, read_reply
from apps.cases.case_messages import LONGEST_FILE, LONGEST_NAME, LONGEST_TURN, MOST_TURNS
from apps.cases.models import Case
from apps.catalog.models import Application
from apps.errors import QuickAppError
from apps.live.history.sent_requests import requests_of
from apps.live.models import RunStep
from apps.live.run_summary import RunSummary
from apps.live.sent_request_rows import READ_CONTENTS

NAME_CHARACTERS = 80
OUTSIDE = ("https://", "http://")


class RunNotReadable(QuickAppError):
    """The messages of the run are no longer stored."""

    code = "run_not_readable"
    text = (
        "The messages of this run are no longer stored, so no test case can be created from it. "
        "Create one by hand."
    )


def case_from_run(run: RunSummary, user: User) -> Case:
    """Return an unsaved test case with the run's messages and the tools that it called.

    The caller must record in the audit log that contents were read. Raises `PermissionDenied` if
    the user may not read them, `RunNotReadable` if they are not stored, and
    `Application.DoesNotExist` if the application was deleted.
    """
    if not user.has_perm(READ_CONTENTS):
        raise PermissionDenied
    application = Application.objects.get(slug=run.application.partition("@")[0])
    turns = turns_of(opening_messages(run.pk))
    if not turns:
        raise RunNotReadable
    called = dict.fromkeys(called_tools(run.pk))
    return Case(
        application=application,
        name=free_case_name(application, turns[-1]["text"]),
        messages=turns,
        expectations=[{"kind": "called", "tool": name} for name in called],
        source_run=run.pk,
        is_from_real_run=True,
    )


def opening_messages(run: UUID) -> Sequence[ModelMessage]:
    """Return the messages with which a run started, from its stored steps or its first model
    request.
    """
    step = RunStep.objects.filter(run=run, key="open").first()
    if step is not None:
        try:
            return read_opening(step.read_result()).messages
        except msgspec.ValidationError:
            pass
    return sent_messages(run)


def sent_messages(run: UUID) -> Sequence[ModelMessage]:
    found = requests_of(run)
    if not found:
        return ()
    row, parts = found[0]
    written: list[Any] = []
    for key, form, value in row.members:
        if form == "parts" and key in ("messages", "input"):
            texts = (parts[digest].text for digest in value if digest in parts)
            written += filter(None, map(readable, texts))
    return [
        ModelMessage(one["role"], content_text(one.get("content")), name=name_text(one.get("name")))
        for one in written
        if one.get("role") in ("user", "assistant")
    ]


def readable(text: str) -> Any:
    """Parse a stored JSON object, or return None if it is truncated or not an object."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (one.get("text") for one in parts if isinstance(one, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def name_text(name: Any) -> str:
    return name if isinstance(name, str) else ""


def turns_of(messages: Iterable[ModelMessage]) -> list[dict[str, Any]]:
    """Convert messages to the turns of a test case, up to the last question. Tool calls and their
    results are omitted.
    """
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role not in ("user", "assistant"):
            continue
        files = [file_of(one) for one in message.attachments if is_portable(one)]
        turn = {"role": message.role, "text": message.text.strip()[:LONGEST_TURN]}
        if message.name:
            turn["name"] = message.name[:LONGEST_NAME]
        if turn["text"] or files:
            turns.append({**turn, "files": files} if files else turn)
    while turns and turns[-1]["role"] != "user":
        turns.pop()
    return turns[-MOST_TURNS:]


def is_portable(attachment: Attachment) -> bool:
    """Return True if users other than the run's owner can read the attachment."""
    if attachment.data is not None:
        return len(attachment.data) <= LONGEST_FILE
    return attachment.url is not None and attachment.url.startswith(OUTSIDE)


def file_of(attachment: Attachment) -> dict[str, str]:
    content = (
        {"data": attachment.data} if attachment.data is not None else {"url": attachment.url or ""}
    )
    return {"title": attachment.title, "type": attachment.type, **content}


def called_tools(run: UUID) -> Iterator[str]:
    """Yield the names of the tools that the run's model called, in order."""
    steps = RunStep.objects.filter(run=run, kind="model", status="done").order_by("pk")
    for step in steps:
        if "/" in step.key:  # A call by a nested run.
            continue
        try:
            reply = read_reply(step.read_result()).reply
        except msgspec.ValidationError:
            continue
        yield from (call.name for call in reply.message.tool_calls)


def free_case_name(application: Application, question: str) -> str:
    """Return the start of the question as a name. A number is appended if the application already
    has a test case with that name.
    """
    words = " ".join(question.split()) or "A question with a file"
    stem = words if len(words) <= NAME_CHARACTERS else f"{words[:NAME_CHARACTERS]}…"
    rows = Case.objects.filter(application=application, name__startswith=stem)
    taken = set(rows.values_list("name", flat=True))
    candidates = (stem if number == 1 else f"{stem} ({number})" for number in range(1, 10_000))
    return next(name for name in candidates if name not in taken)
