"""Files are written and edited. Nobody's newer version is overwritten unseen."""

from __future__ import annotations

import re

from apps.agent.tools import ToolResult
from apps.capabilities.files.desk import PLAIN, Arguments, Desk, attached, counted
from apps.capabilities.files.paths import check_own, whole
from apps.errors import FileChanged, FileMissing, FileRefused, InvalidParameter
from apps.workspace.port import FileInfo

ATTEMPTS = 2
"""Of a write that met another's: once more, on what the other has left."""

_content_type = re.compile(r"[\w.+-]+/[\w.+-]+(;[ ]?[\w.=+-]+)*", re.ASCII)


async def write(desk: Desk, arguments: Arguments) -> ToolResult:
    path, content = arguments["path"], encoded_text("content", arguments["content"])
    check_own("path", path)
    content_type = arguments.get("content_type") or PLAIN
    if len(content_type) > 200 or not _content_type.fullmatch(content_type):
        raise InvalidParameter(
            "content_type", f"{content_type[:100]!r} is no media type such as text/markdown."
        )
    place = whole(await desk.home(), path)
    try:
        if arguments.get("overwrite"):
            info, is_new = await replace(desk, place, content, content_type)
        else:
            info = await desk.files.write(place, content, content_type, is_new=True)
            is_new = True
    except FileChanged as error:
        if arguments.get("overwrite"):
            raise InvalidParameter("path", f"{path!r} is being changed by others.") from error
        raise taken("path", path) from error
    except FileRefused as error:
        raise InvalidParameter("path", str(error)) from error
    desk.forget(place)
    verb = "Created" if is_new else "Replaced"
    return attached(f"{verb} {path} ({counted(len(content), 'byte')}).", info)


async def replace(
    desk: Desk, place: str, content: bytes, content_type: str
) -> tuple[FileInfo, bool]:
    """Write over the version that is there; whether there was none. Raises `FileRefused`."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            etag: str | None = (await desk.files.info(place)).etag
        except FileMissing:
            etag = None
        is_new = etag is None
        try:
            info = await desk.files.write(place, content, content_type, etag=etag, is_new=is_new)
        except FileChanged:
            if attempt == ATTEMPTS:
                raise
        else:
            return info, is_new
    raise AssertionError("the last attempt returns or raises")


async def edit(desk: Desk, arguments: Arguments) -> ToolResult:
    path = arguments["path"]
    check_own("path", path)
    old, new = arguments["old_string"], arguments["new_string"]
    if not old:
        raise InvalidParameter("old_string", "it is empty; quote the text that is to be replaced.")
    if old == new:
        raise InvalidParameter("new_string", "it is the same as old_string.")
    encoded_text("new_string", new)
    place = whole(await desk.home(), path)
    try:
        info, line = await change(desk, place, old, new)
    except FileChanged as error:
        raise InvalidParameter("path", f"{path!r} is being changed by others.") from error
    except FileRefused as error:
        raise InvalidParameter("path", str(error)) from error
    desk.forget(place)
    return attached(f"Edited {path} at line {line} (now {counted(info.size, 'byte')}).", info)


async def change(desk: Desk, place: str, old: str, new: str) -> tuple[FileInfo, int]:
    """The file and the line, from 0, that the change begins in.

    Raises `FileRefused`, `InvalidParameter`.
    """
    for attempt in range(1, ATTEMPTS + 1):
        found = await desk.files.read(place, limit=desk.opening.loading.rules.limit)
        text, line = exchanged(utf8(found.content), old, new)
        try:
            info = await desk.files.write(
                place, text.encode(), found.info.content_type, etag=found.info.etag
            )
        except FileChanged:
            if attempt == ATTEMPTS:
                raise
        else:
            return info, line
    raise AssertionError("the last attempt returns or raises")


def utf8(content: bytes) -> str:
    """Raises `InvalidParameter`."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InvalidParameter("path", "the file is no text in UTF-8, so it cannot be edited.")
    return text


def exchanged(text: str, old: str, new: str) -> tuple[str, int]:
    """The text with the one place changed, and its line from 0. Raises `InvalidParameter`."""
    if old not in text and "\r\n" in text:
        old, new = with_crlf(old), with_crlf(new)
    start = text.find(old)
    if start < 0:
        raise InvalidParameter(
            "old_string",
            "it was not found in the file; quote it exactly as the file has it "
            "(of a web page: its source, not the Markdown that is read of it).",
        )
    if text.find(old, start + 1) >= 0:
        raise InvalidParameter(
            "old_string", "it is in the file more than once; quote more of what is around it."
        )
    return f"{text[:start]}{new}{text[start + len(old) :]}", text.count("\n", 0, start)


def with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def encoded_text(parameter: str, text: str) -> bytes:
    """Raises `InvalidParameter`."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidParameter(parameter, "it has half a character, which is no text.") from error


def taken(parameter: str, path: str) -> InvalidParameter:
    return InvalidParameter(
        parameter,
        f"{path!r} already exists. Set overwrite=True to replace it, or use another path.",
    )
