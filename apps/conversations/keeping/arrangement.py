"""Pins, archives, moves, deletes and restores conversations, and edits folders."""

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
from apps.accounts.legal_holds import holds, is_held, refusal
from apps.conversations.asking import interruptions
from apps.conversations.asking.folder_content import delete_files, rows_of
from apps.conversations.files.folder import hide_folder
from apps.conversations.keeping.tags import FIELDS, change_tags, read_tag_changes
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation, Folder
from apps.errors import Conflict, Refused
from apps.integers import read_integer
from apps.live.hub import Hub

MOST_FOLDERS = 200
LONGEST_NAME = 100
UNDO = timedelta(seconds=30)
"""The minimum time for which a deleted conversation can be restored."""
AT_ONCE = 100


@transaction.atomic
def arrange(caller: Caller, conversation: Conversation, form: Mapping[str, str]) -> None:
    """Pin, archive, move or tag a conversation, depending on the form fields in `form`. Raises
    `Refused` if a field is invalid.
    """
    changes, tags = read_changes(caller, form), read_tag_changes(form)
    change(conversation, **changes)
    change_tags(caller, [conversation.pk], tags)


def read_changes(caller: Caller, form: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns that the form fields in `form` change, with their new values. Raises
    `Refused` if a field is invalid, or if all fields are unknown.
    """
    now, changes = timezone.now(), dict[str, Any]()
    for name, column in (("pinned", "pinned_at"), ("archived", "archived_at")):
        if name in form:
            changes[column] = now if form[name] == "true" else None
    if form.get("archived") == "true":
        changes["pinned_at"] = None
    if "folder" in form:
        changes["folder"] = find_folder(caller, form["folder"]) if form["folder"] else None
    if not changes and FIELDS.isdisjoint(form):
        raise Refused(
            "bad_request", gettext("Use pinned, archived, folder, add_tags or remove_tags.")
        )
    return changes


def change(conversation: Conversation, **columns: Any) -> None:
    """Set columns of the conversation, and update the time of its last change."""
    rows = Conversation.objects.filter(pk=conversation.pk, owner=conversation.owner)
    rows.update(**columns, arranged_at=timezone.now())


def rename_if(conversation: Conversation, expected: str, title: str) -> bool:
    """Rename the conversation if its title is still `expected`. Return False if the user has
    changed it.
    """
    rows = Conversation.objects.undeleted().filter(pk=conversation.pk, title=expected)
    if not rows.update(title=title, arranged_at=timezone.now()):
        return False
    mirror(conversation.pk)
    return True


def delete(hub: Hub, caller: Caller, conversation: Conversation, slug: str) -> None:
    """Mark the conversation as deleted, hide its files, and stop its running answer.
    `erase_deleted` deletes it permanently.
    """
    change(conversation, deleted_at=timezone.now())
    hide_folder(conversation.owner, conversation.pk, is_hidden=True)
    async_to_sync(interruptions.stop)(hub, conversation.pk)
    mirror(conversation.pk)
    audit.record(
        AuditEvent(
            "conversation.deleted", caller.bucket, caller.client.address, slug, conversation.pk
        )
    )


def restore(conversation: Conversation) -> None:
    change(conversation, deleted_at=None)
    hide_folder(conversation.owner, conversation.pk, is_hidden=False)
    mirror(conversation.pk)


def make_permanent(conversation: Conversation) -> None:
    """Convert a temporary conversation to a permanent one. Memory remains off until the user turns
    it on.
    """
    change(conversation, temporary_until=None)
    mirror(conversation.pk)


def erase_temporary() -> int:
    """Permanently delete expired temporary conversations, and return their number."""
    return erase(Conversation.objects.filter(temporary_until__lt=timezone.now()))


def erase_deleted() -> int:
    """Permanently delete the conversations that were marked as deleted and can no longer be
    restored. Return their number.
    """
    return erase(Conversation.objects.filter(deleted_at__lt=timezone.now() - UNDO))


def erase(due: QuerySet[Conversation]) -> int:
    """Permanently delete the conversations in `due` with all their data, and return their number.
    Conversations under a legal hold are only hidden until the hold is lifted.
    """
    hide_held(due)
    due = due.exclude(holds("owner", "pk"))
    erased = 0
    while keys := list(due.order_by().values_list("pk", flat=True)[:AT_ONCE]):
        for key in keys:
            with transaction.atomic():
                # With the lock, a concurrent restoration either comes first, so that the row no
                # longer matches, or finds no row.
                row = due.order_by().select_for_update(of=("self",)).filter(pk=key).first()
                if row is not None:
                    row.delete()
        erased += len(keys)
    return erased


def hide_held(due: QuerySet[Conversation]) -> None:
    """Mark the conversations in `due` that are under a legal hold as deleted. `erase_deleted`
    deletes them after the hold has been lifted.
    """
    for row in due.order_by().filter(holds("owner", "pk"), deleted_at=None).only("pk", "owner"):
        change(row, deleted_at=timezone.now())
        hide_folder(row.owner, row.pk, is_hidden=True)
        mirror(row.pk)


def find_folder(caller: Caller, written: str) -> Folder:
    """Return the caller's folder whose ID is `written`. Raises `Refused` if there is none."""
    found = Folder.objects.filter(owner=caller.bucket, pk=read_integer(written) or 0).first()
    if found is None:
        raise Refused("folder_not_found", gettext("This folder no longer exists. Reload the page."))
    return found


def create_folder(caller: Caller, name: str) -> Folder:
    """Create a folder at the end of the caller's list of folders. Raises `Refused` if the name is
    invalid or the caller has too many folders.
    """
    mine = Folder.objects.filter(owner=caller.bucket)
    if mine.count() >= MOST_FOLDERS:
        raise Refused(
            "too_many",
            gettext(
                "You have {most_folders} folders, which is the limit. Delete one first."
            ).format(most_folders=MOST_FOLDERS),
        )
    last = mine.aggregate(last=Max("position"))["last"]
    return mine.create(owner=caller.bucket, name=read_name(name), position=(last or 0) + 1)


def read_name(written: str) -> str:
    """Return the folder name without extra white space. Raises `Refused` if it is empty or too
    long.
    """
    name = " ".join(written.replace("\0", "").split())
    if not name or len(name) > LONGEST_NAME:
        raise Refused(
            "bad_request",
            gettext("Enter a name of 1 to {limit} characters.").format(limit=LONGEST_NAME),
        )
    return name


@transaction.atomic
def change_folder(caller: Caller, folder: Folder, form: Mapping[str, str]) -> None:
    """Rename, collapse or move a folder, depending on the form fields in `form`. `before` is the
    ID of the folder that will follow it, or "" for the end. Raises `Refused` if a field is invalid.
    """
    if "name" in form:
        folder.name = read_name(form["name"])
    if "collapsed" in form:
        folder.is_collapsed = form["collapsed"] == "true"
    folder.save(update_fields=["name", "is_collapsed"])
    if "before" in form:
        others = [*Folder.objects.filter(owner=caller.bucket).exclude(pk=folder.pk)]
        follower = find_folder(caller, form["before"]) if form["before"] else None
        at = others.index(follower) if follower in others else len(others)
        for position, one in enumerate([*others[:at], folder, *others[at:]]):
            Folder.objects.filter(pk=one.pk).update(position=position)


@transaction.atomic
def delete_folder(folder: Folder) -> None:
    """Delete a folder and its files, but not its conversations. Raises `Conflict` if it has files
    under a legal hold.
    """
    if is_held(folder.owner) and rows_of(folder):
        raise Conflict("legal_hold", refusal())
    Conversation.objects.filter(folder=folder).update(folder=None, arranged_at=timezone.now())
    delete_files(folder)
    folder.delete()
