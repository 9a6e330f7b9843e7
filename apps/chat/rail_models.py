"""What a person puts their conversations in order with: folders, and applications at hand."""

from django.db import models
from django.utils import timezone


class Folder(models.Model):
    """A person's folder of conversations, which stay when it is deleted."""

    owner = models.CharField(max_length=100)
    name = models.CharField(max_length=100)
    position = models.IntegerField()
    is_collapsed = models.BooleanField(default=False)
    # Nullable, because a column with a default would make SQLite copy the table.
    instructions = models.TextField(  # noqa: DJ001
        null=True,
        editable=False,
        help_text="What its owner tells every model in its conversations.",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("position", "pk")
        indexes = (models.Index(fields=("owner", "position"), name="folder_of_owner"),)

    def __str__(self) -> str:
        return f"folder {self.pk}"


class PinnedApplication(models.Model):
    """An application that a person keeps at hand."""

    owner = models.CharField(max_length=100)
    application = models.ForeignKey(
        "catalog.Application", on_delete=models.CASCADE, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("created_at", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=("owner", "application"), name="an_application_is_pinned_once"
            ),
        )

    def __str__(self) -> str:
        return f"pinned application {self.pk}"
