"""Archives, moves, tags, deletes and restores several conversations at once."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils import timezone
from django.utils.translation import ngettext

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import Caller
from apps.conversations.access import record_denials
from apps.conversations.asking import interruptions
from apps.conversations.files.folder import hide_folder
from apps.conversations.keeping.arrangement import read_changes
from apps.conversations.keeping.tags import TagChanges, change_tags, read_tag_changes
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation, QueuedMessage
from apps.errors import Refused
from apps.live.hub import Hub
from apps.live.models import Run

MOST_SELECTED = 100


def change_selected(hub: Hub, caller: Caller, form: Mapping[str, str]) -> list[UUID]:
    """Change several of the caller's conversations, and return the IDs of the changed ones.

    `form["conversations"]` contains the IDs, separated by commas. The other fields are `deleted`
    and the fields that `arrange` accepts. Other users' conversations are skipped. Raises `Refused`
    if a field is invalid.
    """
    keys = read_selection(form.get("conversations", ""))
    is_deletion = form.get("deleted") == "true"
    is_restoration = form.get("deleted") == "false"
    is_arrangement = not is_deletion and not is_restoration
    changes = read_changes(caller, form) if is_arrangement else {}
    tags = read_tag_changes(form) if is_arrangement else TagChanges()
    with transaction.atomic():
        mine = Conversation.objects.filter(
            owner=caller.bucket, deleted_at__isnull=not is_restoration, pk__in=keys
        )
        # Rows are always locked in the same order, so that concurrent selections cannot deadlock.
        rows = list(
            mine.select_for_update(of=("self",)).select_related("application").order_by("pk")
        )
        found = [row.pk for row in rows]
        if is_deletion or is_restoration:
            changes = {"deleted_at": timezone.now() if is_deletion else None}
            for row in rows:
                hide_folder(row.owner, row.pk, is_hidden=is_deletion)
        if is_deletion:
            record_deletions(caller, rows)
        Conversation.objects.filter(pk__in=found).update(**changes, arranged_at=timezone.now())
        change_tags(caller, found, tags)
    record_denials(caller, set(keys) - set(found))
    if is_deletion:
        for key in find_busy(found):
            async_to_sync(interruptions.stop)(hub, key)
    if is_deletion or is_restoration:
        for key in found:
            mirror(key)
    return found


def read_selection(written: str) -> list[UUID]:
    """Parse a comma-separated list of IDs. Raises `Refused` if it is too long or an ID is
    invalid.
    """
    parts = written.split(",", MOST_SELECTED)
    if len(parts) > MOST_SELECTED:
        text = ngettext(
            "Select up to {most} conversation at a time.",
            "Select up to {most} conversations at a time.",
            MOST_SELECTED,
        )
        raise Refused("too_many", text.format(most=MOST_SELECTED))
    try:
        return [UUID(part) for part in parts]
    except ValueError:
        raise Refused("bad_request", "conversations: use IDs, separated by commas.") from None


def record_deletions(caller: Caller, rows: Iterable[Conversation]) -> None:
    audit.record(
        *(
            AuditEvent(
                "conversation.deleted",
                caller.bucket,
                caller.client.address,
                row.application_slug,
                row.pk,
            )
            for row in rows
        )
    )


def find_busy(keys: Iterable[UUID]) -> list[UUID]:
    """Return the IDs of the conversations in `keys` that have an active run or queued messages."""
    asked = list(keys)
    going = Run.objects.filter(stream__in=asked, status__in=Run.OPEN)
    queued = QueuedMessage.objects.filter(conversation__in=asked)
    return list(
        {*going.values_list("stream", flat=True), *queued.values_list("conversation", flat=True)}
    )
