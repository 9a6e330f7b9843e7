"""A call of an operation, from the arguments to the result."""

from __future__ import annotations

from dataclasses import replace

from apps import tracing
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.rest.authorizations import authorize
from apps.capabilities.rest.drafts import Draft, add_forwarded
from apps.capabilities.rest.exchanges import exchange
from apps.capabilities.rest.operations import Operation
from apps.capabilities.rest.results import result_of
from apps.capabilities.wrappers.redaction import without_credentials
from apps.manifest.toolsets import is_credential_header
from apps.workspace.local.stored_secrets import reveal

UNAUTHORIZED = 401


async def call(operation: Operation, opening: Opening, invocation: Invocation) -> ToolResult:
    """Raises `ToolError`, `InvalidParameter`, `ToolTimedOut`, `FileRefused`."""
    draft = Draft(operation.method)
    url = operation.address.origin
    for name, shared in operation.headers.items():
        text = draft.headers[name] = (await reveal(shared, url)).text.strip()
        draft.credentials |= {text} if is_credential_header(name, shared) else set()
    constants = {name: (await reveal(c, url)).text for name, c in operation.credentials.items()}
    draft.credentials |= set(constants.values())
    operation.places.fill(draft, operation.address, {**invocation.arguments, **constants})
    token = await authorize(draft, operation.authorization, opening.caller, url)
    add_forwarded(draft, opening.caller.headers, operation.forwarded)
    draft.headers |= {**tracing.headers(), **draft.headers}
    answer = await exchange(operation, draft)
    if answer.status == UNAUTHORIZED and token:
        # The token may have been withdrawn before its time: once, ask with another one.
        await authorize(draft, operation.authorization, opening.caller, url, refused_token=token)
        answer = await exchange(operation, draft)
    answer = replace(answer, body=without_credentials(answer.body, draft.credentials))
    return await result_of(operation, answer, opening, invocation.stage)
