"""The folder with a conversation's files: uploads, their names, the list of them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.base import File
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.chat.file_names import free_name, safe_name
from apps.chat.file_types import shown, type_of
from apps.chat.models import Message
from apps.errors import Conflict, FileChanged, FileRefused, OddType, Refused
from apps.live.models import JournalEntry
from apps.workspace.local import files
from apps.workspace.local.models import StoredFile
from apps.workspace.local.paths import find_place, write_path
from apps.workspace.stored_files import FileInfo

ROOT = "conversations"
MOST_FILES = 200
"""In the folder of one conversation."""
ATTEMPTS = 5
"""Tries to find a free name while other uploads take names in the same folder."""
NEW = files.Condition(is_new=True)

_own_address = re.compile(r"files/[^/]+/.+")


def folder_of(conversation: UUID) -> str:
    return f"{ROOT}/{conversation}/"


def store_upload(caller: Caller, conversation: UUID, written: str, content: File[Any]) -> FileInfo:
    """Store a file that a visitor uploaded. Raises `Refused`, `FileRefused`."""
    taken = names_in(caller.bucket, conversation)
    if len(taken) >= MOST_FILES:
        raise Conflict(
            "too_many_files",
            gettext(
                "This conversation has {most_files} files already. Delete some of them first."
            ).format(most_files=MOST_FILES),
        )
    return store_file(caller, folder_of(conversation), written, content, taken)


def store_file(
    caller: Caller, folder: str, written: str, content: File[Any], taken: Sequence[str]
) -> FileInfo:
    """Store a file in a folder, whose names are `taken`. Raises `Refused`, `FileRefused`."""
    name = safe_name(written)
    if not content.size:
        raise Refused(
            "empty_file",
            gettext("“{shown}” is empty; there is nothing to send.").format(shown=shown(name)),
        )
    files.check_size(content.size)
    content_type = type_of(name, content)
    check_type(name, content_type)
    known = list(taken)
    for _ in range(ATTEMPTS):
        free = free_name(name, known)
        try:
            return files.take(caller.bucket, folder + free, content, content_type, NEW)
        except FileChanged:
            known.append(free)  # another upload took the name meanwhile
    raise Conflict("busy", gettext("Too many files of that name at once. Try again."))


def check_type(name: str, content_type: str, wanted: Sequence[str] | None = None) -> None:
    """Raises `Refused` for a type that this installation, or an application, does not take."""
    wanted = settings.CHAT_UPLOAD_TYPES if wanted is None else wanted
    if not wanted or any(matches(content_type, pattern) for pattern in wanted):
        return
    raise OddType(
        "wrong_type",
        gettext("“{shown}” is of the type {content_type}; possible are {names}.").format(
            shown=shown(name), content_type=content_type, names=", ".join(wanted)
        ),
    )


def matches(content_type: str, pattern: str) -> bool:
    """Whether a type fits a pattern such as `image/*`."""
    if pattern in ("*", "*/*"):
        return True
    if pattern.endswith("/*"):
        return content_type.startswith(pattern[:-1])
    return content_type == pattern.lower()


def names_in(bucket: str, conversation: UUID) -> list[str]:
    prefix = folder_of(conversation)
    rows = StoredFile.objects.filter(bucket=bucket, name__startswith=prefix)
    return [name[len(prefix) :] for name in rows.values_list("name", flat=True)]


def attached(
    caller: Caller, paths: Iterable[str], types: Sequence[str] = ()
) -> list[dict[str, str]]:
    """Files of the caller as attachments of a question; of these `types`, () for any.

    Raises `Refused`.
    """
    found = []
    for path in dict.fromkeys(paths):
        try:
            info = files.info(caller.bucket, path)
        except FileRefused:
            raise Refused(
                "file_missing", gettext("One of the files is no longer there. Attach it again.")
            ) from None
        title = title_of(info.path)
        check_type(title, info.content_type, types)
        found.append({"type": info.content_type, "title": title, "url": info.path})
    return found


def title_of(path: str) -> str:
    place = find_place(path)
    return place[1].rsplit("/", 1)[-1] if place is not None else path


def listed(caller: Caller, conversation: UUID) -> list[dict[str, Any]]:
    """The files that were uploaded to a conversation or mentioned in it, the newest first."""
    uploaded = set(paths_in_folder(caller, conversation))
    found = []
    for path in uploaded | set(paths_mentioned(conversation)):
        try:
            info = files.info(caller.bucket, path)
        except FileRefused:
            continue  # deleted, or never the caller's
        found.append({**described(info), "uploaded": info.path in uploaded})
    return sorted(found, key=lambda file: (file["updated_at"], file["name"]), reverse=True)


def paths_in_folder(caller: Caller, conversation: UUID) -> Iterator[str]:
    for bucket in files.buckets_of(caller.bucket):
        for name in names_in(bucket, conversation):
            yield write_path(bucket, folder_of(conversation) + name)


def paths_mentioned(conversation: UUID) -> Iterator[str]:
    """The paths of files in the messages and in the stages of the answers."""
    for attachments in Message.objects.filter(conversation=conversation).values_list(
        "attachments", flat=True
    ):
        yield from filter(None, map(own_path, attachments))
    for events in JournalEntry.objects.filter(stream=conversation).values_list("events", flat=True):
        yield from filter(None, (own_path(event.get("attachment")) for event in events))


def own_path(attachment: Any) -> str:
    url = attachment.get("url") if isinstance(attachment, Mapping) else None
    return url if isinstance(url, str) and _own_address.fullmatch(url) else ""


def described(info: FileInfo) -> dict[str, Any]:
    return {
        "name": title_of(info.path),
        "url": info.path,
        "type": info.content_type,
        "size": info.size,
        "updated_at": info.updated_at.isoformat() if info.updated_at else "",
    }


def delete_folder(bucket: str, conversation: UUID) -> None:
    for owner in files.buckets_of(bucket):
        files.delete_below(owner, folder_of(conversation))


def is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
