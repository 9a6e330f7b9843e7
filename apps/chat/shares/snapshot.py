"""Creates the snapshot of a shared conversation: its shown branch without private data.

Memories, model requests, metrics, feedback, chat places, the to-do list, approvals, forms and
sign-ins are never shared.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote
from uuid import UUID

from django.urls import reverse

from apps.agent.messages import ModelMessage
from apps.chat.window import turn
from apps.conversations.branches import shown_path
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.memory_notes import ACTIONS
from apps.errors import FileRefused
from apps.live.journal import journal
from apps.live.models import Run
from apps.runs.history import expand
from apps.workspace.local.files import files
from apps.workspace.local.files.paths import ROOT, write_path
from apps.workspace.local.models import PUBLIC

STEPS = frozenset({"stage.opened", "stage.delta", "stage.closed", "helper.began", "helper.ended"})
ANSWERS = frozenset(
    {"message.delta", "answer.restarted", "annotation.added", "attachment.added", "run.continued"}
)
SENDER = ("kind", "title", "untrusted", "at")
MOST_FILES = 200
SOURCE = re.compile(r"\[\d{1,4}\] .*\S")
"""Matches the titles of attachments that are citations."""
LONGEST_SOURCE = 600
AFTER_ADDRESS = ".,;:!?`*_"
"""Punctuation that can follow a URL in a text without belonging to it."""


@dataclass(slots=True)
class SnapshotFiles:
    """The owner's files that a snapshot mentions, and their URLs under the share link."""

    owner: str
    token: str
    includes_files: bool
    found: list[dict[str, str]] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        names = "|".join(map(re.escape, files.buckets_of(self.owner)))
        self.pattern = re.compile(rf"{ROOT}/(?:{names})/[^\s\"'<>()\[\]\\#?]+")

    def address_of(self, path: str) -> str:
        """Return the file's URL under the share link, or only its name if it is not shared."""
        if path not in self.addresses:
            self.addresses[path] = self.add(path) or unquote(path.rsplit("/", 1)[-1])
        return self.addresses[path]

    def add(self, path: str) -> str:
        if not self.includes_files or len(self.found) >= MOST_FILES:
            return ""
        try:
            row = files.find_stored(self.owner, path)
        except FileRefused:
            return ""
        # A model may percent-encode characters that need no encoding.
        path = write_path(row.bucket, row.name)
        name = row.name.rsplit("/", 1)[-1]
        shared = {"path": path, "etag": row.etag, "name": name}
        if shared not in self.found:
            self.found.append(shared)
        address = reverse("shared", args=(self.token,)).lstrip("/")
        return f"{address}files/{self.found.index(shared) + 1}/{quote(name, safe='')}"

    def rewrite(self, value: Any) -> Any:
        """Replace the URLs of the owner's files in a JSON value with URLs under the share link."""
        if isinstance(value, str):
            return self.pattern.sub(self.replace, value) if f"{ROOT}/" in value else value
        if isinstance(value, Mapping):
            return {key: self.rewrite(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.rewrite(item) for item in value]
        return value

    def replace(self, match: re.Match[str]) -> str:
        path = match[0].rstrip(AFTER_ADDRESS)
        return self.address_of(path) + match[0][len(path) :]

    def attached(self, written: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the attachments that readers can see. Files are omitted if the owner does not
        share them.
        """
        wanted = (one for one in written if self.includes_files or not is_file(one))
        return [dict(one) for one in wanted if not self.is_foreign(str(one.get("url") or ""))]

    def is_foreign(self, url: str) -> bool:
        """Return True if the file at this URL belongs to another user. Such a file is not shared,
        because the conversation's owner might not be allowed to read it.
        """
        if not url.startswith(f"{ROOT}/"):
            return False
        return not (url.startswith(f"{ROOT}/{PUBLIC}/") or self.pattern.match(url))


def is_file(attachment: Mapping[str, Any]) -> bool:
    """Return True if the attachment is a file, not a link or a citation."""
    url, data = str(attachment.get("url") or ""), str(attachment.get("data") or "")
    if data:
        is_text = attachment.get("type") == "text/plain" and len(data) <= LONGEST_SOURCE
        return not (is_text and not url and SOURCE.fullmatch(str(attachment.get("title") or "")))
    return bool(url) and not url.lower().startswith(("http://", "https://"))


def shared_runs(conversation: Conversation) -> list[UUID]:
    """Return the IDs of the ended runs on the shown branch, in order."""
    rows = shown_path(conversation)
    answered = [
        UUID(row.run_id) for row in rows if row.role == Message.Role.ASSISTANT and row.run_id
    ]
    known = set(
        Run.objects.filter(stream=conversation.pk)
        .exclude(status__in=Run.OPEN)
        .values_list("pk", flat=True)
    )
    return [run for run in answered if run in known]


def snapshot_turns(
    conversation: Conversation, runs: Sequence[UUID], shared: SnapshotFiles, *, with_steps: bool
) -> Iterator[dict[str, Any]]:
    """Yield the turns of these runs as JSON, without private data. With `with_steps`, steps are
    included, except calls to memory tools.
    """
    memories = memory_steps(conversation) if with_steps else frozenset()
    for at, run in enumerate(runs):
        frames = turn(run, at, journal.read_run(run), longest_step=None)["events"]
        events = without_steps(frames, memories) if with_steps else as_text(frames)
        cleaned = [shared.rewrite(one) for frame in events if (one := clean(frame, at, shared))]
        yield {"run": str_run(at), "at": at, "events": cleaned}


def str_run(at: int) -> str:
    """Return a public ID for the run of the turn with index `at`. It replaces the run's own ID,
    which is private.
    """
    return f"answer-{at + 1}"


def memory_steps(conversation: Conversation) -> frozenset[str]:
    """Return the IDs of the conversation's steps that call memory tools."""
    answers = conversation.messages.filter(role=Message.Role.ASSISTANT)
    states = answers.values_list("state", flat=True)
    said = (
        message for state in states for message in expand([ModelMessage("assistant", state=state)])
    )
    return frozenset(
        call.id for message in said for call in message.tool_calls if call.name in ACTIONS
    )


def without_steps(
    frames: Iterable[dict[str, Any]], hidden: frozenset[str]
) -> Iterator[dict[str, Any]]:
    """Yield the frames, except those for the steps whose IDs are in `hidden` and for their
    substeps.
    """
    gone = set(hidden)
    for frame in frames:
        if frame["type"] == "stage.opened" and frame["parent"] in gone:
            gone.add(frame["stage"])
        if frame.get("stage") not in gone:
            yield frame


def as_text(frames: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the frames with the steps removed, and the whole answer in one text frame."""
    text = "".join(frame["text"] for frame in frames if frame["type"] == "message.delta")
    for frame in frames:
        if frame["type"] == "message.complete":
            message = {"text": text, **frame["message"]}
            yield {"type": "message.delta", "text": message.pop("text")}
            yield {**frame, "message": message}
        elif frame["type"] not in STEPS | ANSWERS or frame["type"] == "annotation.added":
            yield frame


def clean(frame: dict[str, Any], at: int, shared: SnapshotFiles) -> dict[str, Any] | None:
    """Return the frame without private data, or None if all of it is private. `at` is the index of
    its turn.
    """
    kind = frame["type"]
    if kind == "message.added":
        return {**frame, "message": clean_question(frame["message"], at, shared)}
    if kind == "message.complete":
        return {**frame, "message": clean_answer(frame["message"], at, shared)}
    if kind == "run.error":
        return {**frame, "reference": ""}
    if kind == "answer.restarted":
        return {**frame, "attachments": shared.attached(frame["attachments"])}
    if "attachment" in frame:
        return frame if shared.attached([frame["attachment"]]) else None
    return frame if kind in STEPS | ANSWERS | {"run.status"} else None


def clean_question(message: Mapping[str, Any], at: int, shared: SnapshotFiles) -> dict[str, Any]:
    sender = message.get("sender")
    return {
        "id": f"question-{at + 1}",
        "role": message["role"],
        "text": message["text"],
        "attachments": shared.attached(message.get("attachments") or ()),
        "created_at": message.get("created_at") or "",
        **({"left_out": message["left_out"]} if "left_out" in message else {}),
        **({"sender": {name: sender[name] for name in SENDER if name in sender}} if sender else {}),
    }


def clean_answer(message: Mapping[str, Any], at: int, shared: SnapshotFiles) -> dict[str, Any]:
    return {
        "id": f"stored-{at + 1}",
        "role": message["role"],
        "attachments": shared.attached(message.get("attachments") or ()),
        "finish_reason": message.get("finish_reason") or "",
        **({"left_out": message["left_out"]} if "left_out" in message else {}),
        **({"text": message["text"]} if "text" in message else {}),
    }
