"""What goes with a conversation, however it is deleted."""

from __future__ import annotations

from typing import Any

from apps.chat.folders import delete_folder
from apps.chat.models import Conversation
from apps.live import journal


def forget(sender: type[Conversation], instance: Conversation, **kwargs: Any) -> None:
    """Delete the journal, the runs and the files; a run that is going loses its lease and stops."""
    journal.delete(instance.pk)
    delete_folder(instance.owner, instance.pk)
