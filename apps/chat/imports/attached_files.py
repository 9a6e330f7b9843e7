"""Stores the images and files in imported messages. They come from the ZIP, or from `data:` URLs in
the messages.
"""

import base64
import binascii
import re
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePosixPath
from typing import IO
from uuid import UUID

import filetype
from django.conf import settings
from django.core.files.base import ContentFile

from apps.accounts.caller import Caller
from apps.archives import UNREADABLE, TooManyEntries, open_archive
from apps.chat.imports.chatgpt import KEY
from apps.chat.imports.exported_values import paragraphs
from apps.chat.imports.files import MOST_MEMBERS
from apps.chat.imports.tree import ImportedMessage, SourceFile
from apps.conversations.files.folder import MOST_FILES, file_title, folder_of, store_file
from apps.errors import FileRefused, Refused

MOST_BYTES = 512 * 1024 * 1024
"""The maximum number of bytes that one import reads from the files in the ZIP, regardless of the
sizes that the ZIP declares.
"""
DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,")


class ImportedFiles:
    """The files in an uploaded ZIP export. Each file is read on demand."""

    def __init__(self, file: IO[bytes]) -> None:
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._archive: zipfile.ZipFile | None = None
        self._left = MOST_BYTES
        with suppress(*UNREADABLE, TooManyEntries):
            self._archive = open_archive(file, MOST_MEMBERS)
            for member in self._archive.infolist():
                # The file's name begins with its ID.
                if found := KEY.match(PurePosixPath(member.filename).name):
                    self._members.setdefault(found.group(), member)

    def read(self, file: SourceFile) -> tuple[str, bytes] | None:
        """Return the file's name and bytes, or None if it is missing, damaged or too large."""
        if inline := DATA.match(file.key):
            return self._decode(file, file.key[inline.end() :])
        member = self._members.get(file.key)
        if self._archive is None or member is None:
            return None
        limit = min(settings.DEFAULT_FILE_LOADING_SIZE_LIMIT, self._left)
        try:
            with self._archive.open(member) as opened:
                content = opened.read(limit + 1)
        except UNREADABLE:
            return None
        self._left -= min(len(content), limit)
        return None if len(content) > limit else (name_of(file, content), content)

    def _decode(self, file: SourceFile, written: str) -> tuple[str, bytes] | None:
        try:
            content = base64.b64decode(written, validate=True)
        except binascii.Error:
            return None
        return name_of(file, content), content


def name_of(file: SourceFile, content: bytes) -> str:
    """Return the file's name. If it is empty, return "picture" with an extension that fits the
    content.
    """
    ending = filetype.guess_extension(content)
    return file.name or (f"picture.{ending}" if ending else "picture")


def bring_files(
    caller: Caller,
    conversation: UUID,
    messages: Iterable[ImportedMessage],
    attached: ImportedFiles,
) -> None:
    """Store the messages' files as attachments, and remove the placeholder lines for these files
    from the messages' texts.

    A placeholder remains if its file is missing or is rejected because of its type, its size or the
    quota.
    """
    taken: list[str] = []
    for message in messages:
        for file in message.files:
            if file.line not in message.text or len(taken) >= MOST_FILES:
                continue
            found = attached.read(file)
            if found is None:
                continue
            name, content = found
            with suppress(Refused, FileRefused):
                stored = store_file(
                    caller, folder_of(conversation), name, ContentFile(content), taken
                )
                title = file_title(stored.path)
                taken.append(title)
                message.attachments.append(
                    {"type": stored.content_type, "title": title, "url": stored.path}
                )
                before, _, after = message.text.partition(file.line)
                message.text = paragraphs((before.rstrip("\n"), after.lstrip("\n")))
