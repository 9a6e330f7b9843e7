"""The models that operators edit."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from rest_framework_api_key.models import AbstractAPIKey

from apps.catalog.application_files.models import (
    ApplicationSkill,
    ApplicationSource,
    managed_refusal,
)
from apps.catalog.application_files.own_skills import skill_problems
from apps.catalog.content.models import ContentItem
from apps.catalog.cycles import cycle_problems
from apps.catalog.history.models import Change
from apps.catalog.icons.models import IconImage
from apps.catalog.icons.values import LONGEST_ICON, validate_icon
from apps.catalog.owner_files import added_files
from apps.catalog.review import review_manifest
from apps.catalog.saved_prompts import SavedPrompt
from apps.catalog.versions.models import (
    ApplicationDraft,
    ApplicationVersion,
    ContentSnapshot,
    ContentText,
    PublishingRequest,
)
from apps.datetime_fields import BoundedDateTimeField
from apps.manifest.problems import Problem
from apps.manifest.validation import Review
from apps.workspace.versions import Versioned

if TYPE_CHECKING:
    from apps.catalog.versions.recorder import Publication

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
    "empty_manifest",
]


def empty_manifest() -> dict[str, Any]:
    """The smallest manifest an operator can start from."""
    return {
        "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
        "contexts": [],
        "tool_sets": [],
    }


class Application(Versioned):
    """An agent that people can talk to, described by its manifest."""

    slug = models.SlugField(
        unique=True,
        help_text="Its name in addresses and in the API. Whoever uses the old one loses the way "
        "when it changes.",
    )
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    icon = models.CharField(
        max_length=LONGEST_ICON,
        blank=True,
        default="",
        validators=[validate_icon],
        help_text="An emoji, or the colour of its letters from colour:0 to colour:11. Empty: letters "
        "on a colour of their own.",
    )
    manifest = models.JSONField(default=empty_manifest)
    is_enabled = models.BooleanField("enabled", default=True)
    is_public = models.BooleanField(
        "public", default=False, help_text="May be used without signing in."
    )
    is_shared = models.BooleanField(
        "shared", default=False, help_text="May be used by everybody who has signed in."
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
        help_text="Whoever changed the draft asks, and somebody else publishes it. Only a superuser "
        "switches this off.",
    )
    live_number = models.PositiveIntegerField(
        default=0,
        editable=False,
        help_text="Of the published version that answers; 0 while there is only a draft.",
    )
    archived_at = models.DateTimeField(null=True, editable=False)
    imported_hash = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    secrets_may_be_missing = False
    """True while a file is imported: its secrets may be added later."""
    is_from_files = False
    """True while files are saved, those of a managed directory among them."""
    is_unpublished = False
    """True for a new row that is to have nothing but a draft."""
    publication: "Publication | None" = None
    """What the next save publishes by intent; else it makes a version only of what it changes."""
    own_skills: Mapping[str, Mapping[str, str]] | None = None
    """The skills that are saved with the row; None for those that there are."""

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

    def clean(self) -> None:
        if not self.is_from_files and (refusal := managed_refusal(self.pk)):
            raise ValidationError(refusal)
        stored = Application.objects.filter(pk=self.pk).first() if self.pk else None
        if self.goes_live(stored) and (errors := self.manifest_problems()):
            raise ValidationError({"manifest": [*map(str, errors)]})
        if stored is not None and self.is_enabled and not (stored.is_enabled or stored.live_number):
            raise ValidationError({"is_enabled": "Publish it first: it has no version to answer."})
        is_other_owner, files = added_files(self)
        if is_other_owner and files:
            raise ValidationError({"owner": [*map(str, files)]})

    def goes_live(self, stored: "Application | None") -> bool:
        """Return whether a save makes a version, so that the manifest has to be valid.

        Access and the other properties of the row are saved whatever is wrong with the manifest.
        """
        if stored is None or self.is_from_files or self.publication is not None:
            return True
        return (self.slug, self.written) != (stored.slug, stored.written)

    @property
    def written(self) -> tuple[Any, ...]:
        """What a version has of the row."""
        return self.title, self.description, self.icon, self.manifest

    def manifest_problems(self) -> Sequence[Problem]:
        """Why the manifest and the skills of its own cannot be saved."""
        if errors := self.review().errors or cycle_problems(self.slug, self.manifest, self.pk):
            return errors
        if errors := [*skill_problems(self.own_skills or {})]:
            return errors
        is_other_owner, files = added_files(self)
        return () if is_other_owner else files

    def review(self) -> Review:
        return review_manifest(self.manifest, secrets_may_be_missing=self.secrets_may_be_missing)


class Role(models.IntegerChoices):
    """What somebody may do with an application. Each role may do what those before it may."""

    USER = 1, "User"
    EDITOR = 2, "Editor"
    OWNER = 3, "Owner"


class Grant(models.Model):
    """A role for one person, or for all members of a group or team."""

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
                violation_error_message="Choose a person or a group.",
            ),
            models.UniqueConstraint(fields=("application", "user"), name="one_grant_a_person"),
            models.UniqueConstraint(fields=("application", "group"), name="one_grant_a_group"),
        )

    def __str__(self) -> str:
        return f"{Role(self.role).label}: {self.user or self.group}"


class OperatorKey(AbstractAPIKey):
    """A key for scripts under `/api/`, with the permissions of one operator."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="operator_keys",
        limit_choices_to={"is_staff": True},
        help_text="Whose permissions the key has, for as long as that account is active staff.",
    )

    expiry_date = BoundedDateTimeField(
        "Expires",
        null=True,
        blank=True,
        help_text="Once API key expires, clients cannot use it anymore.",
    )

    class Meta(AbstractAPIKey.Meta):
        verbose_name = "operator key"
        verbose_name_plural = "operator keys"


class SystemMessage(models.Model):
    """What an operator has to say to everybody who is connected, or connects until it ends."""

    class Level(models.TextChoices):
        INFO = "info"
        WARNING = "warning"

    text = models.TextField(max_length=2000)
    level = models.CharField(max_length=10, choices=Level, default=Level.INFO)
    until = BoundedDateTimeField(
        null=True, blank=True, help_text="Not shown from then on; empty: until it is deleted."
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.level}: {self.text[:50]}"
