"""What the model, the stage and the person get of an answer."""

from __future__ import annotations

import mimetypes
import secrets

from apps.agent.messages import Attachment
from apps.agent.stages import Stage
from apps.agent.tools import ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.rest.decoding import decode, media_type
from apps.capabilities.rest.exchanges import Answer
from apps.capabilities.rest.formatting import error_block, response_block
from apps.capabilities.rest.operations import Operation
from apps.capabilities.wrappers.attachments import matches
from apps.capabilities.wrappers.fallbacks import ShownError
from apps.workspace.egress.retry_after import is_lasting


async def result_of(
    operation: Operation, answer: Answer, opening: Opening, stage: Stage
) -> ToolResult:
    """Raises `ToolError` when the service did not succeed, `FileRefused` when it is not kept."""
    text = decode(answer.body, answer.content_type)
    if not 200 <= answer.status < 300:
        raise failure(operation, answer, text or "")
    kind = media_type(answer.content_type) or ("text/plain" if text is not None else BINARY)
    if text is None:
        content = f"The service answered with {len(answer.body)} bytes of {kind}, not with text."
        stage.write(f"> ##### Response:\n\n{content}\n")
    else:
        content = text or f"The service answered {answer.status_line}, without a body."
        stage.write(response_block(text, answer.content_type))
    wanted = operation.attachment
    if not wanted.enabled or not answer.body or not matches(kind, wanted.content_types):
        return ToolResult(content, answer.content_type or kind)
    attachment = await keep(operation, answer.body, kind, opening)
    if not wanted.include_body_as_content:
        content = f"See attached file: {attachment.title}"
    return ToolResult(content, answer.content_type or kind, attachments=(attachment,))


BINARY = "application/octet-stream"


def failure(operation: Operation, answer: Answer, text: str) -> ShownError:
    """The model is told the status alone: the body of an error is anybody's text."""
    where = " and points to another address, which is not followed" if answer.location else ""
    error = ShownError(
        f"{operation.name}: the service answered {answer.status_line}{where}",
        error_block(answer.status_line, text),
    )
    error.is_lasting = is_lasting(answer.status)
    error.retry_after = answer.retry_after
    return error


async def keep(operation: Operation, body: bytes, kind: str, opening: Opening) -> Attachment:
    """Write the body into a file of the caller's, under a name of its own."""
    ending = mimetypes.guess_extension(kind) or ".bin"
    name = f"{operation.function}-{secrets.token_hex(4)}{ending}"
    info = await opening.workspace.files.keep(name, body, kind)
    return Attachment(type=kind, title=f"{operation.function}{ending}", url=info.path)
