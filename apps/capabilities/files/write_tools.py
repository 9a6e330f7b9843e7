"""Defines the file tools that write, edit, delete, copy and move files.

A write fails if the file has changed since it was read, so that concurrent changes are not lost.
"""

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from apps.agent.tools import ToolResult
from apps.capabilities.files.context import (
    PLAIN,
    Arguments,
    FileToolContext,
    as_invalid_parameter,
    count_phrase,
    file_result,
    text_result,
)
from apps.capabilities.files.paths import check_file, check_own, full_path
from apps.errors import FileChanged, FileMissing, InvalidParameter
from apps.workspace.stored_files import FileInfo

Result = TypeVar("Result")

_content_type = re.compile(r"[\w.+-]+/[\w.+-]+(;[ ]?[\w.=+-]+)*", re.ASCII)


async def write_file(context: FileToolContext, arguments: Arguments) -> ToolResult:
    path, content = arguments["path"], encoded_text("content", arguments["content"])
    check_own("path", path)
    content_type = arguments.get("content_type") or PLAIN
    if len(content_type) > 200 or not _content_type.fullmatch(content_type):
        problem = f"{content_type[:100]!r} is not a media type; use one such as text/markdown."
        raise InvalidParameter("content_type", problem)
    place = full_path(await context.home(), path)
    with as_invalid_parameter("path"):
        if arguments.get("overwrite"):
            work = partial(replace, context, place, content, content_type)
            info, is_new = await retry_once(path, work)
        else:
            try:
                info = await context.files.write(place, content, content_type, is_new=True)
            except FileChanged as error:
                raise already_exists("path", path) from error
            is_new = True
    context.forget(place)
    verb = "Created" if is_new else "Replaced"
    return file_result(f"{verb} {path} ({count_phrase(len(content), 'byte')}).", info)


async def retry_once(path: str, work: Callable[[], Awaitable[Result]]) -> Result:
    """Run `work`, and retry it once if another request changed the file in the meantime. Raises
    `InvalidParameter` if that happens again.
    """
    try:
        return await work()
    except FileChanged:
        try:
            return await work()
        except FileChanged as error:
            raise InvalidParameter(
                "path", f"{path!r} is being changed by another request. Try again."
            ) from error


async def replace(
    context: FileToolContext, place: str, content: bytes, content_type: str
) -> tuple[FileInfo, bool]:
    """Create a file, or replace its current version. Return the file, and True for a new file."""
    try:
        etag: str | None = (await context.files.info(place)).etag
    except FileMissing:
        etag = None
    is_new = etag is None
    info = await context.files.write(place, content, content_type, etag=etag, is_new=is_new)
    return info, is_new


async def edit_file(context: FileToolContext, arguments: Arguments) -> ToolResult:
    path = arguments["path"]
    check_own("path", path)
    old, new = arguments["old_string"], arguments["new_string"]
    if not old:
        raise InvalidParameter("old_string", "it is empty; quote the text to replace.")
    if old == new:
        raise InvalidParameter("new_string", "it is the same as old_string.")
    encoded_text("new_string", new)
    place = full_path(await context.home(), path)
    with as_invalid_parameter("path"):
        info, line = await retry_once(path, partial(change, context, place, old, new))
    context.forget(place)
    return file_result(
        f"Edited {path} at line {line} (now {count_phrase(info.size, 'byte')}).", info
    )


async def change(context: FileToolContext, place: str, old: str, new: str) -> tuple[FileInfo, int]:
    """Replace `old` with `new` in a text file. Return the file, and the line number of the change,
    counted from 0. Raises `InvalidParameter` if `old` does not occur exactly once.
    """
    found = await context.files.read(place, limit=context.opening.loading.rules.limit)
    text, line = with_replacement(utf8(found.content), old, new)
    content_type, etag = found.info.content_type, found.info.etag
    return await context.files.write(place, text.encode(), content_type, etag=etag), line


def utf8(content: bytes) -> str:
    """Decode the content of a file. Raises `InvalidParameter` if it is not UTF-8 text."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InvalidParameter("path", "the file is not UTF-8 text, so it cannot be edited.")
    return text


def with_replacement(text: str, old: str, new: str) -> tuple[str, int]:
    """Replace `old` with `new`. Return the new text, and the line number of the change, counted
    from 0. Raises `InvalidParameter` if `old` does not occur exactly once.
    """
    if old not in text and "\r\n" in text:
        old, new = with_crlf(old), with_crlf(new)
    start = text.find(old)
    if start < 0:
        raise InvalidParameter(
            "old_string",
            "it was not found in the file; quote it exactly as it appears there (for a web page, as in "
            "its source, not in its Markdown).",
        )
    if text.find(old, start + 1) >= 0:
        problem = "it occurs more than once in the file; quote more of the surrounding text."
        raise InvalidParameter("old_string", problem)
    return f"{text[:start]}{new}{text[start + len(old) :]}", text.count("\n", 0, start)


def with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def encoded_text(parameter: str, text: str) -> bytes:
    """Encode a text. Raises `InvalidParameter` if it contains a lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidParameter(
            parameter, "it contains invalid Unicode; remove the invalid characters."
        ) from error


def already_exists(parameter: str, path: str) -> InvalidParameter:
    problem = f"{path!r} already exists. Set overwrite=True to replace it, or use another path."
    return InvalidParameter(parameter, problem)


async def delete_file(context: FileToolContext, arguments: Arguments) -> ToolResult:
    path = arguments["path"]
    check_own("path", path)
    place = full_path(await context.home(), path)
    with as_invalid_parameter("path"):
        await context.files.info(place)  # Some services report success even if the file is missing.
        await context.files.delete(place)
    context.forget(place)
    return text_result(f"Deleted {path}.")


async def copy_file(context: FileToolContext, arguments: Arguments) -> ToolResult:
    check_file("source", arguments["source"])
    source, destination = await transfer(context, arguments, is_move=False)
    return text_result(f"Copied {source} to {destination}.")


async def move_file(context: FileToolContext, arguments: Arguments) -> ToolResult:
    check_own("source", arguments["source"])
    source, destination = await transfer(context, arguments, is_move=True)
    return text_result(f"Moved {source} to {destination}.")


async def transfer(
    context: FileToolContext, arguments: Arguments, *, is_move: bool
) -> tuple[str, str]:
    """Copy or move a file. Return both paths as the model wrote them. Raises `InvalidParameter` if
    a path cannot be used.
    """
    source, destination = arguments["source"], arguments["destination"]
    check_own("destination", destination)
    home = await context.home()
    origin, place = full_path(home, source), full_path(home, destination)
    if origin == place:
        raise InvalidParameter("destination", "it is the same as the source.")
    work = context.files.move if is_move else context.files.copy
    with as_invalid_parameter("destination"):
        try:
            await work(origin, place, overwrite=bool(arguments.get("overwrite")))
            await context.opening.loader.distrust(origin)
        except FileChanged as error:
            raise already_exists("destination", destination) from error
        except FileMissing as error:
            raise InvalidParameter("source", str(error)) from error
    context.forget(origin, place)
    return source, destination
