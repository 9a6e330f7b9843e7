"""Rewrites a conversation after a failed model call, so that the call can be retried."""

import logging
from collections.abc import Awaitable, Callable, Sequence

from apps.agent.ledger import Ledger
from apps.agent.messages import ModelMessage
from apps.agent.progress import Turn
from apps.agent.steps.replay import record_recovery
from apps.errors import ModelFailed

logger = logging.getLogger(__name__)

Recovery = Callable[[ModelFailed, Sequence[ModelMessage]], Awaitable[Sequence[ModelMessage] | None]]
"""A function that returns a rewritten conversation for another attempt, or None if it does not
apply to the failure.
"""


async def recover(
    recoveries: Sequence[Recovery], ledger: Ledger, turn: Turn, failure: ModelFailed
) -> bool:
    """Rewrite the conversation with the first recovery that applies to the failure. Return False if
    none applies or the run has already recovered once.
    """
    progress = turn.progress
    for recovery in () if progress.conversation.has_recovered else recoveries:
        try:
            rewritten = await recovery(failure, turn.conversation)
        except Exception:
            logger.exception("Failed to recover from a model error; raising the original error")
            continue
        if rewritten is not None:
            progress.conversation.recover(tuple(rewritten))
            turn.deferred.show_changes(turn.conversation, progress.conversation.base)
            if ledger.is_kept:
                record_recovery(ledger, progress)
            logger.warning("Model call failed, retrying with rewritten messages")
            return True
    return False
