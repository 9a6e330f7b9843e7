"""Defines the database models for teams, service accounts, groups, API keys and user settings."""

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.utils.translation import gettext_lazy
from rest_framework_api_key.models import AbstractAPIKey

from apps.accounts.arrivals import Invitation as Invitation
from apps.accounts.arrivals import SetupToken as SetupToken
from apps.accounts.arrivals import SignUp as SignUp
from apps.accounts.audit_entry import AuditEntry as AuditEntry
from apps.accounts.erasure_reports import ErasureReport as ErasureReport
from apps.accounts.legal_holds import LegalHold as LegalHold
from apps.accounts.oauth.rows import Program as Program
from apps.accounts.oauth.rows import ProgramConnection as ProgramConnection
from apps.accounts.preferences import Preferences as Preferences
from apps.accounts.quiet_hours import QuietHours
from apps.datetime_fields import BoundedDateTimeField


class Teams(models.Manager["Team"]):
    def get_queryset(self) -> models.QuerySet["Team"]:
        """Load each team together with its group, which stores the team's name. A list of teams
        then needs only one query.
        """
        return super().get_queryset().select_related("group")


class Team(models.Model):
    """A team, whose members are the members of a Django group.

    A group without a team is only a role. A team's conversations, files and memories are separate
    from its members' own.
    """

    class Visibility(models.TextChoices):
        """The users who can read a team conversation in addition to its author."""

        INSTALLATION = "installation", gettext_lazy("Only members who can read everyone’s answers")
        ADMINISTRATORS = "administrators", gettext_lazy("The team’s administrators")
        MEMBERS = "members", gettext_lazy("All members")

    group = models.OneToOneField(Group, on_delete=models.CASCADE, related_name="team")
    administrators = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="administered_teams",
        help_text=(
            "Administrators choose the members of the team. They also choose who can read "
            "its conversations."
        ),
    )
    visibility = models.CharField(
        max_length=20,
        choices=Visibility,
        default=Visibility.INSTALLATION,
        help_text="Applies only to new conversations.",
    )
    prompt = models.CharField(
        max_length=100,
        blank=True,
        help_text="The name of a predefined prompt that is added to the system prompt in this team.",
    )

    objects = Teams()

    class Meta:
        ordering = ("group__name",)

    def __str__(self) -> str:
        return self.group.name


class ServiceAccount(models.Model):
    """Marks an account as a service account, which has no password and no memories."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="service_account"
    )
    description = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("user__username",)

    def __str__(self) -> str:
        return self.user.get_username()


class InstallationRole(models.Model):
    """A group that the installation created. `name` is its original name."""

    name = models.CharField(max_length=30, unique=True)
    group = models.OneToOneField(
        Group, on_delete=models.SET_NULL, null=True, related_name="installation_role"
    )
    """The group, or None if an administrator has deleted it."""
    given = models.JSONField(default=list)
    """All permissions that the installation has ever granted to the group. If an administrator
    removes one of them, it is not granted again.
    """

    def __str__(self) -> str:
        return self.name


class ApiKey(AbstractAPIKey):
    """An API key, which is shown once and stored as a hash.

    A user's key can use the user's applications, in the team for which it was created. An
    installation-wide key can use all applications. A scope limits either kind of key to certain
    applications. If all of these are deleted, the key cannot use any application.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="api_keys",
        help_text=(
            "The key has the permissions of this user. Leave empty for a key that "
            "belongs to the installation."
        ),
    )
    team = models.ForeignKey(
        Team,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="api_keys",
        help_text="The team that the key works in.",
    )

    applications = models.ManyToManyField(
        "catalog.Application",
        blank=True,
        related_name="api_keys",
        help_text="The applications that the key can use. Select none to allow all applications.",
    )
    is_limited = models.BooleanField(
        "limited",
        default=False,
        help_text=(
            "If this setting is on, the key can use only the selected applications. If all of them are "
            "deleted, the key cannot use any application."
        ),
    )
    expiry_date = BoundedDateTimeField(
        "Expires",
        null=True,
        blank=True,
        help_text="The key stops working at this time. Leave empty for no expiry.",
    )
    version = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text=(
            "The number of a published version. The key keeps using it after later "
            "versions are published. Requires exactly one application."
        ),
    )
    requests_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text=("Leave empty for the default limit, or enter 0 for no limit."),
    )
    tokens_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text=(
            "Input and output tokens count together. Leave empty for the default limit, or enter 0 for no limit."
        ),
    )
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        help_text=(
            "The user who created the key. Empty if it was created on the command "
            "line, or before creators were recorded."
        ),
    )

    class Meta(AbstractAPIKey.Meta):
        verbose_name = "API key"
        verbose_name_plural = "API keys"

    @property
    def is_own(self) -> bool:
        """Return True if the key's user created the key, or if the user is a service account, which
        has no private data.
        """
        if self.user_id is None:
            return False
        return self.created_by_id == self.user_id or hasattr(self.user, "service_account")


class Picture(models.Model):
    """A user's profile picture, which was validated and scaled down when it was uploaded."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="picture"
    )
    content_type = models.CharField(max_length=20)
    content = models.BinaryField()
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"The picture of {self.user_id}"


class NoticeSettings(models.Model):
    """A user's settings for notifications about unseen answers. Without a row, the user gets none.

    The quiet hours are in the user's time zone, and apply only if both ends are set.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notice_settings"
    )
    sends_mail = models.BooleanField(default=False)
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_until = models.TimeField(null=True, blank=True)
    time_zone = models.CharField(max_length=100, default="UTC")

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"notification settings of {self.user_id}"

    @property
    def quiet_hours(self) -> QuietHours | None:
        if self.quiet_from is None or self.quiet_until is None:
            return None
        return QuietHours(self.quiet_from, self.quiet_until, self.time_zone)


class ClaimMapping(models.Model):
    """A mapping from a group at an identity provider to a local group. A user in the provider's
    group is added to the local group at sign-in.
    """

    provider = models.CharField(
        max_length=40, help_text=("The ID of the provider in SIGN_IN_PROVIDERS.")
    )
    value = models.CharField(
        max_length=255,
        help_text=(
            "Users whose claim from the provider contains this value are added to the group."
        ),
    )
    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="claim_mappings")
    is_exclusive = models.BooleanField(
        "exclusive",
        default=False,
        help_text=(
            "A user who signs in without this value is removed from the group, even if "
            "they were added by an administrator."
        ),
    )

    class Meta:
        verbose_name = "group of an identity provider"
        verbose_name_plural = "groups of identity providers"
        ordering = ("provider", "value")
        constraints = (
            models.UniqueConstraint(
                fields=("provider", "value", "group"), name="one_mapping_of_a_value"
            ),
        )

    def __str__(self) -> str:
        return f"{self.provider}: {self.value}"
