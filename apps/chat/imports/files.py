"""Detects the formats of conversation exports, including exports from other products, and reads the
conversations in them.
"""

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
from apps.chat.imports.tree import SourceConversation, UnreadableConversation
from apps.documents.zip_names import READ_AS, named_entries

LARGEST_FILE = 64 * 1024 * 1024
"""The maximum number of bytes in an uploaded file. For a ZIP, this limits the total size of its
conversation files.
"""
MOST_CONVERSATIONS = 20_000
MOST_MEMBERS = 50_000
"""The maximum number of files in a ZIP. An export can include many years of images."""
READ_BYTES = 1024 * 1024
ENCODINGS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig"))
NO_CONVERSATIONS = gettext_lazy(
    "The file contains no conversations. Choose the conversations.json file or the whole ZIP from ChatGPT, or a JSON file from Open WebUI, LibreChat or QuickApps."
)
EXPECTED = gettext_lazy(
    "Choose the conversations.json file or the whole ZIP from ChatGPT, or a JSON file from Open WebUI, LibreChat or QuickApps."
)
BEGINNING_BYTES = 8192
"""The number of bytes that the library `filetype` needs to detect a file's type."""
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


def conversations_in(file: IO[bytes]) -> Iterator[SourceConversation | UnreadableConversation]:
    """Yield the conversations in the file. Yield an `UnreadableConversation` in place of each
    conversation that cannot be read. Raises `UnreadableConversation` if the file itself cannot be
    read.
    """
    count = 0
    for text in texts_in(file):
        for document in documents_in(text):
            count += 1
            if count > MOST_CONVERSATIONS:
                raise UnreadableConversation(
                    gettext(
                        "The file has too many conversations; the limit is {most_conversations}."
                    ).format(
                        most_conversations=number_format(MOST_CONVERSATIONS, force_grouping=True)
                    )
                )
            yield conversation_of(document)
    if not count:
        raise UnreadableConversation(NO_CONVERSATIONS)


def conversation_of(document: Any) -> SourceConversation | UnreadableConversation:
    if not isinstance(document, dict):
        return UnreadableConversation(gettext("it isn’t a JSON object"))
    read = next((one.read for one in FORMATS if one.fits(document)), None)
    if read is None:
        return UnreadableConversation(gettext("unknown format"))
    try:
        return read(document)
    except UnreadableConversation as error:
        return error


def texts_in(file: IO[bytes]) -> Iterator[str]:
    """Yield the JSON texts in a file, which may be a ZIP. Raises `UnreadableConversation` if the
    file is empty, too large, damaged or not text.
    """
    beginning = file.read(BEGINNING_BYTES)
    file.seek(0)
    if not beginning:
        raise UnreadableConversation(gettext("The file is empty."))
    if not beginning.startswith(b"PK"):
        check_kind(beginning)
        yield decode_text(read_at_most(file, LARGEST_FILE))
        return
    try:
        with open_archive(file, MOST_MEMBERS) as archive:
            yield from members_of(archive)
    except TooManyEntries as error:
        raise UnreadableConversation(
            gettext("The ZIP has too many files; the limit is {most_members}.").format(
                most_members=number_format(MOST_MEMBERS, force_grouping=True)
            )
        ) from error
    except UNREADABLE as error:
        raise UnreadableConversation(
            gettext(
                "The ZIP can’t be read because it is damaged or password-protected. Choose another file."
            )
        ) from error


def check_kind(beginning: bytes) -> None:
    """Raise `UnreadableConversation` if the file begins like an image, a PDF or another binary
    file.
    """
    if (kind := filetype.guess(beginning)) is None:
        return
    found = gettext("This file has the type {type}, so it isn’t a conversation export.")
    raise UnreadableConversation(f"{found.format(type=kind.mime)} {EXPECTED}")


def members_of(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the texts of the ZIP's conversation files. Raises `UnreadableConversation` if they
    exceed `LARGEST_FILE` bytes in total, regardless of the sizes that the ZIP declares.
    """
    left = LARGEST_FILE
    for name, info in named_entries(archive, READ_AS):
        if not has_conversations(name):
            continue
        with archive.open(info) as member:
            content = read_at_most(member, left)
        left -= len(content)
        yield decode_text(content)


def has_conversations(name: str) -> bool:
    """Return True if a file with this name in a ZIP contains conversations.

    ChatGPT exports contain `conversations.json` or `conversations-000.json`. QuickApps exports
    contain a folder `conversations`.
    """
    path = PurePosixPath(name)
    if path.suffix.lower() != ".json" or "__MACOSX" in path.parts:
        return False
    return path.name.lower().startswith("conversations") or path.parent.name == "conversations"


def read_at_most(file: IO[bytes], most: int) -> bytes:
    """Return the file's remaining content. Raises `UnreadableConversation` if it is larger than
    `most` bytes.
    """
    chunks, size = [], 0
    while chunk := file.read(READ_BYTES):
        size += len(chunk)
        if size > most:
            megabytes = LARGEST_FILE // 1024 // 1024
            raise UnreadableConversation(
                gettext(
                    "The conversations in the file are too large; the limit is {megabytes} MB."
                ).format(megabytes=megabytes)
            )
        chunks.append(chunk)
    return b"".join(chunks)


def decode_text(content: bytes) -> str:
    """Decode text by its byte order mark, or as UTF-8 if it has none. Raises
    `UnreadableConversation` if the content cannot be decoded.
    """
    encoding = next(name for mark, name in ENCODINGS if content.startswith(mark))
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableConversation(
            gettext("The file isn’t encoded as UTF-8. Save it as UTF-8 and try again.")
        ) from error


def documents_in(text: str) -> Iterator[Any]:
    """Yield each element of a JSON array, or the document itself if it is not an array. Raises
    `UnreadableConversation` if the JSON is invalid.
    """
    at = skip(text, 0)
    if not text.startswith("[", at):
        document, end = read_value(text, at)
        if skip(text, end) != len(text):
            raise broken_file(text, end)
        yield document
        return
    at = skip(text, at + 1)
    is_first = True
    while not text.startswith("]", at):
        if not is_first:
            if not text.startswith(",", at):
                raise broken_file(text, at)
            at = skip(text, at + 1)
        document, end = read_value(text, at)
        yield document
        at, is_first = skip(text, end), False
    if skip(text, at + 1) != len(text):
        raise broken_file(text, at + 1)


def skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITESPACE:
        at += 1
    return at


def read_value(text: str, at: int) -> tuple[Any, int]:
    """Return the JSON value that starts at index `at`, and the index after it. Raises
    `UnreadableConversation` if the JSON is invalid.
    """
    try:
        return _decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated string")
        raise broken_file(text, len(text) if is_cut else error.pos) from error
    except RecursionError as error:
        raise UnreadableConversation(
            gettext("The JSON is nested too deeply. Choose another file.")
        ) from error
    except ValueError as error:  # For example, a number with thousands of digits.
        raise broken_file(text, at) from error


def broken_file(text: str, at: int) -> UnreadableConversation:
    if at >= len(text):
        return UnreadableConversation(gettext("The JSON is incomplete. Download the file again."))
    return UnreadableConversation(
        gettext("This isn’t valid JSON. The error is on line {value}.").format(
            value=text.count(chr(10), 0, at) + 1
        )
    )
