"""Implements the operations of the protocol."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence, Set
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from channels.db import database_sync_to_async
from django.utils import timezone

from apps.a2a import encoding, push_configs
from apps.a2a.cards import extended_card
from apps.a2a.encoding import Json
from apps.a2a.errors import TaskNotCancelable, UnsupportedOperation
from apps.a2a.models import PushConfig
from apps.a2a.requests import (
    ConfigListParams,
    ConfigParams,
    ListParams,
    NoParams,
    Params,
    PushConfigParams,
    SendParams,
    TaskParams,
    check_history_length,
)
from apps.a2a.sending import OperationContext, SentTask, send, whole_task
from apps.a2a.streaming import TaskStream
from apps.a2a.tasks import describe_task, find_task, list_tasks
from apps.conversations.answering.continuation import sweeper
from apps.conversations.asking import interruptions
from apps.live.journal import journal
from apps.live.models import Run

Updates = AsyncGenerator[Sequence[Json], None]


@dataclass(frozen=True, slots=True)
class ProtocolOperation:
    """An operation of the protocol. `call` returns its result; `stream`, if any, yields updates."""

    params: type[Params]
    call: Callable[[OperationContext, Any], Awaitable[Json]]
    stream: Callable[[OperationContext, Any], Awaitable[Updates]] | None = None
    writes: bool = False
    """True if the operation is rejected in read-only mode. Clients can still answer and cancel
    tasks in this mode.
    """


# --- Messages ---------------------------------------------------------------------------------


async def send_message(here: OperationContext, sent: SendParams) -> Json:
    """Send a message, and return its task when it has ended or asks a question. With
    `return_immediately`, return the task without waiting.
    """
    taken = await send(here, sent)
    if not sent.configuration.return_immediately:
        await wait_for_end(here, taken, ends_interrupted=True)
    return {"task": await stored_task(here, taken.run, sent.configuration.history_length)}


async def stream_message(here: OperationContext, sent: SendParams) -> Updates:
    taken = await send(here, sent)
    updates = follow(here, taken)
    repeated = encoding.TERMINAL | encoding.INTERRUPTED
    return with_task(here, taken, sent.configuration.history_length, updates, repeated)


async def subscribe(here: OperationContext, sent: TaskParams) -> Updates:
    run = await current_run(here, sent.id)
    if run.status not in Run.OPEN:
        raise UnsupportedOperation("The task has ended. Read it with GetTask.")
    seen = await database_sync_to_async(journal.last_number)(run.stream)
    taken = await database_sync_to_async(whole_task)(run)
    updates = follow(here, taken, ends_interrupted=False, seen=seen)
    return with_task(here, taken, 0, updates, encoding.TERMINAL)


async def with_task(
    here: OperationContext,
    taken: SentTask,
    history_length: int | None,
    updates: Updates,
    repeated: Set[str],
) -> Updates:
    """Yield the task without artifacts, and then its updates.

    A task in one of the `repeated` states is first reported as working, because clients stop
    reading at such a state. The updates then report the actual state.
    """
    async with aclosing(updates):
        task = await stored_task(here, taken.run, history_length, has_artifacts=False)
        if task["status"]["state"] in repeated:
            task["status"] = encoding.status(encoding.WORKING, timezone.now())
        yield [{"task": task}]
        async for batch in updates:
            yield batch


def follow(
    here: OperationContext, taken: SentTask, *, ends_interrupted: bool = True, seen: int = 0
) -> Updates:
    return TaskStream(
        here.hub, here.open_workspace, taken.run, taken.after, seen, ends_interrupted
    ).batches()


async def wait_for_end(here: OperationContext, taken: SentTask, *, ends_interrupted: bool) -> None:
    async with aclosing(follow(here, taken, ends_interrupted=ends_interrupted)) as updates:
        async for _ in updates:
            pass


# --- Tasks ------------------------------------------------------------------------------------


async def get_task(here: OperationContext, sent: TaskParams) -> Json:
    check_history_length(sent.history_length)
    return await stored_task(here, await current_run(here, sent.id), sent.history_length)


async def list_all(here: OperationContext, sent: ListParams) -> Json:
    return await database_sync_to_async(list_tasks)(here.caller, here.application, sent)  # type: ignore[no-any-return]


async def cancel(here: OperationContext, sent: TaskParams) -> Json:
    run = await current_run(here, sent.id)
    if run.status not in Run.OPEN or not await interruptions.stop(here.hub, run.stream):
        raise TaskNotCancelable
    taken = await database_sync_to_async(whole_task)(run)
    await wait_for_end(here, taken, ends_interrupted=False)
    return await stored_task(here, run, None)


async def current_run(here: OperationContext, id: str) -> Run:
    """Return the run of a task. If the run's process has died, resume the run in this process.
    Raises `TaskNotFound` if the caller has no such task.
    """
    find = database_sync_to_async(find_task)
    run: Run = await find(here.caller, here.application, id)
    if run.status in Run.GOING:
        await sweeper(here.hub, here.open_workspace).sweep(run.stream)
        run = await find(here.caller, here.application, id)
    return run


async def stored_task(
    here: OperationContext, run: Run, history_length: int | None, *, has_artifacts: bool = True
) -> Json:
    def read() -> Json:
        row = find_task(here.caller, here.application, str(run.pk))
        return describe_task(row, history_length, has_artifacts=has_artifacts)

    return await database_sync_to_async(read)()  # type: ignore[no-any-return]


# --- Push notifications -----------------------------------------------------------------------


async def create_config(here: OperationContext, sent: PushConfigParams) -> Json:
    def save() -> Json:
        run = find_task(here.caller, here.application, sent.task_id)
        return push_configs.describe_config(push_configs.save_config(run, sent))

    return await database_sync_to_async(save)()  # type: ignore[no-any-return]


async def get_config(here: OperationContext, sent: ConfigParams) -> Json:
    def read() -> Json:
        run = find_task(here.caller, here.application, sent.task_id)
        return push_configs.describe_config(push_configs.find_config(run, sent.id))

    return await database_sync_to_async(read)()  # type: ignore[no-any-return]


async def list_configs(here: OperationContext, sent: ConfigListParams) -> Json:
    def read() -> Json:
        return push_configs.list_configs(find_task(here.caller, here.application, sent.task_id))

    return await database_sync_to_async(read)()  # type: ignore[no-any-return]


async def delete_config(here: OperationContext, sent: ConfigParams) -> Json:
    """Delete a push notification configuration, if it exists."""

    def delete() -> None:
        run = find_task(here.caller, here.application, sent.task_id)
        PushConfig.objects.filter(run=run, name=sent.id.replace("\0", "")).delete()

    await database_sync_to_async(delete)()
    return {}


# --- Cards ------------------------------------------------------------------------------------


async def get_extended_card(here: OperationContext, _: NoParams) -> Json:
    return extended_card(here.application, here.name)


OPERATIONS: Mapping[str, ProtocolOperation] = {
    "SendMessage": ProtocolOperation(SendParams, send_message, writes=True),
    "SendStreamingMessage": ProtocolOperation(
        SendParams, send_message, stream_message, writes=True
    ),
    "GetTask": ProtocolOperation(TaskParams, get_task),
    "ListTasks": ProtocolOperation(ListParams, list_all),
    "CancelTask": ProtocolOperation(TaskParams, cancel),
    "SubscribeToTask": ProtocolOperation(TaskParams, get_task, subscribe),
    "CreateTaskPushNotificationConfig": ProtocolOperation(
        PushConfigParams, create_config, writes=True
    ),
    "GetTaskPushNotificationConfig": ProtocolOperation(ConfigParams, get_config),
    "ListTaskPushNotificationConfigs": ProtocolOperation(ConfigListParams, list_configs),
    "DeleteTaskPushNotificationConfig": ProtocolOperation(ConfigParams, delete_config, writes=True),
    "GetExtendedAgentCard": ProtocolOperation(NoParams, get_extended_card),
}
