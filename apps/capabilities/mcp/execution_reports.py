"""Results of a tool that runs code: a report of the execution, with a list of the files it made."""

from pathlib import PurePosixPath
from typing import Any

import mcp_types as types
import msgspec
from mcp import Client
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.agent.messages import Attachment
from apps.agent.stages import Stage
from apps.agent.tools import ToolResult
from apps.capabilities.mcp.bindings import ToolsetBinding
from apps.capabilities.mcp.connection_failures import ConnectionFailed
from apps.capabilities.mcp.results import MOST_ATTACHMENTS, Blob, blob_of, failure_in, result_of
from apps.capabilities.mcp.sign_ins import ask
from apps.capabilities.mcp.structured_content import without_binary
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.attachments import keep_file
from apps.capabilities.wrappers.texts import STAGE_CHARACTERS, fenced, one_line, shortened
from apps.errors import FileRefused
from apps.manifest.names import sanitize
from apps.workspace.media_types import matches, media_type

OUTPUT_CHARACTERS = 200
"""Of one piece of output in a stage, where it is read beside the code; the model gets all of it."""
CODE = "code"
"""The argument that is shown as Python."""


class ReportedFile(BaseModel):
    """A resource of the server. Its type counts, not the one that the server tells on reading."""

    model_config = ConfigDict(extra="ignore")

    uri: str
    name: str
    mime_type: str


class Report(BaseModel):
    """What the platform reads of a report; the rest is for the model."""

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
    """The report with its files; a result of another shape as any other.

    Raises `ToolError` when the server says that the tool failed.
    """
    node = binding.toolset.node
    told = told_report(answer)
    if answer.is_error or told is None or failure_in(answer, binding.toolset.failure_texts):
        failures = binding.toolset.failure_texts
        return await result_of(answer, tool_name, node.attachment, opening, stage, failures)
    written, report = told
    attachments, notes = await read_files(report.files, binding, opening)
    rest = {key: value for key, value in written.items() if key != "files" and value not in EMPTY}
    stage.write(f"> #### Result:\n\n{fenced(shown_report(rest, report), 'json')}\n")
    if attachments:
        names = ", ".join(one.title for one in attachments)
        notes.append(f"These files are attached for the user: {names}. Do not write links to them.")
    content = msgspec.json.format(msgspec.json.encode(without_binary(rest)), indent=2).decode()
    return ToolResult("\n\n".join([content, *notes]), attachments=attachments)


EMPTY: tuple[object, ...] = (None, "", [], {})


def told_report(answer: types.CallToolResult) -> tuple[dict[str, Any], Report] | None:
    """Of the structured content, or of a text that is JSON."""
    texts = [block.text for block in answer.content if isinstance(block, types.TextContent)]
    for value in (answer.structured_content, *map(decoded_json, texts)):
        try:
            report = Report.model_validate(value)
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


def shown_report(rest: dict[str, Any], report: Report) -> str:
    """For a person: long output is cut, and the session is the model's business."""
    visible = {key: value for key, value in rest.items() if key != "session_info"}
    if report.output:
        visible["output"] = [shortened(text, OUTPUT_CHARACTERS) for text in report.output]
    encoded = msgspec.json.encode(without_binary(visible))
    return shortened(msgspec.json.format(encoded, indent=2).decode(), STAGE_CHARACTERS)


async def read_files(
    files: list[ReportedFile], binding: ToolsetBinding, opening: Opening
) -> tuple[tuple[Attachment, ...], list[str]]:
    """Files of the caller from those that the manifest wants; notes for the model on the others."""
    wanted = binding.toolset.node.attachment.supported_types
    attachments: list[Attachment] = []
    notes: list[str] = []
    for file in files:
        name = one_line(file.name)
        if not is_file_name(file.name):
            notes.append(f"The file {name!r} was not kept: its name is not one of a file.")
        elif not matches(file.mime_type, wanted):
            notes.append(f"The file {name!r} was not kept: its type is not wanted.")
        elif len(attachments) >= MOST_ATTACHMENTS:
            notes.append(f"Only the first {MOST_ATTACHMENTS} files were kept.")
            break
        else:
            try:
                attachments.append(await read_file(file, binding, opening))
            except ConnectionFailed as failure:
                notes.append(f"The file {name!r} was not kept: {failure.text}")
            except FileRefused as refusal:
                notes.append(f"The file {name!r} was not kept: {refusal}")
    return tuple(attachments), notes


async def read_file(file: ReportedFile, binding: ToolsetBinding, opening: Opening) -> Attachment:
    """Raises `ConnectionFailed`, `FileRefused`."""

    async def question(client: Client) -> Blob | None:
        contents = (await client.read_resource(file.uri)).contents
        return blob_of(contents[0]) if len(contents) == 1 else None

    blob = await ask(binding, opening, question)
    if blob is None:
        raise FileRefused("the server did not give its content.")
    path = PurePosixPath(file.name)
    stem = sanitize(path.name.removesuffix(path.suffix))
    kept = await keep_file(stem, blob.content, media_type(file.mime_type), opening)
    return Attachment(type=kept.type, title=one_line(path.name), url=kept.url)


def is_file_name(name: str) -> bool:
    """Whether it is a relative path that does not lead upwards, in one printable line."""
    parts = set(name.split("/"))
    return name.isprintable() and "\\" not in name and not {"", ".", ".."} & parts
