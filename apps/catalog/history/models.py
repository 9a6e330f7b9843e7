"""Stores the recorded changes to rows. They outlive the rows."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils.timezone import now

from apps.old_rows import delete_older


class Change(models.Model):
    """A recorded change to a row. `before` and `after` are snapshots (see `recorded_models`), or
    None if the row did not exist.

    Both states are stored, because the record of the previous change may be missing or deleted.
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
    title = models.CharField(
        max_length=300, help_text="The name of the row at the time of the change."
    )
    version = models.PositiveIntegerField(
        null=True, help_text=("The state of the row after the change.")
    )
    what = models.CharField(max_length=10, choices=What)
    restored_from = models.BigIntegerField(
        null=True, help_text="The ID of the earlier change to which the row was restored."
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    actor = models.CharField(
        max_length=150,
        help_text=(
            "The name of the user who made the change. It is retained after the account is deleted."
        ),
    )
    via = models.CharField(max_length=10, choices=Via)
    through = models.CharField(
        max_length=300, help_text="The API key or the command that made the change."
    )
    reason = models.CharField(max_length=300)
    at = models.DateTimeField(default=now)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    count = models.PositiveIntegerField(
        help_text="The number of differences from the previous state."
    )
    places = models.JSONField(
        default=list, help_text="The paths of the first differences from the previous state."
    )

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
        """Return the interface through which the change was made, such as "the API (operator key
        nightly)".
        """
        way = str(self.get_via_display())
        return f"{way} ({self.through})" if self.through else way

    @property
    def state(self) -> dict[str, Any]:
        """Return the state of the row after the change or, for a deletion, before it."""
        found: dict[str, Any] = (self.before if self.after is None else self.after) or {}
        return found


def delete_old() -> int:
    """Delete changes that are older than `AUDIT_DAYS`, and return their number."""
    return delete_older(Change, "at", settings.AUDIT_DAYS)
