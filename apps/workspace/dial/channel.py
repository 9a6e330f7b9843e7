"""Sends sign-in requests to the user over the channel that the client keeps open."""

import asyncio
import logging
import secrets
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from apps.errors import EgressRefused
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.headers import CHANNEL, credentials
from apps.workspace.dial.wire import encoded_body, send_request
from apps.workspace.egress.clients import CONNECT_SECONDS
from apps.workspace.egress.sdk_clients import HTTPError, InvalidURL, TimeoutException
from apps.workspace.egress.transport import Body, ResponseTooLarge
from apps.workspace.port import SignIn
from apps.workspace.services.event_stream import read_block, unify

logger = logging.getLogger(__name__)

PATH = "/v1/ops/client-channel/interact"
TOOLSET = "toolset/signin"
SERVICE = "external-service/signin"
"""The name of the JSON-RPC method that requests a sign-in to a service. It has a hyphen, unlike the
scope (`…/external_services/…`). Clients do not respond to unknown methods, so requests with another
spelling time out.
"""
MOST_BYTES = 1024 * 1024
"""The size limit for an answer in bytes, including heartbeats."""


async def sign_in(calls: Calls, toolset_ids: Sequence[str]) -> dict[str, SignIn]:
    """Ask the user to sign in to all toolsets in one request. Return the outcome for each toolset.
    Never raises.
    """
    ids = list(dict.fromkeys(toolset_ids))
    outcomes = await ask(calls, [(TOOLSET, {"toolsetId": toolset_id}) for toolset_id in ids])
    return dict(zip(ids, outcomes, strict=True))


async def sign_in_to_service(calls: Calls, scope: str) -> SignIn:
    """Ask the user to sign in to one service, and return the outcome. Never raises."""
    return (await ask(calls, [(SERVICE, {"url": scope})]))[0]


async def ask(calls: Calls, questions: Sequence[tuple[str, Mapping[str, str]]]) -> list[SignIn]:
    """Send the questions to the user, and return their outcomes in order. Never raises."""
    if not questions:
        return []
    if not calls.caller.client.channel:
        return ["unavailable"] * len(questions)
    # The IDs are random because Core merges requests with the same ID, even from an earlier prompt.
    batch = [
        {"jsonrpc": "2.0", "method": method, "params": params, "id": secrets.token_hex(16)}
        for method, params in questions
    ]
    seconds = calls.core.sign_in_seconds
    try:
        async with asyncio.timeout(seconds):
            answers = await interact(calls, batch, seconds)
    except (TimeoutError, TimeoutException):
        logger.warning("No user signed in within %g seconds", seconds)
        return ["timeout"] * len(questions)
    except (EgressRefused, HTTPError, InvalidURL, ResponseTooLarge) as error:
        logger.warning("Failed to send the sign-in request to the client: %s", type(error).__name__)
        return ["error"] * len(questions)
    return [answers.get(str(request["id"]), "error") for request in batch]


async def interact(
    calls: Calls, batch: Sequence[Mapping[str, Any]], seconds: float
) -> dict[str, SignIn]:
    """Send the questions in one batch, and return the outcomes by ID. Core does not close the
    response, so only the first event is read.
    """
    headers = {
        **credentials(calls.caller),
        CHANNEL: calls.caller.client.channel,
        "Accept": "text/event-stream",
    }
    limits = {"connect": min(CONNECT_SECONDS, seconds), "read": seconds, "write": seconds}
    more, content = encoded_body(batch, None)
    answer = await send_request(calls.core, "POST", PATH, {**headers, **more}, limits, content)
    async with aclosing(answer.body):
        if not answer.is_success:
            logger.warning("DIAL Core rejected the request for a sign-in: status %d", answer.status)
            return {}
        return read_answers(await first_event(answer.body))


async def first_event(body: Body) -> bytes:
    """Return the data of the first event that has any, or b"" if there is none."""
    rest = b""
    async for chunk in body.chunks(MOST_BYTES):
        *blocks, rest = unify(rest + chunk).split(b"\n\n")
        for block in blocks:
            data, _ = read_block(block)
            if data:
                return data
    return read_block(rest.strip())[0]


def read_answers(data: bytes) -> dict[str, SignIn]:
    try:
        answers = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        logger.warning("DIAL Core's response to a sign-in request is not JSON")
        return {}
    found: dict[str, SignIn] = {}
    for answer in answers if isinstance(answers, list) else [answers]:
        if not isinstance(answer, Mapping):
            continue
        if (error := answer.get("error")) is not None:
            logger.warning("The client did not sign in: %s", code_of(error))
        found[str(answer.get("id"))] = outcome_of(answer)
    return found


def outcome_of(answer: Mapping[str, Any]) -> SignIn:
    result = answer.get("result")
    if answer.get("error") is not None or result is None:
        return "error"
    return "success" if result == "success" else "denied"


def code_of(error: Any) -> str:
    """Return the code of a JSON-RPC error for the log. The error's message comes from the client,
    and is not logged.
    """
    code = error.get("code") if isinstance(error, Mapping) else None
    return f"code {code}" if isinstance(code, int) else "no code"
