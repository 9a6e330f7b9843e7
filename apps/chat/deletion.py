"""Deletion of conversations with all that belongs to them, and deletion and renaming of
applications that people used.

These functions receive Django's signals, because rows are deleted in many ways, some of which call
no function of ours.
"""

from collections.abc import Collection
from functools import partial
from typing import Any

from django.db import transaction

from apps.capabilities.documents.cache import cache
from apps.catalog.models import Application
from apps.chat.folders import delete_folder, folder_of
from apps.chat.mirror import mirror
from apps.chat.models import Conversation
from apps.feedback import ratings
from apps.live import journal, summaries
from apps.schedules.desk import forget_conversation
from apps.workspace.local.remembered import former_name, rename_application


def delete_belongings(sender: type[Conversation], instance: Conversation, **kwargs: Any) -> None:
    """Delete a conversation's journal, runs, alarm, files and what feedback has of it; a run in it loses its lease and stops.

    A row without content stays of each run.
    """
    summaries.stop(instance.pk)
    journal.delete(instance.pk)
    forget_conversation(instance.pk)
    ratings.forget_conversation(instance.pk)
    delete_folder(instance.owner, instance.pk)
    cache.forget_folder(folder_of(instance.pk))
    transaction.on_commit(partial(mirror, instance.pk))


def keep_former_name(
    sender: type[Application], instance: Application, using: str, **kwargs: Any
) -> None:
    """Write into its conversations and memories what a deleted application was called."""
    # The row is locked, so that no conversation begins between this update and the deletion.
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
    """Let what an application remembers follow its slug, in the transaction that changes it."""
    if update_fields is not None and "slug" not in update_fields:
        return
    rows = Application.objects.using(using).filter(pk=instance.pk)
    before = rows.values_list("slug", flat=True).first()
    if before is not None and before != instance.slug:
        rename_application(before, instance.slug, using)


def reconnect(
    sender: type[Application], instance: Application, created: bool, using: str, **kwargs: Any
) -> None:
    """Give a restored application its conversations and memories back."""
    # Only a restored row is new under an old key: another application of the same name has another.
    if created:
        Conversation.objects.using(using).filter(former_application=instance.pk).update(
            application=instance.pk, former_application=None, former_slug="", former_title=""
        )
        rename_application(former_name(instance.slug, instance.pk), instance.slug, using)
