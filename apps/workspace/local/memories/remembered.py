"""Defines the database models for memories and users' memory settings."""

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef
from django.utils import timezone

from apps.accounts.caller import of_person
from apps.accounts.legal_holds import holds
from apps.accounts.models import ApiKey
from apps.workspace.memories.limits import MERGES_KEPT_DAYS


class MemoryCollection(models.Model):
    """The memories that a bucket has in one application, or in all applications."""

    bucket = models.CharField(max_length=100)
    end_user = models.CharField(max_length=64, blank=True)
    """A hash of the end user in requests with an API key, or "" if there is none."""
    application = models.CharField(max_length=200, blank=True)
    """A slug, the `former_name` of a deleted application, or "" for all applications."""
    model = models.CharField(max_length=300, blank=True)
    version = models.UUIDField(default=uuid.uuid4)
    """A value that changes whenever the memories change."""
    deduplicated_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("bucket", "end_user", "application"), name="one_collection_of_an_owner"
            ),
        )

    def __str__(self) -> str:
        return f"{self.bucket} in {self.application or 'all applications'}"


class StoredMemory(models.Model):
    """A memory. `vector` contains 32-bit floats."""

    collection = models.ForeignKey(
        MemoryCollection, on_delete=models.CASCADE, related_name="memories"
    )
    number = models.BigIntegerField()
    """The memory's ID in the collection."""
    content = models.TextField()
    importance = models.FloatField()
    category = models.CharField(max_length=100)
    topics = models.JSONField(default=list)
    vector = models.BinaryField()
    unknown_share = models.FloatField(default=0.0)
    is_separate = models.BooleanField(default=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("collection", "number"), name="one_memory_of_a_number"),
        )

    def __str__(self) -> str:
        # The text never contains the memory, because it may be logged.
        return f"memory {self.number}"


class MemoryMerge(models.Model):
    """A merge of several memories into one."""

    collection = models.ForeignKey(
        MemoryCollection, on_delete=models.CASCADE, related_name="merges"
    )
    number = models.BigIntegerField()
    survivor = models.BigIntegerField()
    """The number of the merged memory."""
    merged_at = models.DateTimeField()
    originals = models.JSONField()
    """The original memories, in the format of `apps.workspace.memories.document`."""

    def __str__(self) -> str:
        return f"merge into memory {self.survivor}"


class MemorySettings(models.Model):
    """A user's memory settings. A user without a row has the defaults."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memory_settings"
    )
    is_enabled = models.BooleanField(default=True)
    is_shared = models.BooleanField(default=False)
    """True if applications that request shared memories all use one collection for this user."""

    def __str__(self) -> str:
        return f"memory settings of user {self.user_id}"


def settings_of(user_id: int) -> MemorySettings:
    """Return the stored settings of the user, or new unsaved settings."""
    found = MemorySettings.objects.filter(user=user_id).first()
    return found or MemorySettings(user_id=user_id)


def delete_old_merges() -> int:
    """Delete merges that can no longer be undone. Return the number of deleted merges."""
    before = timezone.now() - timedelta(days=MERGES_KEPT_DAYS)
    old = MemoryMerge.objects.filter(merged_at__lt=before)
    deleted, _ = old.exclude(holds("collection__bucket")).delete()
    return deleted


def former_name(slug: str, number: int) -> str:
    """Return the name under which a deleted application's memories are stored, because a new
    application may get its slug. Slugs do not contain #.
    """
    return f"{slug}#{number}"


def rename_application(before: str, after: str, using: str) -> None:
    """Move the memories of an application to its new slug.

    If an owner already has memories under the new slug, these memories remain, and the old memories
    are not moved.
    """
    rows = MemoryCollection.objects.using(using)
    there = rows.filter(application=after, bucket=OuterRef("bucket"), end_user=OuterRef("end_user"))
    rows.filter(~Exists(there), application=before).update(application=after)


def delete_memories_of_user(sender: object, instance: models.Model, **kwargs: Any) -> None:
    MemoryCollection.objects.filter(of_person(instance.pk)).delete()


def delete_memories_of_key(sender: object, instance: ApiKey, **kwargs: Any) -> None:
    """Delete the memories of an API key when the key is deleted, because they can no longer be
    requested.
    """
    MemoryCollection.objects.filter(bucket=f"key-{instance.prefix}").delete()
