"""Finds tasks and describes them as JSON. A task is a run that was started through A2A."""

import base64
import binascii
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from apps.a2a import encoding
from apps.a2a.encoding import Json
from apps.a2a.errors import InvalidParams, TaskNotFound
from apps.a2a.models import ClientMessage
from apps.a2a.questions import open_questions, question_message
from apps.a2a.requests import MOST_LISTED, ListParams, check_history_length, unknown_value
from apps.accounts.caller import Caller
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import own
from apps.conversations.models import Message
from apps.conversations.outcome.endings import gather_transcript
from apps.datetimes import read_datetime
from apps.live.doors import A2A
from apps.live.events import RunFailed
from apps.live.journal import journal
from apps.live.models import Interaction, Run

LISTED = 50


def tasks_of(caller: Caller, application: ResolvedApplication) -> QuerySet[Run]:
    """Return the runs of the caller's tasks with the application. The annotation `changed_at` is
    the time of the last change.
    """
    conversations = own(caller).filter(application=application.id)
    streams = conversations.values("pk")
    rows = Run.objects.filter(bucket=caller.bucket, door=A2A, stream__in=streams)
    return rows.annotate(changed_at=Coalesce("finished_at", "beat_at"))


def find_task(caller: Caller, application: ResolvedApplication, id: str) -> Run:
    """Return the run of a task. Raises `TaskNotFound` if the caller has no such task."""
    try:
        pk = UUID(id)
    except ValueError:
        raise TaskNotFound from None
    run = tasks_of(caller, application).filter(pk=pk).first()
    if run is None:
        raise TaskNotFound
    return run


def describe_task(
    run: Run, history_length: int | None = None, *, has_artifacts: bool = True
) -> Json:
    """Return a task as JSON, with its newest `history_length` messages, or all messages if
    `history_length` is None.
    """
    answer = Message.objects.filter(run=run, role=Message.Role.ASSISTANT).first()
    task: Json = {"id": str(run.pk), "contextId": str(run.stream), "status": current_status(run)}
    if has_artifacts and (found := artifacts_of(run, answer)):
        task["artifacts"] = found
    if history_length != 0 and (messages := history(run, answer)):
        task["history"] = messages if history_length is None else messages[-history_length:]
    return task


def current_status(run: Run) -> Json:
    """Return the status of a task as JSON, with its open questions or the reason why it failed."""
    moment = run.finished_at or run.beat_at
    asked = open_questions(run)
    if asked:
        state = encoding.INPUT_REQUIRED
        if all(one.kind == "sign_in" for one in asked):
            state = encoding.AUTH_REQUIRED
        return encoding.status(state, moment, question_message(run, asked))
    # All questions are answered, and a process will resume the task.
    if run.status == Run.Status.WAITING:
        return encoding.status(encoding.WORKING, moment)
    if run.status == Run.Status.FAILED:
        return encoding.status(encoding.STATES[Run.Status.FAILED], moment, failure_message(run))
    return encoding.status(encoding.STATES[Run.Status(run.status)], moment)


def failure_message(run: Run) -> Json | None:
    failures = [event for event in journal.read_run(run.pk) if isinstance(event, RunFailed)]
    if not failures:
        return None
    text, reference = failures[-1].text, failures[-1].reference
    parts = [encoding.text_part(f"{text} (error reference: {reference})" if reference else text)]
    return encoding.agent_message(f"{run.pk}-error", run, parts)


def artifacts_of(run: Run, answer: Message | None) -> list[Json]:
    if answer is not None:
        return encoding.artifacts(answer.text, answer.attachments)
    if run.status not in Run.OPEN:
        return []
    transcript = gather_transcript(run)
    return encoding.artifacts(transcript.text, transcript.attachments)


def history(run: Run, answer: Message | None) -> list[Json]:
    """Return a task's messages: the user's message, questions with their answers, and the answer."""
    sent_ids = dict(ClientMessage.objects.filter(run=run).values_list("key", "message_id"))
    messages: list[Json] = []
    question = Message.objects.filter(run=run, role=Message.Role.USER).first()
    if question is not None:
        parts = [{"text": question.text}] if question.text else []
        parts += [encoding.attachment_part(one) for one in question.attachments]
        id = sent_ids.get(ClientMessage.QUESTION, str(question.uuid))
        messages.append(encoding.message(id, "ROLE_USER", run, parts))
    for asked in Interaction.objects.filter(run=run).order_by("pk"):
        if asked.kind == "client_tool":
            continue
        messages.append(question_message(run, [asked]))
        if asked.answer is not None:
            id = sent_ids.get(asked.key, f"{asked.pk}-answer")
            messages.append(encoding.message(id, "ROLE_USER", run, answer_parts(asked.answer)))
    if answer is not None:
        parts = [one["parts"][0] for one in encoding.artifacts(answer.text, answer.attachments)]
        if parts:
            messages.append(encoding.agent_message(str(answer.uuid), run, parts))
    return messages


def answer_parts(given: Any) -> list[Json]:
    """Return an answer to a question as message parts: text for a text answer, otherwise data."""
    if given.get("text") and not given.get("choices"):
        return [{"text": given["text"]}]
    return [{"data": given}]


# --- Lists ------------------------------------------------------------------------------------


def list_tasks(caller: Caller, application: ResolvedApplication, sent: ListParams) -> Json:
    """Return a page of the caller's tasks, most recently changed first. Raises `InvalidParams` if a
    parameter is invalid.
    """
    size = LISTED if sent.page_size is None else sent.page_size
    if not 1 <= size <= MOST_LISTED:
        raise InvalidParams(f"pageSize is {size}; use 1 to {MOST_LISTED}.")
    check_history_length(sent.history_length)
    # The type does not include annotated columns.
    rows: Any = filtered(tasks_of(caller, application), sent)
    total = rows.count()
    if sent.page_token:
        moment, pk = read_token(sent.page_token)
        rows = rows.filter(Q(changed_at__lt=moment) | Q(changed_at=moment, pk__lt=pk))
    page = list(rows.order_by("-changed_at", "-pk")[: size + 1])
    shown = page[:size]
    described = [
        describe_task(run, sent.history_length, has_artifacts=sent.include_artifacts)
        for run in shown
    ]
    token = write_token(shown[-1]) if len(page) > size else ""
    return {"tasks": described, "nextPageToken": token, "pageSize": size, "totalSize": total}


def filtered(rows: Any, sent: ListParams) -> QuerySet[Run]:
    """Filter tasks by the parameters. Raises `InvalidParams` if one is invalid."""
    if sent.context_id:
        try:
            rows = rows.filter(stream=UUID(sent.context_id))
        except ValueError:
            rows = rows.none()
    if sent.status and sent.status != "TASK_STATE_UNSPECIFIED":
        rows = rows.filter(status__in=statuses_of(sent.status))
    if sent.status_timestamp_after:
        rows = rows.filter(changed_at__gte=read_moment(sent.status_timestamp_after))
    found: QuerySet[Run] = rows
    return found


def statuses_of(state: str) -> Sequence[str]:
    """Return the run statuses for a task state. Raises `InvalidParams` if the state is unknown."""
    if state in (*encoding.UNUSED_STATES, encoding.AUTH_REQUIRED):
        return ()
    found = [run_status for run_status, name in encoding.STATES.items() if name == state]
    if not found:
        raise unknown_value("status", state, *encoding.STATES.values(), *encoding.UNUSED_STATES)
    return found


def read_moment(written: str) -> datetime:
    """Parse an ISO 8601 time. Raises `InvalidParams` if it is invalid."""
    try:
        return read_datetime(written)
    except ValueError as error:
        raise InvalidParams(f"statusTimestampAfter: {error}") from error


def write_token(run: Any) -> str:
    text = f"{run.changed_at.isoformat()}|{run.pk}"
    return base64.urlsafe_b64encode(text.encode()).decode()


def read_token(token: str) -> tuple[datetime, UUID]:
    """Parse a page token into a time and the ID of a run. Raises `InvalidParams` if it is invalid."""
    try:
        moment, _, pk = base64.urlsafe_b64decode(token.encode()).decode().partition("|")
        return datetime.fromisoformat(moment).astimezone(UTC), UUID(pk)
    except (binascii.Error, ValueError, OverflowError):
        text = "pageToken: use the nextPageToken of a previous page, with the same filters."
        raise InvalidParams(text) from None
