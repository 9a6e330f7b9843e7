"""What a folder of the rail brings to the answers in its conversations: instructions and files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.files.base import File
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.agent.messages import Attachment, Message, attachment_from_dict
from apps.capabilities.documents.cache import cache
from apps.chat.composer.models import LONGEST_INSTRUCTIONS
from apps.chat.folders import described, matches, store_file, title_of
from apps.chat.models import Conversation, Folder
from apps.errors import Conflict, Refused
from apps.live.events import storable
from apps.workspace.local import files
from apps.workspace.local.file_store import info_of
from apps.workspace.local.models import StoredFile
from apps.workspace.local.paths import write_path
from apps.workspace.stored_files import FileInfo

ROOT = "folders"
MOST_FILES = 50
"""In one folder: all of them go along with each question."""


@dataclass(frozen=True, slots=True)
class FolderContent:
    """`instructions` are "" for none."""

    instructions: str = ""
    attachments: tuple[Attachment, ...] = ()

    def attached_to(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The messages, the newest of which has the files of the folder beside its own."""
        if not self.attachments or not messages:
            return tuple(messages)
        *earlier, last = messages
        known = {one.url for one in last.attachments}
        added = (one for one in self.attachments if one.url not in known)
        return (*earlier, replace(last, attachments=(*last.attachments, *added)))


NOTHING = FolderContent()


def content_for(conversation: Conversation, types: Sequence[str] = ()) -> FolderContent:
    """Of the conversation's folder, as it is now; of its files those of these `types`, () for any."""
    mine = Folder.objects.filter(owner=conversation.owner)
    folder = mine.filter(pk=conversation.folder_id).first() if conversation.folder_id else None
    if folder is None:
        return NOTHING
    attachments = tuple(
        attachment_from_dict({"type": one.content_type, "title": title_of(path), "url": path})
        for one in rows_of(folder)
        if not types or any(matches(one.content_type, kind) for kind in types)
        for path in (write_path(one.bucket, one.name),)
    )
    return FolderContent((folder.instructions or "").strip(), attachments)


def rows_of(folder: Folder) -> list[StoredFile]:
    """Its files, by name. Those that a visitor uploaded before signing in are in another bucket."""
    prefix = prefix_of(folder)
    buckets = files.buckets_of(folder.owner)
    rows = StoredFile.objects.filter(bucket__in=buckets, name__startswith=prefix)
    return sorted(rows, key=lambda one: one.name)


def prefix_of(folder: Folder) -> str:
    return f"{ROOT}/{folder.pk}/"


def document_of(folder: Folder) -> dict[str, Any]:
    """As the page shows it."""
    found = [described(info_of(one)) for one in rows_of(folder)]
    return {"folder": folder.pk, "instructions": folder.instructions or "", "files": found}


def instruct(folder: Folder, written: str) -> None:
    """Raises `Refused` for a text that is too long."""
    text = str(storable(written)).replace("\r\n", "\n").strip()
    if len(text) > LONGEST_INSTRUCTIONS:
        raise Refused(
            "too_long",
            f"instructions: {len(text):,} characters; at most {LONGEST_INSTRUCTIONS:,} are possible.",
        )
    Folder.objects.filter(pk=folder.pk).update(instructions=text)
    folder.instructions = text


def add_file(caller: Caller, folder: Folder, written: str, content: File[Any]) -> FileInfo:
    """Raises `Refused`, `FileRefused`."""
    taken = [one.name.removeprefix(prefix_of(folder)) for one in rows_of(folder)]
    if len(taken) >= MOST_FILES:
        raise Conflict(
            "too_many_files",
            gettext("This folder has {most_files} files already. Delete some first.").format(
                most_files=MOST_FILES
            ),
        )
    return store_file(caller, prefix_of(folder), written, content, taken)


def delete_files(folder: Folder) -> None:
    for bucket in files.buckets_of(folder.owner):
        files.delete_below(bucket, prefix_of(folder))
    cache.forget_folder(prefix_of(folder))
