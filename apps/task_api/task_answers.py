"""Serves the endpoint through which programs answer the questions of a waiting task."""

from typing import Any

from channels.db import database_sync_to_async
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from apps.conversations.interactions.answer_frames import Answer, AnswerFrame
from apps.conversations.interactions.decisions import answer_interaction
from apps.doors.bodies import LARGEST_FRAME_BYTES, first_problem
from apps.errors import Missing, Refused
from apps.live.events import shorten_key
from apps.live.models import LONGEST_KEY, Interaction, Run
from apps.task_api.tasks import TaskConsumer, task

FRAME: TypeAdapter[AnswerFrame] = TypeAdapter(Answer)


class TaskAnswer(BaseModel):
    """An answer to the question with this key. Its fields depend on the question's type."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(max_length=LONGEST_KEY)
    answer: dict[str, Any]


class AnswerConsumer(TaskConsumer):
    """Serves `POST /api/IAIAssistantApi/tasks/{id}/answer`."""

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
