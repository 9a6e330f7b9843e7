"""Conversations that are rewritten because the model failed with them."""

import logging
from collections.abc import Awaitable, Callable, Sequence

from apps.agent.ledger import Ledger
from apps.agent.messages import Message
from apps.agent.model_steps import record_recovery
from apps.agent.progress import Turn
from apps.errors import ModelFailed

logger = logging.getLogger(__name__)

Recovery = Callable[[ModelFailed, Sequence[Message]], Awaitable[Sequence[Message] | None]]
"""A conversation to keep, with which the model may not fail again; None if there is none."""


async def recover(
    recoveries: Sequence[Recovery], ledger: Ledger, turn: Turn, failure: ModelFailed
) -> bool:
    """Whether the conversation was rewritten, so that the model can be asked again."""
    progress = turn.progress
    for recovery in () if progress.has_recovered else recoveries:
        try:
            rewritten = await recovery(failure, turn.conversation)
        except Exception:
            logger.exception("A recovery failed; the model's error stands")
            continue
        if rewritten is not None:
            progress.has_recovered = True
            progress.base = tuple(rewritten)
            progress.added.clear()
            turn.deferred.show_changes(turn.conversation, progress.base)
            if ledger.is_kept:
                record_recovery(ledger, progress)
            logger.warning("Model call failed and is asked again with other messages")
            return True
    return False
