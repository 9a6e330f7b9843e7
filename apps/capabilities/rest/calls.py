"""Calls an operation of a REST service, and converts the response to a tool result."""

import asyncio
import uuid
from dataclasses import replace

from apps import tracing
from apps.agent.stages import Stage
from apps.agent.surrogates import well_formed
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Key, Opening
from apps.capabilities.rest.authorizations import authorize
from apps.capabilities.rest.exchanges import ServiceResponse, exchange
from apps.capabilities.rest.operations import Operation
from apps.capabilities.rest.requests import RequestDraft, add_forwarded, fill_draft
from apps.capabilities.rest.response_text import (
    decode,
    error_block,
    hide_in_body,
    response_block,
)
from apps.capabilities.wrappers.attachments import keep_file
from apps.capabilities.wrappers.failure_handling import ShownError
from apps.capabilities.wrappers.sign_in import ask_person
from apps.errors import FileRefused
from apps.manifest.kinds.rest import is_credential_header
from apps.workspace.egress.headers import is_lasting
from apps.workspace.local.secrets.stored_secrets import reveal
from apps.workspace.media_types import matches_any, media_type

UNAUTHORIZED = 401
BINARY = "application/octet-stream"
IDEMPOTENCY_KEY = "idempotency-key"
"""Services recognize a retried request by this header."""
RUN = Key[uuid.UUID]("idempotency_keys")


async def call_service(
    operation: Operation, opening: Opening, invocation: Invocation
) -> ToolResult:
    """Call the operation with the arguments. Raises `InvalidParameter` if an argument cannot be
    sent, and `ToolError` or `ToolTimedOut` if the call fails.
    """
    draft = RequestDraft(operation.method)
    url = operation.address.origin
    for name, shared in operation.headers.items():
        text = draft.headers[name] = (await reveal(shared, url)).text.strip()
        draft.credentials |= {text} if is_credential_header(name, shared) else set()
    constants = {name: (await reveal(c, url)).text for name, c in operation.credentials.items()}
    draft.credentials |= set(constants.values())
    fill_draft(draft, operation, {**invocation.arguments, **constants})
    token = await authorize(draft, operation.authorization, opening.caller, url)
    add_forwarded(draft, opening.caller.client.headers, operation.forwarded)
    if operation.method != "GET":
        draft.headers.setdefault(IDEMPOTENCY_KEY, idempotency_key(opening, invocation))
    draft.headers |= {**tracing.headers(), **draft.headers}
    answer = await exchange(operation, draft)
    if answer.status == UNAUTHORIZED and token:
        # The token may have been revoked before its expiry, so the call is retried once with a new
        # token.
        how, caller = operation.authorization, opening.caller
        if await authorize(draft, how, caller, url, refused_token=token):
            answer = await exchange(operation, draft)
    if answer.status == UNAUTHORIZED and operation.account is not None:
        return await ask_person(operation.account, opening, invocation)
    body = await asyncio.to_thread(
        hide_in_body, answer.body, answer.content_type, draft.credentials
    )
    answer = replace(answer, body=body)
    return await result_of(operation, answer, opening, invocation.stage)


def idempotency_key(opening: Opening, invocation: Invocation) -> str:
    """Return a key that is the same for all attempts of a call, even in a resumed run."""
    if invocation.ledger.is_kept:
        return invocation.ledger.idempotency_key(invocation.key)
    return str(
        uuid.uuid5(opening.findings.get_or_make(RUN, uuid.uuid4), well_formed(invocation.id))
    )


async def result_of(
    operation: Operation, answer: ServiceResponse, opening: Opening, stage: Stage
) -> ToolResult:
    """Convert the response to a tool result. Raises `ToolError` if the status is an error.

    If the body cannot be stored as a file, the result contains it, because the call itself
    succeeded.
    """
    text = decode(answer.body, answer.content_type)
    if not 200 <= answer.status < 300:
        raise status_error(operation, answer, text or "")
    kind = media_type(answer.content_type) or ("text/plain" if text is not None else BINARY)
    if text is None:
        content = f"The service returned {len(answer.body)} bytes of {kind}, which is not text."
        stage.write(f"> ##### Response:\n\n{content}\n")
    else:
        content = text or f"The service returned {answer.status_line} without a body."
        stage.write(response_block(text, answer.content_type))
    wanted = operation.attachment
    if not wanted.enabled or not answer.body or not matches_any(kind, wanted.content_types):
        return ToolResult(content, answer.content_type or kind)
    try:
        attachment = await keep_file(operation.function, answer.body, kind, opening)
    except FileRefused as error:
        note = f"{content}\n\nThe response was not stored as a file: {error}"
        return ToolResult(note, answer.content_type or kind)
    if not wanted.include_body_as_content:
        content = f"See attached file: {attachment.title}"
    return ToolResult(content, answer.content_type or kind, attachments=(attachment,))


def status_error(operation: Operation, answer: ServiceResponse, text: str) -> ShownError:
    """Return the error for a failed response. The model receives only the status, because the body
    is untrusted.
    """
    where = " and redirects to another URL, which is not followed" if answer.location else ""
    return ShownError(
        f"{operation.name}: the service returned {answer.status_line}{where}",
        error_block(answer.status_line, text),
        is_lasting=is_lasting(answer.status),
        retry_after=answer.retry_after,
    )
