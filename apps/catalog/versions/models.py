"""Stores the drafts and versions of applications, and the predefined content of each version."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.timezone import now

from apps.catalog.history.models import Change
from apps.catalog.icons.values import LONGEST_ICON, validate_icon
from apps.catalog.versions.sealed_documents import SealedDocumentField
from apps.workspace.local.models import Secret
from apps.workspace.local.secrets.field import SecretField
from apps.workspace.versions import VersionedRow


class ContentText(models.Model):
    """A predefined item in one or more snapshots. Its key is a hash of its content."""

    digest = models.CharField(max_length=64, primary_key=True)
    kind = models.CharField(max_length=20)
    name = models.CharField(max_length=255)
    # Encrypted, because the text of a file may contain a credential that was never in a database.
    text = SecretField()
    files = models.JSONField(default=dict)

    class Meta:
        app_label = "catalog"

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class ContentSnapshot(models.Model):
    """All predefined items in use at one time. `items` contains the sorted keys of `ContentText`
    rows.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    items = models.JSONField()

    class Meta:
        app_label = "catalog"

    def __str__(self) -> str:
        return self.digest


class ApplicationVersion(models.Model):
    """A published state of an application. Only `withdrawn_at` ever changes."""

    application = models.ForeignKey(
        "catalog.Application", on_delete=models.CASCADE, related_name="versions"
    )
    number = models.PositiveIntegerField(
        help_text="The version number, counted from 1 for each application."
    )
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    icon = models.CharField(max_length=LONGEST_ICON, blank=True, default="")
    document: Any = SealedDocumentField(help_text="The manifest as written.")
    """Credentials in the manifest are references to secrets."""
    snapshot = models.ForeignKey(ContentSnapshot, on_delete=models.PROTECT, null=True)
    """The predefined content at the time of publishing."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    author_name = models.CharField(
        max_length=150,
        help_text=("The author's name, which is retained after the account is deleted."),
    )
    via = models.CharField(max_length=10, choices=Change.Via)
    note = models.CharField(max_length=300)
    is_automatic = models.BooleanField(
        default=False, help_text="True if the version was published by saving, without a note."
    )
    published_at = models.DateTimeField(default=now)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        app_label = "catalog"
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(
                fields=("application", "number"), name="one_number_of_an_application"
            ),
        )

    def __str__(self) -> str:
        return f"{self.title} @{self.number}"

    @property
    def who(self) -> str:
        return self.author_name or str(self.get_via_display())


class ApplicationDraft(VersionedRow):
    """The unpublished changes to an application, which only its editors can run."""

    application = models.OneToOneField(
        "catalog.Application", on_delete=models.CASCADE, related_name="draft"
    )
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    icon = models.CharField(
        max_length=LONGEST_ICON, blank=True, default="", validators=[validate_icon]
    )
    manifest = models.JSONField()
    skills = models.JSONField(
        null=True,
        blank=True,
        help_text="The files of the application's own skills, by path; null for the current files.",
    )
    based_on = models.PositiveIntegerField(default=0)
    """The number of the version from which the draft started, or 0."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    editors = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        related_name="+",
        help_text=(
            "Users who changed the draft. They cannot publish it if publishing requires two users."
        ),
    )
    updated_at = models.DateTimeField(auto_now=True)

    made_secrets: Sequence[Secret] = ()
    """The secrets that the last save of this object created from plain credentials."""

    class Meta:
        app_label = "catalog"

    def __str__(self) -> str:
        return f"Draft of {self.title}"


class PublishingRequest(models.Model):
    """A user's request that another user publish a draft.

    A returned request remains stored, with its comment, until the user requests publication again.
    """

    draft = models.OneToOneField(ApplicationDraft, on_delete=models.CASCADE, related_name="request")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    person_name = models.CharField(max_length=150)
    note = models.CharField(max_length=300)
    digest = models.CharField(max_length=64)
    """A hash of the draft, which must not change before it is published."""
    asked_at = models.DateTimeField(default=now)
    returned_name = models.CharField(max_length=150, blank=True)
    returned_words = models.TextField(blank=True)
    returned_at = models.DateTimeField(null=True)

    class Meta:
        app_label = "catalog"

    def __str__(self) -> str:
        return f"{self.person_name}: {self.note}"

    @property
    def is_open(self) -> bool:
        return self.returned_at is None
