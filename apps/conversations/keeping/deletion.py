"""Defines signal receivers that delete the data of deleted conversations, and update conversations
if their application is deleted, renamed or restored.

Signals are necessary because the admin, for example, deletes rows directly.
"""

from collections.abc import Collection
from functools import partial
from typing import Any

from django.db import transaction

from apps.capabilities.documents.cache import cache
from apps.catalog.models import Application
from apps.conversations.files.folder import delete_files, folder_of
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation
from apps.live.history import run_rows
from apps.live.journal import journal
from apps.schedules.user_schedules import forget_conversation
from apps.workspace.local.memories.remembered import former_name, rename_application


def delete_belongings(sender: type[Conversation], instance: Conversation, **kwargs: Any) -> None:
    """Delete the journal, runs, alarm and files of a deleted conversation, and stop its active run.
    For each run, a `RunSummary` row without content remains.
    """
    run_rows.stop(instance.pk)
    journal.delete(instance.pk)
    forget_conversation(instance.pk)
    delete_files(instance.owner, instance.pk)
    cache.forget_folder(folder_of(instance.pk))
    transaction.on_commit(partial(mirror, instance.pk))


def store_former_name(
    sender: type[Application], instance: Application, using: str, **kwargs: Any
) -> None:
    """Before an application is deleted, store its slug and title on its conversations, and rename
    its memories.
    """
    # The lock prevents new conversations between this update and the deletion.
    rows = Application.objects.using(using).select_for_update(of=("self",))
    row = rows.filter(pk=instance.pk).values("pk", "slug", "title").first()
    if row is not None:
        Conversation.objects.using(using).filter(application=row["pk"]).update(
            former_application=row["pk"], former_slug=row["slug"], former_title=row["title"]
        )
        rename_application(row["slug"], former_name(row["slug"], row["pk"]), using)


def follow_slug(
    sender: type[Application],
    instance: Application,
    using: str,
    update_fields: Collection[str] | None = None,
    **kwargs: Any,
) -> None:
    """Rename an application's memories in the transaction that changes its slug."""
    if update_fields is not None and "slug" not in update_fields:
        return
    rows = Application.objects.using(using).filter(pk=instance.pk)
    before = rows.values_list("slug", flat=True).first()
    if before is not None and before != instance.slug:
        rename_application(before, instance.slug, using)


def reconnect(
    sender: type[Application], instance: Application, created: bool, using: str, **kwargs: Any
) -> None:
    """Link a restored application to its conversations and memories again."""
    # Only a restored application is created with an old primary key. A new one with the same slug
    # has another key.
    if created:
        Conversation.objects.using(using).filter(former_application=instance.pk).update(
            application=instance.pk, former_application=None, former_slug="", former_title=""
        )
        rename_application(former_name(instance.slug, instance.pk), instance.slug, using)
