"""Files with conversations of other programs: what they are, and the conversations in them one by one."""

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple

import filetype
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy

from apps.archives import UNREADABLE, TooManyEntries, open_archive
from apps.chat.imports import chatgpt, librechat, open_webui, own_export
from apps.chat.imports.tree import SourceConversation, Unreadable

LARGEST_FILE = 64 * 1024 * 1024
"""Bytes, of a ZIP what it holds together."""
MOST_CONVERSATIONS = 20_000
MOST_MEMBERS = 50_000
"""Files in a ZIP: an export has the pictures of many years in it."""
READ_BYTES = 1024 * 1024
ENCODINGS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig"))
NO_CONVERSATIONS = gettext_lazy(
    "There are no conversations in it. It takes the conversations.json, or the whole ZIP, of ChatGPT, "
    "and the JSON files of Open WebUI, LibreChat and of an export from here."
)
EXPECTED = gettext_lazy(
    "Choose the conversations.json or the whole ZIP of ChatGPT, or a JSON file of Open WebUI, "
    "LibreChat, or an export from here."
)
BEGINNING_BYTES = 8192
"""The bytes of a file that `filetype` reads."""
WHITESPACE = " \t\n\r"
_decoder = json.JSONDecoder()


class Format(NamedTuple):
    fits: Callable[[dict[str, Any]], bool]
    read: Callable[[dict[str, Any]], SourceConversation]


FORMATS = (
    Format(chatgpt.is_chatgpt, chatgpt.read),
    Format(open_webui.is_open_webui, open_webui.read),
    Format(librechat.is_librechat, librechat.read),
    Format(own_export.is_own, own_export.read),
)


def conversations_in(file: IO[bytes]) -> Iterator[SourceConversation | Unreadable]:
    """One by one; in place of a conversation that cannot be read, why. Raises `Unreadable` for the file."""
    count = 0
    for text in texts_in(file):
        for document in documents_in(text):
            count += 1
            if count > MOST_CONVERSATIONS:
                raise Unreadable(
                    gettext("It has more than {most_conversations} conversations.").format(
                        most_conversations=number_format(MOST_CONVERSATIONS, force_grouping=True)
                    )
                )
            yield conversation_of(document)
    if not count:
        raise Unreadable(NO_CONVERSATIONS)


def conversation_of(document: Any) -> SourceConversation | Unreadable:
    if not isinstance(document, dict):
        return Unreadable(gettext("it is no JSON object"))
    read = next((one.read for one in FORMATS if one.fits(document)), None)
    if read is None:
        return Unreadable(gettext("it is of no program that is known here"))
    try:
        return read(document)
    except Unreadable as error:
        return error


def texts_in(file: IO[bytes]) -> Iterator[str]:
    """The JSON texts of the file, or of a ZIP. Raises `Unreadable`."""
    beginning = file.read(BEGINNING_BYTES)
    file.seek(0)
    if not beginning:
        raise Unreadable(gettext("The file is empty."))
    if not beginning.startswith(b"PK"):
        check_kind(beginning)
        yield decoded(read_at_most(file, LARGEST_FILE))
        return
    try:
        with open_archive(file, MOST_MEMBERS) as archive:
            yield from members_of(archive)
    except TooManyEntries as error:
        raise Unreadable(
            gettext("The ZIP has more than {most_members} files.").format(
                most_members=number_format(MOST_MEMBERS, force_grouping=True)
            )
        ) from error
    except UNREADABLE as error:
        raise Unreadable(
            gettext("The ZIP cannot be read: it is damaged, or has a password.")
        ) from error


def check_kind(beginning: bytes) -> None:
    """Raise `Unreadable` for a picture, a PDF and the like: no JSON begins as they do."""
    if (kind := filetype.guess(beginning)) is None:
        return
    found = gettext("This is a file of the type {type}, not an export of conversations.")
    raise Unreadable(f"{found.format(type=kind.mime)} {EXPECTED}")


def members_of(archive: zipfile.ZipFile) -> Iterator[str]:
    """Raises `Unreadable` for more than is read, whatever the archive says of its sizes."""
    left = LARGEST_FILE
    for info in archive.infolist():
        if not has_conversations(info.filename):
            continue
        with archive.open(info) as member:
            content = read_at_most(member, left)
        left -= len(content)
        yield decoded(content)


def has_conversations(name: str) -> bool:
    """ChatGPT's `conversations.json`, of large exports `conversations-000.json`; ours are in a folder."""
    path = PurePosixPath(name)
    if path.suffix.lower() != ".json" or "__MACOSX" in path.parts:
        return False
    return path.name.lower().startswith("conversations") or path.parent.name == "conversations"


def read_at_most(file: IO[bytes], most: int) -> bytes:
    """Raises `Unreadable`."""
    pieces, size = [], 0
    while piece := file.read(READ_BYTES):
        size += len(piece)
        if size > most:
            megabytes = LARGEST_FILE // 1024 // 1024
            raise Unreadable(
                gettext("It has more than {megabytes} MB of conversations.").format(
                    megabytes=megabytes
                )
            )
        pieces.append(piece)
    return b"".join(pieces)


def decoded(content: bytes) -> str:
    """Raises `Unreadable`."""
    encoding = next(name for mark, name in ENCODINGS if content.startswith(mark))
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(gettext("The text of the file is not UTF-8.")) from error


def documents_in(text: str) -> Iterator[Any]:
    """The members of a list one by one, so that others get their turn meanwhile; else the document itself.

    Raises `Unreadable`.
    """
    at = skip(text, 0)
    if not text.startswith("[", at):
        document, end = read_value(text, at)
        if skip(text, end) != len(text):
            raise broken(text, end)
        yield document
        return
    at = skip(text, at + 1)
    is_first = True
    while not text.startswith("]", at):
        if not is_first:
            if not text.startswith(",", at):
                raise broken(text, at)
            at = skip(text, at + 1)
        document, end = read_value(text, at)
        yield document
        at, is_first = skip(text, end), False
    if skip(text, at + 1) != len(text):
        raise broken(text, at + 1)


def skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITESPACE:
        at += 1
    return at


def read_value(text: str, at: int) -> tuple[Any, int]:
    """Raises `Unreadable`."""
    try:
        return _decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated string")
        raise broken(text, len(text) if is_cut else error.pos) from error
    except RecursionError as error:
        raise Unreadable(gettext("The JSON is nested too deeply.")) from error
    except ValueError as error:  # a number of thousands of digits
        raise broken(text, at) from error


def broken(text: str, at: int) -> Unreadable:
    if at >= len(text):
        return Unreadable(gettext("The JSON ends in the middle. Download the file again."))
    return Unreadable(
        gettext("This is no valid JSON: line {value}.").format(value=text.count(chr(10), 0, at) + 1)
    )
