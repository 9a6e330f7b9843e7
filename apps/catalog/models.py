"""Defines the database models for applications, grants, uploads, operator keys and system messages."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.text import Truncator
from rest_framework_api_key.models import AbstractAPIKey

from apps.catalog.application_files.models import ApplicationSkill, ApplicationSource
from apps.catalog.content.models import ContentItem
from apps.catalog.history.models import Change
from apps.catalog.icons.models import IconImage
from apps.catalog.icons.values import LONGEST_ICON, validate_icon
from apps.catalog.saved_prompts import SavedPrompt
from apps.catalog.versions.models import (
    ApplicationDraft,
    ApplicationVersion,
    ContentSnapshot,
    ContentText,
    PublishingRequest,
)
from apps.catalog.widgets.models import Widget
from apps.datetime_fields import BoundedDateTimeField
from apps.workspace.versions import VersionedRow

__all__ = [
    "Application",
    "ApplicationDraft",
    "ApplicationSkill",
    "ApplicationSource",
    "ApplicationVersion",
    "Change",
    "ContentItem",
    "ContentSnapshot",
    "ContentText",
    "Grant",
    "IconImage",
    "OperatorKey",
    "PublishingRequest",
    "Role",
    "SavedPrompt",
    "SystemMessage",
    "Widget",
    "empty_manifest",
]


def empty_manifest() -> dict[str, Any]:
    """Return the initial manifest of new applications."""
    return {
        "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
        "contexts": [],
        "tool_sets": [],
    }


class Application(VersionedRow):
    """An agent that users can chat with. Its manifest declares its model, instructions and tools."""

    slug = models.SlugField(
        unique=True,
        help_text=(
            "The name in URLs and in the API. Existing links and API clients break "
            "if you change it."
        ),
    )
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    icon = models.CharField(
        max_length=LONGEST_ICON,
        blank=True,
        default="",
        validators=[validate_icon],
        help_text=(
            "An emoji, or a color for the initials, from colour:0 to colour:11. Leave "
            "empty for initials on an automatic color."
        ),
    )
    manifest = models.JSONField(default=empty_manifest)
    is_enabled = models.BooleanField("enabled", default=True)
    is_public = models.BooleanField(
        "public", default=False, help_text="Available without signing in."
    )
    is_shared = models.BooleanField(
        "shared", default=False, help_text="Available to all signed-in users."
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="applications",
    )
    needs_second_publisher = models.BooleanField(
        "published by two people",
        default=False,
        help_text=(
            "The author of a draft requests publication, and another user publishes the draft. "
            "Only superusers can turn this off."
        ),
    )
    live_number = models.PositiveIntegerField(
        default=0,
        editable=False,
        help_text="The number of the published version; 0 if there is only a draft.",
    )
    archived_at = models.DateTimeField(null=True, editable=False)
    imported_hash = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("title",)
        permissions = (
            (
                "access_all_applications",
                "Can use all applications, and edit those that its other permissions allow",
            ),
            (
                "see_all_applications",
                "Can see all applications in the admin, with their history, runs and usage",
            ),
            ("publish_application", "Can publish versions of applications"),
            ("erase_application", "Can erase archived applications with all their versions"),
        )

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return f"/chat/{self.slug}/"


class Role(models.IntegerChoices):
    """A user's role in an application. Each role includes the rights of all lower roles."""

    USER = 1, "User"
    EDITOR = 2, "Editor"
    OWNER = 3, "Owner"


class Grant(models.Model):
    """A role in an application for one user, or for all members of a group or team."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="grants")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="grants",
    )
    group = models.ForeignKey(
        "auth.Group", on_delete=models.CASCADE, null=True, blank=True, related_name="grants"
    )
    role = models.PositiveSmallIntegerField(choices=Role, default=Role.USER)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(user=None) ^ models.Q(group=None),
                name="a_grant_is_for_one",
                violation_error_message="Choose a user or a group.",
            ),
            models.UniqueConstraint(fields=("application", "user"), name="one_grant_a_person"),
            models.UniqueConstraint(fields=("application", "group"), name="one_grant_a_group"),
        )

    def __str__(self) -> str:
        return f"{Role(self.role).label}: {self.user or self.group}"


class Upload(models.Model):
    """Links an uploaded file to an application. Copies of an application share its files."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="uploads")
    file = models.ForeignKey(
        "workspace.StoredFile", on_delete=models.CASCADE, related_name="uploads"
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("application", "file"), name="one_upload_of_an_application"
            ),
        )

    def __str__(self) -> str:
        return f"file {self.file_id} of application {self.application_id}"


class OperatorKey(AbstractAPIKey):
    """An API key for scripts that call `/api/` with the permissions of one operator."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="operator_keys",
        limit_choices_to={"is_staff": True},
        help_text=(
            "The account whose permissions the key has. The account must be active and have staff status."
        ),
    )

    expiry_date = BoundedDateTimeField(
        "Expires",
        null=True,
        blank=True,
        help_text="The key stops working at this time. Leave empty for no expiry.",
    )

    class Meta(AbstractAPIKey.Meta):
        verbose_name = "operator key"
        verbose_name_plural = "operator keys"


class SystemMessage(models.Model):
    """An announcement by an operator that every user sees on the page until it ends."""

    class Level(models.TextChoices):
        INFO = "info"
        WARNING = "warning"

    text = models.TextField(max_length=2000)
    level = models.CharField(max_length=10, choices=Level, default=Level.INFO)
    until = BoundedDateTimeField(
        null=True,
        blank=True,
        help_text=(
            "The message is hidden after this time. Leave empty to show it until it is deleted."
        ),
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return Truncator(self.text).chars(60)
