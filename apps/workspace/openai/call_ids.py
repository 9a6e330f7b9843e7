"""Converts the IDs of tool calls to a form that a strict service accepts.

OpenAI rejects IDs of more than 40 characters. Mistral accepts only nine letters and digits. Other
services need unchanged IDs, because these contain the name of the tool or a thought. Therefore, IDs
are rewritten only for services that have rejected an ID.
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
"""Mistral accepts only IDs of this length."""
_plain = re.compile(rf"[a-zA-Z0-9]{{{LENGTH}}}")
_rejected = re.compile(
    r"tool.?(calls?|use).{0,20}ids?\b.{0,200}(too long|length|alphanumeric|a-z|pattern)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(slots=True)
class CallIds:
    """The form of IDs that a deployment accepts. `are_plain` means only IDs of nine letters and
    digits.
    """

    deployment: str
    are_plain: bool = False

    def has_learned(self, failure: ModelFailed) -> bool:
        """Return True if the service has rejected an ID. From then on, `are_plain` is True."""
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
    """Return the form of IDs that this process knows to be accepted by a deployment of the service
    at `address`.
    """
    return CallIds(deployment)


on_reset(call_ids_of.cache_clear)


def plain_id(call_id: str) -> str:
    """Return an ID of nine letters and digits that is derived from the ID, or the ID itself if it
    already has this form.
    """
    if _plain.fullmatch(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).digest()
    return base64.b64encode(digest, b"xy").decode()[:LENGTH]
