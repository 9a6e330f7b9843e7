"""Converts the arguments of a tool call to a user message."""

import base64
import binascii
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct

from apps.agent.messages import Attachment, ModelMessage
from apps.doors.bodies import converted, invalid
from apps.manifest.manifest import LONGEST_QUESTION
from apps.mcp_server.resource_uris import check_web_address, path_of
from apps.mcp_server.tools import MOST_FILES

PATH = "arguments"
MediaType = Annotated[str, Meta(pattern=r"^[\w.+-]+/[\w.+*-]+(\s*;.*)?$", max_length=200)]


class FileArgument(Struct, forbid_unknown_fields=True):
    type: MediaType
    name: str = ""
    data: str | None = None
    uri: str | None = None


class CallArguments(Struct, forbid_unknown_fields=True):
    message: Annotated[str, Meta(min_length=1, max_length=LONGEST_QUESTION)]
    files: Annotated[list[FileArgument], Meta(max_length=MOST_FILES)] = []


def read_message(arguments: Mapping[str, Any] | None) -> ModelMessage:
    """Convert the arguments. Raises `BadRequest` with the path of an invalid argument."""
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
