"""Reads and changes a folder's instructions and files. They are sent with every question in the
folder's conversations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.core.files.base import File
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.accounts.preferences import LONGEST_INSTRUCTIONS
from apps.agent.messages import Attachment, ModelMessage, attachment_from_dict
from apps.capabilities.documents.cache import cache
from apps.conversations.files.content_types import matches_type
from apps.conversations.files.folder import describe_file, file_title, store_file
from apps.conversations.models import Conversation, Folder
from apps.errors import Conflict, Refused
from apps.live.events import storable_value
from apps.workspace.local.files import files
from apps.workspace.local.files.paths import write_path
from apps.workspace.local.files.store import stored_info
from apps.workspace.local.models import StoredFile
from apps.workspace.stored_files import FileInfo

ROOT = "folders"
MOST_FILES = 50
"""The maximum number of files in a folder. All of them are sent with each question."""


@dataclass(frozen=True, slots=True)
class FolderContent:
    """A folder's instructions ("" if it has none), and its files as attachments."""

    instructions: str = ""
    attachments: tuple[Attachment, ...] = ()

    def attached_to(self, messages: Sequence[ModelMessage]) -> tuple[ModelMessage, ...]:
        """Return the messages, with the folder's files attached to the last one."""
        if not self.attachments or not messages:
            return tuple(messages)
        *earlier, last = messages
        known = {one.url for one in last.attachments}
        added = (one for one in self.attachments if one.url not in known)
        return (*earlier, replace(last, attachments=(*last.attachments, *added)))


NOTHING = FolderContent()


def content_for(conversation: Conversation, types: Sequence[str] = ()) -> FolderContent:
    """Return the content of the conversation's folder, or `NOTHING` if it has none. `types` limits
    the content types of the files; () allows all types.
    """
    mine = Folder.objects.filter(owner=conversation.owner)
    folder = mine.filter(pk=conversation.folder_id).first() if conversation.folder_id else None
    if folder is None:
        return NOTHING
    attachments = tuple(
        attachment_from_dict({"type": one.content_type, "title": file_title(path), "url": path})
        for one in rows_of(folder)
        if not types or any(matches_type(one.content_type, kind) for kind in types)
        for path in (write_path(one.bucket, one.name),)
    )
    return FolderContent((folder.instructions or "").strip(), attachments)


def rows_of(folder: Folder) -> list[StoredFile]:
    """Return the folder's files, sorted by name. They include files that the owner added before
    signing in.
    """
    prefix = prefix_of(folder)
    buckets = files.buckets_of(folder.owner)
    rows = StoredFile.objects.filter(bucket__in=buckets, name__startswith=prefix)
    return sorted(rows, key=lambda one: one.name)


def prefix_of(folder: Folder) -> str:
    return f"{ROOT}/{folder.pk}/"


def folder_document(folder: Folder) -> dict[str, Any]:
    """Return the folder's instructions and files as JSON for the page."""
    found = [describe_file(stored_info(one)) for one in rows_of(folder)]
    return {
        "folder": folder.pk,
        "instructions": folder.instructions or "",
        "files": found,
        "limits": {"size": settings.CHAT_UPLOAD_MAX_BYTES, "types": []},
    }


def instruct(folder: Folder, written: str) -> None:
    """Set the folder's instructions. Raises `Refused` if the text is too long."""
    text = str(storable_value(written)).replace("\r\n", "\n").strip()
    if len(text) > LONGEST_INSTRUCTIONS:
        raise Refused(
            "too_long",
            gettext("The instructions have {count} characters; the limit is {limit}.").format(
                count=f"{len(text):,}", limit=f"{LONGEST_INSTRUCTIONS:,}"
            ),
        )
    Folder.objects.filter(pk=folder.pk).update(instructions=text)
    folder.instructions = text


def add_file(caller: Caller, folder: Folder, written: str, content: File[Any]) -> FileInfo:
    """Add a file to the folder. Raises `Refused` if the folder is full or the file's type is not
    accepted, and `FileRefused` if the storage rejects the file.
    """
    taken = [one.name.removeprefix(prefix_of(folder)) for one in rows_of(folder)]
    if len(taken) >= MOST_FILES:
        raise Conflict(
            "too_many_files",
            gettext(
                "This folder has {most_files} files, which is the limit. Delete some first."
            ).format(most_files=MOST_FILES),
        )
    limit = settings.CHAT_UPLOAD_MAX_BYTES
    return store_file(caller, prefix_of(folder), written, content, taken, limit=limit)


def delete_files(folder: Folder) -> None:
    for bucket in files.buckets_of(folder.owner):
        files.delete_below(bucket, prefix_of(folder))
    cache.forget_folder(prefix_of(folder))
