"""A model is asked, and its answer read to the end."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import aclosing

from apps.agent.assembly import Assembly, Reply
from apps.agent.events import Emit
from apps.agent.messages import Message
from apps.agent.model import Model, ModelRequest
from apps.agent.model_stages import ModelStages
from apps.agent.room import Room
from apps.agent.tools import Spend, unpaid
from apps.errors import ModelFailed, QuickAppError

logger = logging.getLogger(__name__)


async def ask(
    model: Model,
    request: ModelRequest,
    emit: Emit,
    *,
    name: str,
    stage_prefix: str | None = None,
    stage_parent: str | None = None,
    spend: Spend = unpaid,
    room: Room | None = None,
) -> Reply:
    """Ask once and show the answer while it arrives.

    `name` is the deployment's, for the usage; `stage_prefix` begins the ids of the model's own
    stages, and None hides them; below `stage_parent` they are shown as those of a sub-application
    are; `spend` is told what an answer cost that breaks off. Raises `ModelFailed`.
    """
    stages = ModelStages(emit, stage_prefix, stage_parent) if stage_prefix is not None else None
    assembly = Assembly(emit, stages=stages, room=room)
    try:
        await receive(model, request, assembly)
    except BaseException:
        spend(assembly.spent(name))
        raise
    return assembly.reply(name, ids_of(request.messages))


async def receive(model: Model, request: ModelRequest, assembly: Assembly) -> None:
    """Feed the assembly everything that the model answers.

    Raises `ModelFailed`, also for an answer that cannot be read to its end. One that has given its
    finish reason is at its end: what goes wrong after that takes nothing from it.
    """
    with assembly.closing():
        try:
            async with aclosing(model.stream(request)) as batches:
                async for batch in batches:
                    for delta in batch:
                        assembly.feed(delta)
                    if assembly.room.is_full:
                        assembly.cut()
                        break
        except Exception as error:
            if assembly.finish_reason:
                logger.warning("A model's stream broke after the answer: %s", error)
                return
            if isinstance(error, QuickAppError) or not assembly.has_begun:
                raise
            logger.exception("The answer of a model could not be read")
            raise ModelFailed(
                "The stream of the completion could not be read.", reason="stream"
            ) from error


def ids_of(messages: Iterable[Message]) -> set[str]:
    """Of the calls: an answer may not use them again."""
    return {call.id for message in messages for call in message.tool_calls}
