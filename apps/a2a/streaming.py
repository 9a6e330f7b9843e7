"""Streams the events of a running task as updates."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import timezone

from apps.a2a import encoding
from apps.a2a.encoding import Json
from apps.a2a.tasks import current_status
from apps.agent.events import (
    AttachmentAdded,
    InteractionRequested,
    RefusalDelta,
    TextDelta,
    TurnRestarted,
)
from apps.agent.messages import Attachment, attachment_to_dict
from apps.conversations.answering.answers import OpenWorkspace
from apps.conversations.answering.continuation import sweeper
from apps.live.events import InteractionResolved, NumberedEvent, StatusChanged, join_texts
from apps.live.hub import Hub
from apps.live.journal import journal
from apps.live.journal.notifications import listening
from apps.live.models import Run
from apps.live.replay import follow_events

Batches = AsyncGenerator[Sequence[Json], None]


@dataclass(slots=True)
class ArtifactWriter:
    """Converts an answer's events to artifact updates. The first text creates an artifact, and
    further text is appended.
    """

    run: Run
    has_text: bool = False
    files: int = 0

    def text(self, text: str) -> list[Json]:
        if not text:
            return []
        artifact, append = encoding.answer_artifact(text), self.has_text
        self.has_text = True
        return [encoding.artifact_update(self.run, artifact, append=append, is_last=False)]

    def file(self, attachment: Attachment) -> Json:
        self.files += 1
        artifact = encoding.file_artifact(self.files, attachment_to_dict(attachment))
        return encoding.artifact_update(self.run, artifact, append=False, is_last=True)

    def restart(self, event: TurnRestarted) -> list[Json]:
        """Return updates that replace all artifacts sent so far."""
        artifact = encoding.answer_artifact(event.text)
        text = encoding.artifact_update(self.run, artifact, append=False, is_last=False)
        self.has_text, self.files = True, 0
        return [text, *(self.file(attachment) for attachment in event.attachments)]

    def end(self) -> list[Json]:
        """Return an update without text that marks the text as complete, or [] if there is no text."""
        if not self.has_text:
            return []
        artifact = encoding.answer_artifact("")
        return [encoding.artifact_update(self.run, artifact, append=True, is_last=True)]


@dataclass(slots=True)
class TaskStream:
    """Streams the updates of a task after the event number `after`.

    Status updates up to event number `seen` are skipped, except for the final one. The stream ends
    with the task or, if `ends_interrupted` is True, with a question.
    """

    hub: Hub
    open_workspace: OpenWorkspace
    run: Run
    after: int
    seen: int
    ends_interrupted: bool
    is_over: bool = False

    async def batches(self) -> Batches:
        """Yield batches of updates. A batch is empty after `HEARTBEAT_SECONDS` without events."""
        writer, sweeping = ArtifactWriter(self.run), sweeper(self.hub, self.open_workspace)
        if self.after:
            await database_sync_to_async(read_earlier)(writer, self.after)
        await sweeping.sweep(self.run.stream)  # Resume an answered task here if there is capacity.
        seconds = settings.HEARTBEAT_SECONDS
        batches = follow_events(self.hub, self.run.stream, self.after, idle=seconds)
        async with listening(self.hub.streams, self.run.stream), aclosing(batches):
            async for batch in batches:
                if not batch:
                    await sweeping.sweep(self.run.stream)
                    if await database_sync_to_async(stored_status)(self.run) is None:
                        return
                updates: list[Json] = []
                for number, run, event in join_texts(batch):
                    if run == self.run.pk and not self.is_over:
                        updates += await self.encode((number, run, event), writer)
                yield updates
                if self.is_over:
                    return

    async def encode(self, said: NumberedEvent, writer: ArtifactWriter) -> list[Json]:
        number, _, event = said
        match event:
            case TextDelta(text) | RefusalDelta(text):
                return writer.text(text)
            case TurnRestarted():
                return writer.restart(event)
            case AttachmentAdded(attachment):
                return [writer.file(attachment)]
            case StatusChanged(status):
                return await self.change(number, status, writer)
            case InteractionRequested(asked) if asked.kind == "elicitation":
                return await self.change(number, Run.Status.WAITING, writer)
            case InteractionResolved(kind="elicitation"):
                return await self.change(number, Run.Status.RUNNING, writer)
            case _:
                return []  # Steps of the answer, which A2A does not send.

    async def change(self, number: int, status: str, writer: ArtifactWriter) -> list[Json]:
        is_end = status not in Run.OPEN
        if number <= self.seen and not is_end:
            return []
        told = encoding.status(encoding.STATES[Run.Status(status)], timezone.now())
        if is_end or status == Run.Status.WAITING:
            stored = await database_sync_to_async(stored_status)(self.run)
            # Send a final status even if it could not be stored.
            if stored is not None and (not is_end or stored["state"] in encoding.TERMINAL):
                told = stored
        interrupted = self.ends_interrupted and told["state"] in encoding.INTERRUPTED
        self.is_over = is_end or interrupted
        last = writer.end() if is_end else []
        return [*last, encoding.status_update(self.run, told)]


def stored_status(run: Run) -> Json | None:
    """Return the current status of the run as JSON, or None if its conversation was deleted."""
    row = Run.objects.filter(pk=run.pk).first()
    return None if row is None else current_status(row)


def read_earlier(writer: ArtifactWriter, until: int) -> None:
    """Process the run's events up to number `until`, so that the writer can continue after them."""
    for event in journal.read_run(writer.run.pk, until):
        match event:
            case TextDelta() | RefusalDelta():
                writer.has_text = True
            case AttachmentAdded():
                writer.files += 1
            case TurnRestarted():
                writer.restart(event)
            case _:
                pass
