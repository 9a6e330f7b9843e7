"""Stores, names and lists the files in a conversation."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.core.files.base import File
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.conversations.files.content_types import detect_content_type, matches_type
from apps.conversations.files.refusals import size_refusal, type_refusal
from apps.conversations.models import Message
from apps.errors import Conflict, FileChanged, FileRefused, OddType, Refused, TooLarge
from apps.live.models import JournalEntry
from apps.workspace.local.files import files
from apps.workspace.local.files.paths import split_path, write_path
from apps.workspace.local.models import StoredFile
from apps.workspace.stored_files import FileInfo

ROOT = "conversations"
MOST_FILES = 200
"""The maximum number of files in one conversation."""
ATTEMPTS = 5
"""The number of attempts to store a file. An attempt fails if a concurrent upload takes the same
name.
"""
NEW = files.Condition(is_new=True)

_own_address = re.compile(r"files/[^/]+/.+")
LONGEST_NAME = 120
"""The maximum number of characters in a stored file name. Longer names are truncated."""
LONGEST_NAME_BYTES = 240

_unsafe = re.compile(r'[\\/:*?"<>|#%]+')


def folder_of(conversation: UUID) -> str:
    return f"{ROOT}/{conversation}/"


def store_upload(
    caller: Caller,
    conversation: UUID,
    written: str,
    content: File[Any],
    types: Sequence[str] = (),
    limit: int | None = None,
) -> FileInfo:
    """Store a file that a visitor uploaded to a conversation.

    `types` limits its content type; () allows all types. `limit` is its maximum size in bytes,
    which defaults to `DEFAULT_FILE_LOADING_SIZE_LIMIT`. Raises `Refused` or `FileRefused`.
    """
    taken = names_in(caller.bucket, conversation)
    if len(taken) >= MOST_FILES:
        raise Conflict(
            "too_many_files",
            gettext(
                "This conversation has {most_files} files, which is the limit. Delete some first."
            ).format(most_files=MOST_FILES),
        )
    return store_file(caller, folder_of(conversation), written, content, taken, types, limit)


def store_file(
    caller: Caller,
    folder: str,
    written: str,
    content: File[Any],
    used_names: Sequence[str],
    types: Sequence[str] = (),
    limit: int | None = None,
) -> FileInfo:
    """Store a file in a folder.

    `written` is the name that the user gave it, and `used_names` are the names of the other files
    in the folder. `types` and `limit` are as in `store_upload`. Raises `Refused` or `FileRefused`.
    """
    name = safe_name(written)
    if not content.size:
        raise Refused(
            "empty_file",
            gettext("Can’t attach an empty file."),
        )
    if limit is not None and content.size > limit:
        raise TooLarge("too_large", size_refusal(limit))
    content_type = detect_content_type(name, content)
    check_type(name, content_type, types)
    known = list(used_names)
    for _ in range(ATTEMPTS):
        free = free_file_name(name, known)
        try:
            return files.take(caller.bucket, folder + free, content, content_type, NEW, limit)
        except FileChanged:
            known.append(free)  # Another upload took the name in the meantime.
    raise Conflict("busy", gettext("Too many files with this name were sent at once. Try again."))


def check_type(name: str, content_type: str, allowed: Sequence[str]) -> None:
    """Raise `OddType` if no pattern in `allowed` matches the content type. An empty `allowed` allows
    all types.
    """
    if not allowed or any(matches_type(content_type, pattern) for pattern in allowed):
        return
    raise OddType("wrong_type", type_refusal(name, allowed))


def names_in(bucket: str, conversation: UUID) -> list[str]:
    prefix = folder_of(conversation)
    rows = StoredFile.objects.filter(bucket=bucket, name__startswith=prefix)
    return [name[len(prefix) :] for name in rows.values_list("name", flat=True)]


def attach_files(
    caller: Caller, paths: Iterable[str], types: Sequence[str] = ()
) -> list[dict[str, str]]:
    """Return the caller's files at these paths as attachments. `types` limits their content types;
    () allows all. Raises `Refused` if a file is missing or its type is not allowed.
    """
    found = []
    for path in dict.fromkeys(paths):
        try:
            info = files.info(caller.bucket, path)
        except FileRefused:
            raise missing_attachment() from None
        title = file_title(info.path)
        check_type(title, info.content_type, types)
        found.append({"type": info.content_type, "title": title, "url": info.path})
    return found


def missing_attachment() -> Refused:
    return Refused("file_missing", gettext("One of the files no longer exists. Attach it again."))


def file_title(path: str) -> str:
    place = split_path(path)
    return place[1].rsplit("/", 1)[-1] if place is not None else path


def list_files(caller: Caller, conversation: UUID) -> list[dict[str, Any]]:
    """Return JSON for each of the caller's files that was uploaded to the conversation or is
    attached to one of its messages or steps, newest first.
    """
    uploaded = set(paths_in_folder(caller, conversation))
    found = []
    for path in uploaded | set(paths_mentioned(conversation)):
        try:
            info = files.info(caller.bucket, path)
        except FileRefused:
            continue  # The file was deleted, or never belonged to the caller.
        found.append({**describe_file(info), "uploaded": info.path in uploaded})
    return sorted(found, key=lambda file: (file["updated_at"], file["name"]), reverse=True)


def paths_in_folder(caller: Caller, conversation: UUID) -> Iterator[str]:
    for bucket in files.buckets_of(caller.bucket):
        for name in names_in(bucket, conversation):
            yield write_path(bucket, folder_of(conversation) + name)


def paths_mentioned(conversation: UUID) -> Iterator[str]:
    """Yield the paths of the files that are attached to the conversation's messages and steps."""
    for attachments in Message.objects.filter(conversation=conversation).values_list(
        "attachments", flat=True
    ):
        yield from filter(None, map(own_path, attachments))
    for events in JournalEntry.objects.filter(stream=conversation).values_list("events", flat=True):
        yield from filter(None, (own_path(event.get("attachment")) for event in events))


def own_path(attachment: Any) -> str:
    url = attachment.get("url") if isinstance(attachment, Mapping) else None
    return url if isinstance(url, str) and _own_address.fullmatch(url) else ""


def describe_file(info: FileInfo) -> dict[str, Any]:
    return {
        "name": file_title(info.path),
        "url": info.path,
        "type": info.content_type,
        "size": info.size,
        "updated_at": info.updated_at.isoformat() if info.updated_at else "",
    }


def delete_files(bucket: str, conversation: UUID) -> None:
    for owner in files.buckets_of(bucket):
        files.delete_below(owner, folder_of(conversation))


def hide_folder(bucket: str, conversation: UUID, *, is_hidden: bool) -> None:
    for owner in files.buckets_of(bucket):
        files.hide_below(owner, folder_of(conversation), is_hidden=is_hidden)


def is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def safe_name(written: str) -> str:
    """Return a file name that is valid in all file systems and fits in one path segment."""
    text = unicodedata.normalize("NFC", written.replace("\\", "/").rsplit("/", 1)[-1])
    kept = "".join(c for c in text if unicodedata.category(c)[0] != "C" or c == "\u200d")
    name = " ".join(_unsafe.sub("_", kept).split()).strip(". ") or "file"
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > 16:
        stem, dot, ending = name, "", ""
    while len(stem + dot + ending) > LONGEST_NAME or too_long(stem + dot + ending):
        stem = stem[:-1]
    return (stem.rstrip() or "file") + dot + ending


def too_long(name: str) -> bool:
    return len(name.encode("utf-8", "replace")) > LONGEST_NAME_BYTES


def free_file_name(name: str, used_names: Iterable[str]) -> str:
    """Return `name`, or a numbered name such as "report (2).pdf" if it is in `used_names`."""
    known = {other.casefold() for other in used_names}
    if name.casefold() not in known:
        return name
    stem, dot, ending = name.rpartition(".")
    stem = stem or name
    tail = f"{dot}{ending}" if dot and stem != name else ""
    numbers = (f"{stem} ({number}){tail}" for number in range(2, len(known) + 3))
    return next(candidate for candidate in numbers if candidate.casefold() not in known)
