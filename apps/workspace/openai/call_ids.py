"""Converts the IDs of tool calls for services that reject the original IDs.

OpenAI rejects IDs that are longer than 40 characters. Mistral accepts only nine letters and digits.
Other services need unchanged IDs, because these contain the name of the tool or a thought.
Therefore, IDs are rewritten only for services that have rejected an ID.
"""

import base64
import hashlib
import logging
import re
from dataclasses import dataclass, replace
from functools import lru_cache

from apps.agent.messages import ModelMessage
from apps.errors import ModelFailed
from apps.process_state import on_reset

logger = logging.getLogger(__name__)

MOST_DEPLOYMENTS = 1_000
LENGTH = 9
"""The exact length in characters that Mistral requires for IDs."""
_plain = re.compile(rf"[a-zA-Z0-9]{{{LENGTH}}}")
_rejected = re.compile(
    r"tool.?(calls?|use).{0,20}ids?\b.{0,200}(too long|length|alphanumeric|a-z|pattern)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(slots=True)
class CallIds:
    """The form of call IDs that a deployment accepts: any, or only nine letters and digits if
    `are_plain` is True.
    """

    deployment: str
    are_plain: bool = False

    def has_learned(self, failure: ModelFailed) -> bool:
        """Return True if the failure means that the service rejects the IDs, and set `are_plain`."""
        if not _rejected.search(failure.said):
            return False
        if not self.are_plain:
            logger.warning("The deployment %s rejects IDs of tool calls", self.deployment)
        self.are_plain = True
        return True

    def convert(self, message: ModelMessage) -> ModelMessage:
        """Return the message with the IDs of its calls in the accepted form. Equal IDs remain
        equal.
        """
        calls = tuple(replace(call, id=plain_id(call.id)) for call in message.tool_calls)
        result = message.tool_call_id
        return replace(
            message,
            tool_calls=calls,
            tool_call_id=None if result is None else plain_id(result),
        )


@lru_cache(maxsize=MOST_DEPLOYMENTS)
def call_ids_of(address: str, deployment: str) -> CallIds:
    """Return what this process has learned about the call IDs that a deployment of the service at
    `address` accepts.
    """
    return CallIds(deployment)


on_reset(call_ids_of.cache_clear)


def plain_id(call_id: str) -> str:
    """Return an ID of nine letters and digits that is derived from `call_id`, or `call_id` itself
    if it already has this form.
    """
    if _plain.fullmatch(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).digest()
    return base64.b64encode(digest, b"xy").decode()[:LENGTH]
