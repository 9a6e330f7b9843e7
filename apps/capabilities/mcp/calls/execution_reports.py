"""Converts the results of tools that run code: a report of the execution, and the created files."""

from pathlib import PurePosixPath
from typing import Any

import mcp_types as types
import msgspec
from mcp import Client
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.agent.messages import Attachment
from apps.agent.stages import Stage
from apps.agent.tools import ToolResult
from apps.capabilities.mcp.calls.results import (
    MOST_ATTACHMENTS,
    Blob,
    blob_of,
    failure_in,
    make_result,
)
from apps.capabilities.mcp.calls.sign_ins import ask_server
from apps.capabilities.mcp.messages.structured_content import without_binary
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.capabilities.mcp.toolsets.bindings import ToolsetBinding
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.attachments import keep_file
from apps.capabilities.wrappers.value_texts import (
    STAGE_CHARACTERS,
    fence_code,
    one_line,
    shorten_text,
)
from apps.errors import FileRefused
from apps.manifest.names import sanitize
from apps.workspace.media_types import matches_any, media_type

OUTPUT_CHARACTERS = 200
"""A stage truncates each printed output to this many characters. The model receives the whole
output.
"""
CODE = "code"
"""The stage shows this argument as Python code."""


class ReportedFile(BaseModel):
    """A file in an execution report, stored as a resource of the server."""

    model_config = ConfigDict(extra="ignore")

    uri: str
    name: str
    mime_type: str
    """The media type. It overrides the type that the server returns with the content."""


class ExecutionReport(BaseModel):
    """The fields of an execution report that QuickApps uses. The model receives the other fields
    unchanged.
    """

    model_config = ConfigDict(extra="ignore")

    success: bool
    output: list[str] = Field(default_factory=list)
    files: list[ReportedFile] = Field(default_factory=list)


async def report_result(
    answer: types.CallToolResult,
    tool_name: str,
    binding: ToolsetBinding,
    opening: Opening,
    stage: Stage,
) -> ToolResult:
    """Convert an execution report and its files to a tool result. A result without a report is
    converted like any other result.

    Raises `ToolError` if the server reports that the tool failed.
    """
    node = binding.toolset.node
    found = find_report(answer)
    if answer.is_error or found is None or failure_in(answer, binding.toolset.failure_texts):
        failures = binding.toolset.failure_texts
        return await make_result(answer, tool_name, node.attachment, opening, stage, failures)
    written, report = found
    attachments, notes = await read_files(report.files, binding, opening)
    rest = {key: value for key, value in written.items() if key != "files" and value not in EMPTY}
    stage.write(f"> #### Result:\n\n{fence_code(shown_report(rest, report), 'json')}\n")
    if attachments:
        names = ", ".join(one.title for one in attachments)
        notes.append(f"These files are attached for the user: {names}. Do not write links to them.")
    content = msgspec.json.format(msgspec.json.encode(without_binary(rest)), indent=2).decode()
    return ToolResult("\n\n".join([content, *notes]), attachments=attachments)


EMPTY: tuple[object, ...] = (None, "", [], {})


def find_report(answer: types.CallToolResult) -> tuple[dict[str, Any], ExecutionReport] | None:
    """Return the report as a dictionary and as an `ExecutionReport`, or None if there is none.

    A server sends the report as structured content or as JSON text.
    """
    texts = [block.text for block in answer.content if isinstance(block, types.TextContent)]
    for value in (answer.structured_content, *map(decoded_json, texts)):
        try:
            report = ExecutionReport.model_validate(value)
        except ValidationError:
            continue
        if isinstance(value, dict):
            return value, report
    return None


def decoded_json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def shown_report(rest: dict[str, Any], report: ExecutionReport) -> str:
    """Return the report for users, with long output truncated and without session data."""
    visible = {key: value for key, value in rest.items() if key != "session_info"}
    if report.output:
        visible["output"] = [shorten_text(text, OUTPUT_CHARACTERS) for text in report.output]
    encoded = msgspec.json.encode(without_binary(visible))
    return shorten_text(msgspec.json.format(encoded, indent=2).decode(), STAGE_CHARACTERS)


async def read_files(
    files: list[ReportedFile], binding: ToolsetBinding, opening: Opening
) -> tuple[tuple[Attachment, ...], list[str]]:
    """Store the allowed files from a report as the caller's files. Return their attachments, and
    notes for the model about the other files.
    """
    wanted = binding.toolset.node.attachment.supported_types
    attachments: list[Attachment] = []
    notes: list[str] = []
    for file in files:
        name = one_line(file.name)
        if not is_file_name(file.name):
            notes.append(f"The file {name!r} was not stored: its name is not a valid file name.")
        elif not matches_any(file.mime_type, wanted):
            notes.append(f"The file {name!r} was not stored: the toolset does not allow its type.")
        elif len(attachments) >= MOST_ATTACHMENTS:
            notes.append(f"Only the first {MOST_ATTACHMENTS} files were stored.")
            break
        else:
            try:
                attachments.append(await read_file(file, binding, opening))
            except ConnectionFailed as failure:
                notes.append(f"The file {name!r} was not stored: {failure.text}")
            except FileRefused as refusal:
                notes.append(f"The file {name!r} was not stored: {refusal}")
    return tuple(attachments), notes


async def read_file(file: ReportedFile, binding: ToolsetBinding, opening: Opening) -> Attachment:
    """Read a file from the server, and store it for the caller. Raises `ConnectionFailed` or
    `FileRefused` on failure.
    """

    async def question(client: Client) -> Blob | None:
        contents = (await client.read_resource(file.uri)).contents
        return blob_of(contents[0]) if len(contents) == 1 else None

    blob = await ask_server(binding, opening, question)
    if blob is None:
        raise FileRefused("the server did not return its content.")
    path = PurePosixPath(file.name)
    stem = sanitize(path.name.removesuffix(path.suffix))
    kept = await keep_file(stem, blob.content, media_type(file.mime_type), opening)
    return Attachment(type=kept.type, title=one_line(path.name), url=kept.url)


def is_file_name(name: str) -> bool:
    """Return True if the name is a printable relative path without `.` and `..` segments."""
    parts = set(name.split("/"))
    return name.isprintable() and "\\" not in name and not {"", ".", ".."} & parts
