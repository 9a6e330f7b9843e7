"""How people keep their conversations: pinned, in folders, archived, deleted with a way back."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from asgiref.sync import async_to_sync
from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import Caller
from apps.chat import interruptions
from apps.chat.folder_content import delete_files
from apps.chat.mirror import mirror
from apps.chat.models import Conversation, Folder
from apps.errors import Refused
from apps.integers import read_integer
from apps.live.hub import HUB

MOST_FOLDERS = 200
LONGEST_NAME = 100
UNDO = timedelta(seconds=30)
"""How long a deleted conversation can be restored at least."""
AT_ONCE = 100


def arrange(caller: Caller, conversation: Conversation, given: Mapping[str, str]) -> None:
    """Pin, archive or move a conversation, as far as the fields say so. Raises `Refused`."""
    now, changes = timezone.now(), dict[str, Any]()
    for name, column in (("pinned", "pinned_at"), ("archived", "archived_at")):
        if name in given:
            changes[column] = now if given[name] == "true" else None
    if given.get("archived") == "true":
        changes["pinned_at"] = None
    if "folder" in given:
        changes["folder"] = find_folder(caller, given["folder"]) if given["folder"] else None
    if not changes:
        raise Refused("bad_request", gettext("Write pinned, archived or folder."))
    change(conversation, **changes)


def change(conversation: Conversation, **columns: Any) -> None:
    """Change columns so that the owner's pages hear of it."""
    rows = Conversation.objects.filter(pk=conversation.pk, owner=conversation.owner)
    rows.update(**columns, arranged_at=timezone.now())


def rename_if(conversation: Conversation, known: str, title: str) -> bool:
    """Give a conversation another title unless somebody was quicker: it has the `known` one still."""
    rows = Conversation.objects.kept().filter(pk=conversation.pk, title=known)
    if not rows.update(title=title, arranged_at=timezone.now()):
        return False
    mirror(conversation.pk)
    return True


def delete(caller: Caller, conversation: Conversation, slug: str) -> None:
    """Hide a conversation, and erase it later; an answer that is being written in it stops."""
    change(conversation, deleted_at=timezone.now())
    async_to_sync(interruptions.stop)(HUB, conversation.pk)
    mirror(conversation.pk)
    audit.record(
        AuditEvent("conversation.deleted", caller.bucket, caller.address, slug, conversation.pk)
    )


def restore(conversation: Conversation) -> None:
    change(conversation, deleted_at=None)
    mirror(conversation.pk)


def keep(conversation: Conversation) -> None:
    """Let a temporary one be as any other. It has no memory until somebody switches that on."""
    change(conversation, temporary_until=None)
    mirror(conversation.pk)


def erase_temporary() -> int:
    """Delete the rows of temporary conversations whose time is over; how many."""
    return erase(Conversation.objects.filter(temporary_until__lt=timezone.now()))


def erase_deleted() -> int:
    """Delete the rows of conversations that nobody restored in time; how many."""
    return erase(Conversation.objects.filter(deleted_at__lt=timezone.now() - UNDO))


def erase(due: QuerySet[Conversation]) -> int:
    """Delete the rows of conversations that are due, with all that belongs to them; how many."""
    erased = 0
    while keys := list(due.order_by().values_list("pk", flat=True)[:AT_ONCE]):
        for key in keys:
            with transaction.atomic():
                # Locked, so that somebody who restores or keeps it now is quicker, or finds it gone.
                row = due.order_by().select_for_update(of=("self",)).filter(pk=key).first()
                if row is not None:
                    row.delete()
        erased += len(keys)
    return erased


def find_folder(caller: Caller, written: str) -> Folder:
    """Raises `Refused`."""
    found = Folder.objects.filter(owner=caller.bucket, pk=read_integer(written) or 0).first()
    if found is None:
        raise Refused(
            "folder_not_found", "folder: there is no such folder; it may have been deleted."
        )
    return found


def create_folder(caller: Caller, name: str) -> Folder:
    """Raises `Refused`."""
    mine = Folder.objects.filter(owner=caller.bucket)
    if mine.count() >= MOST_FOLDERS:
        raise Refused(
            "too_many",
            gettext("You have {most_folders} folders; delete one first.").format(
                most_folders=MOST_FOLDERS
            ),
        )
    last = mine.aggregate(last=Max("position"))["last"]
    return mine.create(owner=caller.bucket, name=read_name(name), position=(last or 0) + 1)


def read_name(written: str) -> str:
    """Raises `Refused`."""
    name = " ".join(written.replace("\0", "").split())
    if not name or len(name) > LONGEST_NAME:
        raise Refused("bad_request", f"name: write 1 to {LONGEST_NAME} characters.")
    return name


@transaction.atomic
def change_folder(caller: Caller, folder: Folder, given: Mapping[str, str]) -> None:
    """Rename a folder, collapse it, or move it: `before` is the folder it goes in front of, "" for the end.

    Raises `Refused`.
    """
    if "name" in given:
        folder.name = read_name(given["name"])
    if "collapsed" in given:
        folder.is_collapsed = given["collapsed"] == "true"
    folder.save(update_fields=["name", "is_collapsed"])
    if "before" in given:
        others = [*Folder.objects.filter(owner=caller.bucket).exclude(pk=folder.pk)]
        follower = find_folder(caller, given["before"]) if given["before"] else None
        at = others.index(follower) if follower in others else len(others)
        for position, one in enumerate([*others[:at], folder, *others[at:]]):
            Folder.objects.filter(pk=one.pk).update(position=position)


@transaction.atomic
def delete_folder(folder: Folder) -> None:
    """Its conversations stay, outside of it; its files go with it."""
    Conversation.objects.filter(folder=folder).update(folder=None, arranged_at=timezone.now())
    delete_files(folder)
    folder.delete()
