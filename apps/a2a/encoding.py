"""Converts stored runs and their events to the protocol's tasks, messages and artifacts."""

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.conf import settings

from apps.live.models import Run

ANSWER = "answer"
"""The ID of the artifact that contains the text of an answer."""
MARKDOWN = "text/markdown"
JSON = "application/json"
Json = dict[str, Any]

WORKING = "TASK_STATE_WORKING"
COMPLETED = "TASK_STATE_COMPLETED"
INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
AUTH_REQUIRED = "TASK_STATE_AUTH_REQUIRED"
STATES = {
    Run.Status.QUEUED: "TASK_STATE_SUBMITTED",
    Run.Status.RUNNING: WORKING,
    Run.Status.WAITING: INPUT_REQUIRED,
    Run.Status.DONE: COMPLETED,
    Run.Status.FAILED: "TASK_STATE_FAILED",
    Run.Status.STOPPED: "TASK_STATE_CANCELED",
}
UNUSED_STATES = ("TASK_STATE_REJECTED",)
"""The protocol's task states that QuickApps never uses."""
TERMINAL = frozenset({COMPLETED, "TASK_STATE_FAILED", "TASK_STATE_CANCELED"})
INTERRUPTED = frozenset({INPUT_REQUIRED, AUTH_REQUIRED})


def timestamp(moment: datetime) -> str:
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def text_part(text: str) -> Json:
    return {"text": text, "mediaType": MARKDOWN}


def status(state: str, moment: datetime, message: Json | None = None) -> Json:
    fields: Json = {"state": state, "timestamp": timestamp(moment)}
    return fields if message is None else {**fields, "message": message}


def agent_message(id: str, run: Run, parts: Sequence[Json]) -> Json:
    return message(id, "ROLE_AGENT", run, parts)


def message(id: str, role: str, run: Run, parts: Sequence[Json]) -> Json:
    return {
        "messageId": id,
        "contextId": str(run.stream),
        "taskId": str(run.pk),
        "role": role,
        "parts": list(parts),
    }


def answer_artifact(text: str) -> Json:
    return {"artifactId": ANSWER, "name": ANSWER, "parts": [text_part(text)]}


def file_artifact(number: int, attachment: Mapping[str, Any]) -> Json:
    """Return the artifact for a file in the answer. Files are numbered from 1."""
    title = str(attachment.get("title") or "")
    name = {"name": title} if title else {}
    return {"artifactId": f"file-{number}", **name, "parts": [attachment_part(attachment)]}


def artifacts(text: str, attachments: Sequence[Mapping[str, Any]]) -> list[Json]:
    files = [file_artifact(number, one) for number, one in enumerate(attachments, start=1)]
    return [answer_artifact(text), *files] if text else files


def attachment_part(attachment: Mapping[str, Any]) -> Json:
    """Return a file as a message part with `url` for a stored file, `data` for JSON, or `raw` for
    other content.
    """
    media_type = str(attachment.get("type") or MARKDOWN)
    title = str(attachment.get("title") or "")
    fields: Json = {"mediaType": media_type}
    if title:
        fields["filename"] = title
    data, url = attachment.get("data"), attachment.get("url") or attachment.get("reference_url")
    if data is None:
        return {"url": public_url(str(url or "")), **fields}
    if media_type == JSON:
        try:
            return {"data": msgspec.json.decode(data), **fields}
        except msgspec.DecodeError:
            pass  # Send invalid JSON unchanged.
    return {"raw": raw_content(str(data), media_type), **fields}


def raw_content(data: str, media_type: str) -> str:
    """Return an attachment's content as base64. `data` is already base64 unless its type is text."""
    is_text = media_type.startswith("text/") or media_type == JSON
    return base64.b64encode(data.encode()).decode() if is_text else data


def public_url(url: str) -> str:
    """Return the URL at which the caller can download a stored file with their key. Other URLs are
    returned unchanged.
    """
    return f"{settings.PUBLIC_URL}/v1/{url}" if url.startswith("files/") else url


def status_update(run: Run, status: Json) -> Json:
    return {"statusUpdate": {**ids(run), "status": status}}


def artifact_update(run: Run, artifact: Json, *, append: bool, is_last: bool) -> Json:
    update = {**ids(run), "artifact": artifact, "append": append, "lastChunk": is_last}
    return {"artifactUpdate": update}


def ids(run: Run) -> Json:
    return {"taskId": str(run.pk), "contextId": str(run.stream)}
