"""Conversations outlive their application, and belong to it again when its row is restored.

What tells them apart from those of a new application of the same name is the number of the row.
"""

from __future__ import annotations

from typing import Any

from apps.catalog.models import Application
from apps.chat.models import Conversation


def part(sender: type[Application], instance: Application, using: str, **kwargs: Any) -> None:
    """Called in the transaction that deletes the row."""
    # Locked, so that no conversation begins between this and the deletion.
    rows = Application.objects.using(using).select_for_update(of=("self",))
    row = rows.filter(pk=instance.pk).values("pk", "slug", "title").first()
    if row is not None:
        Conversation.objects.using(using).filter(application=row["pk"]).update(
            former_application=row["pk"], former_slug=row["slug"], former_title=row["title"]
        )


def rejoin(
    sender: type[Application], instance: Application, created: bool, using: str, **kwargs: Any
) -> None:
    """A row that is new under an old number is the old one."""
    if created:
        Conversation.objects.using(using).filter(former_application=instance.pk).update(
            application=instance.pk, former_application=None, former_slug="", former_title=""
        )
