"""Tests a model service with a small question, and returns a result for operators."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from apps.agent.events import TextDelta
from apps.agent.messages import ModelMessage
from apps.agent.model import Delta, Finish, Model, ModelRequest
from apps.errors import EgressRefused, ModelFailed
from apps.workspace.egress.guard import HostUnknown
from apps.workspace.egress.sdk_clients import InvalidURL, UnsupportedProtocol
from apps.workspace.egress.tls_failures import tls_problem

Step = Literal["address", "name", "connection", "encryption", "key", "model", "time", "answer"]
SECONDS = 30.0
QUESTION = ModelRequest((ModelMessage("user", "Answer with the one word: ready"),))
STATUS_RESULTS: dict[int, tuple[Step, str]] = {
    401: ("key", "The service does not accept the API key. Check the key."),
    403: ("key", "The API key may not use this model. Check what the key is allowed to do."),
    404: (
        "model",
        "The service does not know this model, or the base URL is wrong. "
        "Check the model’s name, and that the base URL ends with the version.",
    ),
    429: ("answer", "The service works, but refuses more requests for now. Try again later."),
}


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of a test."""

    failed: Step | None
    """The step that failed, or None on success."""
    text: str
    seconds: float | None = None
    """The time to the first token in seconds, or None if the test failed."""


async def probe(model: Model, seconds: float = SECONDS) -> ProbeResult:
    """Send a small question, and stop as soon as the answer begins. A failure of the service is
    returned in the result, not raised.
    """
    started = time.monotonic()
    try:
        async with asyncio.timeout(seconds):
            if not await has_answer(model):
                return ProbeResult("answer", "The response of the service has no text.")
    except TimeoutError:
        return ProbeResult("time", f"The service did not respond within {seconds:g} seconds.")
    except ModelFailed as failure:
        return explain(failure)
    passed = time.monotonic() - started
    return ProbeResult(None, f"The model answers; first token after {passed:.2f} seconds.", passed)


async def has_answer(model: Model) -> bool:
    """Send a small question, and return True if the model answers. Raises `ModelFailed` if the
    service fails.
    """
    async with aclosing(model.stream(QUESTION)) as batches:
        async for batch in batches:
            if any(map(says_something, batch)):
                return True
    return False


def says_something(delta: Delta) -> bool:
    """Return True if the delta shows that the model is answering. A finish reason counts too,
    because a model may spend the whole answer on thinking.
    """
    return isinstance(delta, Finish) or (isinstance(delta, TextDelta) and bool(delta.text))


def explain(failure: ModelFailed) -> ProbeResult:
    """Return a result that explains the failure in our own words, because the service's text is not
    trusted.
    """
    if failure.status is not None:
        step, text = STATUS_RESULTS.get(
            failure.status,
            ("answer", f"The service returned HTTP status {failure.status}."),
        )
        return ProbeResult(step, text)
    if failure.reason in ("stream", "unreadable"):
        return ProbeResult(
            "answer", f"{failure} Check that the service uses the API of this provider."
        )
    return explain_connection(failure)


def explain_connection(failure: ModelFailed) -> ProbeResult:
    if problem := tls_problem(failure):
        return ProbeResult("encryption", problem)
    for cause in causes(failure):
        if isinstance(cause, EgressRefused):
            return ProbeResult("address", str(cause))
        if isinstance(cause, (InvalidURL, UnsupportedProtocol)):
            return ProbeResult("address", "The base URL has to begin with https:// or http://.")
        if isinstance(cause, HostUnknown):
            return ProbeResult("name", cause.text)
        if isinstance(cause, ConnectionRefusedError):
            return ProbeResult(
                "connection",
                "Nothing listens at this host and port. Check the base URL, and that the service runs.",
            )
    if failure.reason == "timeout":
        return ProbeResult("time", str(failure))
    return ProbeResult("connection", str(failure))


def causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
