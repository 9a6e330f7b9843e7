"""The changes of rows, kept when the row is deleted."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils.timezone import now


class Change(models.Model):
    """`before` and `after` are snapshots (`apps.catalog.history.kinds`), None for no row.

    Both are stored, because the change before may be unrecorded or cleaned up.
    """

    class What(models.TextChoices):
        CREATED = "created"
        CHANGED = "changed"
        DELETED = "deleted"
        RESTORED = "restored"

    class Via(models.TextChoices):
        ADMIN = "admin", "the admin"
        API = "api", "the API"
        EDITOR = "editor", "the editor in DIAL"
        IMPORT = "import", "an import"
        COMMAND = "command", "a command"
        SERVER = "server", "the server"

    kind = models.CharField(
        max_length=60, help_text="The model's label, such as catalog.application."
    )
    object_id = models.BigIntegerField()
    title = models.CharField(max_length=300, help_text="What the row was called then.")
    version = models.PositiveIntegerField(null=True, help_text="Of the row, after the change.")
    what = models.CharField(max_length=10, choices=What)
    restored_from = models.BigIntegerField(null=True, help_text="The change whose state came back.")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    actor = models.CharField(max_length=150, help_text="The name stays when the account goes.")
    via = models.CharField(max_length=10, choices=Via)
    through = models.CharField(max_length=300, help_text="Which key or which command.")
    reason = models.CharField(max_length=300)
    at = models.DateTimeField(default=now)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    count = models.PositiveIntegerField(help_text="How many places differ.")
    places = models.JSONField(default=list, help_text="The paths of the first of them.")

    class Meta:
        app_label = "catalog"
        ordering = ("-pk",)
        indexes = (
            models.Index(fields=("kind", "object_id", "-at"), name="catalog_change_of_row"),
            models.Index(fields=("at",), name="catalog_change_at"),
            models.Index(fields=("kind", "what"), name="catalog_change_what"),
        )

    def __str__(self) -> str:
        return f"{self.title} {self.what} by {self.who}"

    @property
    def who(self) -> str:
        return self.actor or str(self.get_via_display())

    @property
    def how(self) -> str:
        """The way of the change, such as "the API (operator key nightly)"."""
        way = str(self.get_via_display())
        return f"{way} ({self.through})" if self.through else way

    @property
    def way(self) -> str:
        """`how` without what `who` says already."""
        return self.how if self.actor else self.through

    @property
    def state(self) -> dict[str, Any]:
        """The row after the change; before it, if the change deleted the row."""
        found: dict[str, Any] = (self.before if self.after is None else self.after) or {}
        return found
