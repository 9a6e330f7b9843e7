"""Converts the parts of a client's message to text and files."""

import base64
import binascii
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from uuid import UUID

import msgspec
from django.conf import settings
from django.core.files.base import File

from apps.a2a.errors import ContentTypeNotSupported, InvalidParams
from apps.a2a.requests import ClientPart
from apps.accounts.caller import Caller
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.ask import MOST_ATTACHMENTS
from apps.conversations.files.folder import check_type, store_upload
from apps.doors.bodies import shorten_text
from apps.errors import OddType
from apps.live.events import storable_value
from apps.workspace.egress.fetch import FetchRefused, fetch
from apps.workspace.loading.shared_loads import rules_of
from apps.workspace.local.files.file_threads import on_file_thread

UNKNOWN_TYPE = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class PartContent:
    """The text and the files of a message."""

    text: str
    paths: tuple[str, ...] = ()
    """Files that the caller uploaded earlier."""
    files: tuple[ReceivedFile, ...] = ()
    """Files in the message, which have not been stored yet."""


async def read_parts(parts: Sequence[ClientPart], application: ResolvedApplication) -> PartContent:
    """Decode the parts of a message, and download files from other servers.

    Raises `InvalidParams` if a part is invalid, or `ContentTypeNotSupported` if the application
    does not accept its type.
    """
    texts: list[str] = []
    paths: list[str] = []
    files: list[ReceivedFile] = []
    for number, part in enumerate(parts):
        check_part(number, part, application)
    for number, part in enumerate(parts):
        if part.text is not None:
            texts.append(part.text)
        elif part.raw is not None:
            files.append(ReceivedFile(name_of(part), decode_raw(number, part.raw)))
        elif part.url is not None and (path := own_path(part.url)):
            paths.append(path)
        elif part.url is not None:
            files.append(await fetch_file(number, part, application))
        else:
            texts.append(f"```json\n{msgspec.json.encode(part.data).decode()}\n```")
    return PartContent(storable_value("\n\n".join(texts)), tuple(paths), tuple(files))


def check_part(number: int, part: ClientPart, application: ResolvedApplication) -> None:
    """Raise `InvalidParams` unless the part has exactly one of `text`, `raw`, `url` and `data`, or
    `ContentTypeNotSupported` if its media type is not accepted. The error names the part by its
    index, `number`.
    """
    given = [part.text, part.raw, part.url]
    count = sum(value is not None for value in given) + (part.data is not msgspec.UNSET)
    if count != 1:
        raise InvalidParams(
            f"message.parts[{number}] has {count} of text, raw, url and data. Send exactly one."
        )
    if (part.raw is not None or part.url is not None) and part.media_type:
        check_media_type(part.filename or part.media_type, part.media_type, application)


def check_media_type(name: str, media_type: str, application: ResolvedApplication) -> None:
    """Raise `ContentTypeNotSupported` if the application does not accept the media type of the
    file `name`.
    """
    kind = media_type.partition(";")[0].strip().lower()
    try:
        check_type(name, kind, application.manifest.input_attachment_types)
    except OddType as error:
        raise ContentTypeNotSupported(shorten_text(str(error))) from error


def name_of(part: ClientPart) -> str:
    if part.filename:
        return part.filename
    return f"file{mimetypes.guess_extension(part.media_type) or ''}"


def decode_raw(number: int, raw: str) -> bytes:
    """Decode base64. Raises `InvalidParams` if it is invalid. The error names the part by its
    index, `number`.
    """
    text = raw.translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidParams(f"message.parts[{number}].raw is not valid base64.") from None


def own_path(url: str) -> str:
    """Return the path of a file on this installation, or "" for any other URL."""
    path = url.removeprefix(f"{settings.PUBLIC_URL}/v1/")
    return path if path.startswith("files/") else ""


async def fetch_file(
    number: int, part: ClientPart, application: ResolvedApplication
) -> ReceivedFile:
    """Download a part's file. Raises `InvalidParams` if this fails. The error names the part by its
    index, `number`.
    """
    rules = rules_of(application.manifest)
    try:
        found = await fetch(part.url or "", rules.policy, rules.limit, seconds=rules.seconds)
    except FetchRefused as error:
        raise InvalidParams(f"message.parts[{number}].url: {error}") from error
    return ReceivedFile(part.filename or found.filename, found.content)


async def store_files(
    caller: Caller,
    conversation: UUID,
    content: PartContent,
    application: ResolvedApplication,
) -> list[str]:
    """Store the received files in the conversation's folder. Return the paths of all files in the
    message.

    If the message is rejected later, the files are deleted together with other unsent uploads.
    Raises `InvalidParams`, `Refused`, `FileRefused` or `ContentTypeNotSupported`.
    """
    if len(content.paths) + len(content.files) > MOST_ATTACHMENTS:
        count = len(content.paths) + len(content.files)
        raise InvalidParams(f"The message has {count} files; the limit is {MOST_ATTACHMENTS}.")
    paths = list(content.paths)
    for one in content.files:
        upload: File[bytes] = File(BytesIO(one.content), one.name)
        try:
            info = await on_file_thread(store_upload, caller, conversation, one.name, upload)
        except OddType as error:
            raise ContentTypeNotSupported(str(error)) from error
        check_media_type(one.name, info.content_type, application)
        paths.append(info.path)
    return paths
