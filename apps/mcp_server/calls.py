"""Serves the method `tools/call`, with which a client sends a message to an application."""

import base64
import binascii
from collections.abc import Mapping
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from msgspec import Meta, Struct

from apps.agent.events import Emit
from apps.agent.ledger import NO_LEDGER, Ledger
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.streams import stream
from apps.doors.answer_headers import failure_headers, rate_headers
from apps.doors.bodies import converted, invalid
from apps.doors.run_consumer import OPEN_ANSWERS
from apps.doors.run_slots import AdmittedRun, answer_request, run_slot
from apps.live.doors import MCP
from apps.live.limits.quotas import admit_request, rates_of
from apps.manifest.manifest import LONGEST_QUESTION
from apps.mcp_server.answer import GatheredAnswer
from apps.mcp_server.content import answer_blocks, answer_result, failure_result
from apps.mcp_server.interactions import (
    INPUT,
    ResumedCall,
    can_ask,
    input_required,
    question_of,
    read_waiting,
    resume,
)
from apps.mcp_server.requests import admitted
from apps.mcp_server.resource_uris import check_web_address, path_of
from apps.mcp_server.tasks import begin_task, can_be_task
from apps.mcp_server.tools import MOST_FILES, find_tool
from apps.runs.failures import WITH_LIMITS, failure
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.local import read_only

Result = types.CallToolResult | types.InputRequiredResult | dict[str, Any]
PATH = "arguments"
MediaType = Annotated[str, Meta(pattern=r"^[\w.+-]+/[\w.+*-]+(\s*;.*)?$", max_length=200)]


async def call_tool(
    context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
) -> Result:
    """Answer a tool call. Raises `MCPError` if the tool or an input is unknown. Other failures
    become tool results.
    """
    request = admitted(context)
    try:
        application = await find_tool(request, params.name)
        await read_only.check()
        message, resumed = read_message(params.arguments), ResumedCall()
        if params.request_state is not None:
            waiting = read_waiting(params.request_state)
            given = (params.input_responses or {}).get(INPUT)
            if not isinstance(given, types.ElicitResult):
                return input_required(waiting)  # The client omitted the answer.
            resumed = resume(waiting, given)
        rates = rates_of(request.caller, application)
        request.answer_headers.extend(rate_headers(await admit_request(rates)))
        if params.request_state is None and can_be_task(context, message):
            return await begin_task(request, application, message)
        messages = (message, *resumed.messages)
        asked = RunRequest(messages, form_answer=resumed.form_answer)
        workspace = request.open_workspace(request.caller, application)
        run = AdmittedRun(MCP, application, asked, workspace, request.caller, rates)
        async with OPEN_ANSWERS.hold():
            return await answer_call(run, context)
    except MCPError:
        raise
    except Exception as error:  # noqa: BLE001 - `failure` logs it
        found = failure(error, WITH_LIMITS)
        request.answer_headers.extend(failure_headers(found, error))
        return failure_result(found)


async def answer_call(run: AdmittedRun, context: ServerRequestContext[Any, Any]) -> Result:
    """Run the application, report its progress, and return its answer or its question to the user.
    Raises `QuickAppError` if the run fails.
    """
    ledgers: list[Ledger] = []
    messages = run.request.messages
    earlier = [one for message in messages[1:] for one in message.attachments]
    answer = GatheredAnswer(earlier)
    steps = 0
    async with aclosing(stream(partial(run_call, run, context, ledgers))) as batches:
        async for batch in batches:
            for line in answer.feed(batch):
                steps += 1
                await context.session.report_progress(steps, None, line)
    if (waiting := question_of(ledgers[0], answer, messages)) is not None:
        return input_required(waiting)
    return answer_result(answer, await answer_blocks(answer, run.workspace.files))


async def run_call(
    run: AdmittedRun, context: ServerRequestContext[Any, Any], ledgers: list[Ledger], emit: Emit
) -> None:
    """Run the application, and append the run's ledger to `ledgers`. If the run asks the user a
    question, the ledger contains it.
    """
    door = admitted(context)
    async with run_slot(run, door.slots, door.recorded) as progress:
        if can_ask(context):
            ledgers.append(await answer_request(run, emit, progress))
            return
        # A client that cannot show a form would let its model answer in place of the user.
        ledgers.append(NO_LEDGER)
        given = (run.application, run.request, run.workspace, run.caller, emit)
        await run_application(*given, NO_LEDGER, progress)


class FileArgument(Struct, forbid_unknown_fields=True):
    type: MediaType
    name: str = ""
    data: str | None = None
    uri: str | None = None


class CallArguments(Struct, forbid_unknown_fields=True):
    message: Annotated[str, Meta(min_length=1, max_length=LONGEST_QUESTION)]
    files: Annotated[list[FileArgument], Meta(max_length=MOST_FILES)] = []


def read_message(arguments: Mapping[str, Any] | None) -> ModelMessage:
    """Convert the arguments of a tool call to a message. Raises `BadRequest` with the path of an
    invalid argument.
    """
    read = converted(dict(arguments or {}), CallArguments, PATH)
    if not read.message.strip():
        raise invalid(f"{PATH}.message", "The message is empty. Enter some text.")
    attachments = (attachment_of(file, index) for index, file in enumerate(read.files))
    return ModelMessage("user", read.message, attachments=tuple(attachments))


def attachment_of(file: FileArgument, index: int) -> Attachment:
    path = f"{PATH}.files.{index}"
    if (file.data is None) == (file.uri is None):
        raise invalid(path, "Send 'data' or 'uri'.")
    if file.uri is not None:
        url = path_of(file.uri) or check_web_address(file.uri, path)
        return Attachment(file.type, file.name, url=url)
    return Attachment(file.type, file.name, data=read_base64(file.data or "", file.type, path))


def read_base64(data: str, kind: str, path: str) -> str:
    """Return the data of a file: as text if `kind` is a text type, otherwise unchanged. Raises
    `BadRequest` with the file's `path` if it is not valid base64.
    """
    try:
        content = base64.b64decode(data, validate=True)
        return content.decode() if kind.startswith("text/") else data
    except UnicodeDecodeError as error:
        raise invalid(f"{path}.data", "The text is not UTF-8. Send it in UTF-8.") from error
    except (binascii.Error, ValueError) as error:
        raise invalid(f"{path}.data", "The content is not valid base64.") from error
