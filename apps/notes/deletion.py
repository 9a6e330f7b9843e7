"""What goes with a person and with a team: their notes, all versions, and the files of the notes."""

from typing import Any

from django.db import models

from apps.accounts.buckets import bucket_of
from apps.notes.attachments import FOLDER
from apps.notes.models import Note
from apps.notes.spaces import owner_of_team
from apps.workspace.local import files


def delete_of_user(sender: object, instance: models.Model, **kwargs: Any) -> None:
    """Receives the signal that an account was deleted."""
    delete_all(bucket_of(instance.pk))


def delete_of_team(sender: object, instance: models.Model, **kwargs: Any) -> None:
    """Receives the signal that a team was deleted."""
    delete_all(owner_of_team(instance.pk))


def delete_all(owner: str) -> None:
    Note.objects.filter(owner=owner).delete()
    files.delete_below(owner, FOLDER)
