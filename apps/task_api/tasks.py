"""Serves the endpoints through which programs ask questions. Each question is a task that can be
queried and canceled.
"""

from typing import Any, Literal, Self
from uuid import UUID, uuid4

from channels.db import database_sync_to_async
from django.conf import settings
from django.db.models import Q
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from apps.accounts.caller import Caller, bucket_of
from apps.accounts.models import ServiceAccount
from apps.catalog import resolve
from apps.conversations.access import person_stream
from apps.conversations.answering import answers
from apps.conversations.answering.answers import OpenWorkspace
from apps.conversations.answering.continuation import sweeper
from apps.conversations.ask import Ask
from apps.conversations.asking import interruptions
from apps.conversations.interactions.answer_frames import Answer, AnswerFrame
from apps.conversations.interactions.decisions import answer_interaction
from apps.conversations.models import Message, QueuedMessage
from apps.doors.bodies import LARGEST_FRAME_BYTES, first_problem
from apps.doors.json_consumer import JsonConsumer
from apps.errors import Closing, Conflict, Missing, Refused
from apps.live.events import RunFailed, shorten_key
from apps.live.hub import HUB, Hub
from apps.live.journal import journal
from apps.live.journal.notifications import wake_viewers
from apps.live.models import LONGEST_KEY, Interaction, Run
from apps.runs.workspaces import open_workspace
from apps.task_api.message_answers import answer_question

FRAME: TypeAdapter[AnswerFrame] = TypeAdapter(Answer)


class Submission(Ask):
    """A question to an application."""

    type: Literal["ask"] = "ask"
    application: str = Field(pattern=r"^[-a-zA-Z0-9_]{1,50}(@[0-9]{1,9})?$")
    """A slug, or `slug@3` for a version."""
    id: UUID = Field(default_factory=uuid4)
    """The client's ID for the question. If the ID has already been sent, it refers to the existing
    task.
    """
    text: str = ""
    surface: Literal[""] = ""  # A program has no page.

    @model_validator(mode="after")
    def live_version_when_queued(self) -> Self:
        if self.while_running == "queue" and "@" in self.application:
            raise ValueError(
                "while_running: a queued message cannot have a version; send the slug alone"
            )
        return self


class TaskConsumer(JsonConsumer):
    """Serves `GET /api/IAIAssistantApi/tasks/{id}`, which returns a task."""

    def __init__(self, hub: Hub = HUB, open_workspace: OpenWorkspace = open_workspace) -> None:
        super().__init__()
        self.hub = hub
        self.open_workspace = open_workspace

    async def answer(self) -> None:
        caller = await self.caller()
        await self.read_body(0)
        if (queued := await self.find_queued(caller)) is not None:
            await self.send_json(200, queued_task(queued))
            return
        run = await self.find(caller)
        if run.status in Run.GOING:
            await sweeper(self.hub, self.open_workspace).sweep(run.stream)
            run = await self.find(caller)
        await self.send_json(200, await database_sync_to_async(task)(run))

    async def find_queued(self, caller: Caller) -> QueuedMessage | None:
        visible = await database_sync_to_async(visible_to)(
            caller, "conversation__owner", "conversation__application"
        )
        rows = QueuedMessage.objects.filter(visible).select_related("conversation__application")
        return await rows.filter(pk=self.scope["url_route"]["kwargs"]["task"]).afirst()

    async def find(self, caller: Caller) -> Run:
        """Return the run of the task in the URL. Raises `Missing` if the caller does not have it."""
        pk = self.scope["url_route"]["kwargs"]["task"]
        visible = await database_sync_to_async(visible_to)(caller, "bucket", "application_pk")
        run = await Run.objects.filter(visible, pk=pk).afirst()
        if run is None:
            raise Missing("task_not_found", "This task does not exist.")
        return run


class CancelConsumer(TaskConsumer):
    """Serves `POST /api/IAIAssistantApi/tasks/{id}/cancel`, which stops a task."""

    methods = ("POST",)
    finishes_answers = True

    async def answer(self) -> None:
        caller = await self.caller()
        await self.read_body(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        queued = await self.find_queued(caller)
        if queued is not None and (await queued.adelete())[0]:
            await wake_viewers(self.hub.streams, person_stream(caller.bucket))
            await self.send_json(202, {**queued_task(queued), "status": Run.Status.STOPPED})
            return
        run = await self.find(caller)
        if run.status not in Run.OPEN or not await interruptions.stop(self.hub, run.stream):
            raise Conflict("no_run", "The task has ended.")
        await self.send_json(202, await database_sync_to_async(task)(await self.find(caller)))


class SubmitConsumer(TaskConsumer):
    """Serves `POST /api/IAIAssistantApi/SubmitMessage`, which sends a question or answers one."""

    methods = ("POST",)

    async def answer(self) -> None:
        caller = await self.caller()
        sent = read_submission(await self.read_body(LARGEST_FRAME_BYTES))
        if self.hub.is_closing:
            raise Closing("server_stopping", "The server is restarting. Try again in a moment.")
        application = await resolve.find(sent.application, caller)
        if sent.conversation is not None:
            await sweeper(self.hub, self.open_workspace).sweep(sent.conversation)
        question = await answer_question(self.hub, caller, application.slug, sent)
        if question is not None:
            await self.send_json(202, answered_task(question))
            return
        how = (self.hub, caller, application, self.open_workspace)
        taken = await answers.ask_or_queue(*how, sent)
        task_id = taken.pk if isinstance(taken, QueuedMessage) else taken.run.pk
        told = {"task_id": str(task_id), "conversation": str(taken.conversation.pk)}
        await self.send_json(202, told)


def visible_to(caller: Caller, bucket: str, application: str) -> Q:
    """Return a filter for the caller's tasks. `bucket` and `application` are the names of the
    columns in the filtered table.

    With a service account's API key, the account's own tasks are included, because its webhooks
    send messages on its behalf.
    """
    own = Q(**{bucket: caller.bucket})
    account = ServiceAccount.objects.filter(user=caller.key_user_id or 0)
    if caller.kind != "key" or not account.exists():
        return own
    others = Q(**{bucket: bucket_of(caller.key_user_id, caller.team)})
    if caller.limits.scope is not None:
        others &= Q(**{f"{application}__in": caller.limits.scope})
    return own | others


def read_submission(body: bytes) -> Submission:
    """Parse the body. Raises `Refused` with the name of the first invalid field."""
    try:
        return Submission.model_validate_json(body)
    except ValidationError as error:
        text = f"The message is not valid. {first_problem(error)}."
        raise Refused("bad_request", text) from error


def answered_task(question: Interaction) -> dict[str, str]:
    """Return the JSON of a task whose question was answered by a message."""
    run = question.run
    return {"task_id": str(run.pk), "conversation": str(run.stream), "answered": question.key}


def queued_task(row: QueuedMessage) -> dict[str, Any]:
    """Return the JSON of a task for a queued message. `error` explains why it could not be sent."""
    return {
        "task_id": str(row.pk),
        "conversation": str(row.conversation_id),
        "application": row.conversation.application_slug,
        "status": Run.Status.QUEUED,
        "started_at": row.created_at.isoformat(),
        "finished_at": None,
        "message": None,
        "error": {"text": row.problem, "reference": ""} if row.problem else None,
        "questions": [],
    }


def task(run: Run) -> dict[str, Any]:
    """Return the JSON of a task for a run. `message` is the answer, or None until the run has
    ended.
    """
    answer = Message.objects.filter(run=run, role=Message.Role.ASSISTANT).first()
    finished = run.finished_at
    return {
        "task_id": str(run.pk),
        "conversation": str(run.stream),
        "application": run.application,
        "status": run.status,
        "started_at": run.started_at.isoformat(),
        "finished_at": None if finished is None else finished.isoformat(),
        "message": None if answer is None else message_of(answer),
        "error": error_of(run) if run.status == Run.Status.FAILED else None,
        "questions": [question_of(one) for one in open_questions(run)],
    }


def open_questions(run: Run) -> list[Interaction]:
    """Return the open questions of a waiting run, except browser tool calls and timers."""
    if run.status != Run.Status.WAITING:
        return []
    rows = Interaction.objects.filter(run=run, answer__isnull=True)
    return list(rows.exclude(kind__in=("client_tool", "timer")).order_by("pk"))


def question_of(question: Interaction) -> dict[str, Any]:
    return {
        "key": question.key,
        "kind": question.kind,
        "asked": question.asked,
        "due": None if question.due_at is None else question.due_at.isoformat(),
    }


def message_of(answer: Message) -> dict[str, Any]:
    return {
        "id": str(answer.uuid),
        "text": answer.text,
        "attachments": answer.attachments,
        "finish_reason": answer.finish_reason,
    }


def error_of(run: Run) -> dict[str, str] | None:
    said = journal.read_run(run.pk)
    failures = [event for event in said if isinstance(event, RunFailed)]
    return {"text": failures[-1].text, "reference": failures[-1].reference} if failures else None


class TaskAnswer(BaseModel):
    """A client's answer to a question. `key` identifies the question. The question's type
    determines the other fields.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(max_length=LONGEST_KEY)
    answer: dict[str, Any]


class AnswerConsumer(TaskConsumer):
    """Serves `POST /api/IAIAssistantApi/tasks/{id}/answer`, which answers a task's question."""

    methods = ("POST",)
    finishes_answers = True

    async def answer(self) -> None:
        caller = await self.caller()
        body = await self.read_body(LARGEST_FRAME_BYTES)
        run = await self.find(caller)
        frame = await database_sync_to_async(read_answer)(run, body)
        await answer_interaction(self.hub, caller, None, frame)
        await self.send_json(202, await database_sync_to_async(task)(await self.find(caller)))


def read_answer(run: Run, body: bytes) -> AnswerFrame:
    """Parse the body. Raises `Refused` with the name of an invalid field, or `Missing` if the task
    has no such question.
    """
    try:
        sent = TaskAnswer.model_validate_json(body)
        rows = Interaction.objects.filter(run=run, key=shorten_key(sent.key))
        kind = rows.values_list("kind", flat=True).first()
        if kind is None:
            raise Missing("answered", "The task has no question with this key.")
        frame = {"type": "answer", "kind": kind, "run": run.pk, "key": sent.key}
        return FRAME.validate_python({**frame, "answer": sent.answer})
    except ValidationError as error:
        text = f"The answer is not valid. {first_problem(error)}."
        raise Refused("bad_request", text) from error
