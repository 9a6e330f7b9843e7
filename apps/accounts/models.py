"""Teams, service accounts, roles of the installation, keys for programs, and what is a person's."""

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.utils.translation import gettext_lazy
from rest_framework_api_key.models import AbstractAPIKey

from apps.accounts.arrivals import Invitation as Invitation
from apps.accounts.arrivals import SetupToken as SetupToken
from apps.accounts.arrivals import SignUp as SignUp
from apps.accounts.audit_entry import AuditEntry as AuditEntry
from apps.accounts.quiet_hours import QuietHours
from apps.datetime_fields import BoundedDateTimeField


class Team(models.Model):
    """People who work together: a group, whose members are those of the team.

    A group without such a row is a role only. What people do in a team is kept apart from what
    they do elsewhere: conversations, files, memories.
    """

    class Visibility(models.TextChoices):
        """Who may read a conversation of the team beside its author."""

        INSTALLATION = "installation", gettext_lazy("Who may read the contents of all runs")
        ADMINISTRATORS = "administrators", gettext_lazy("The team's administrators")
        MEMBERS = "members", gettext_lazy("All members")

    group = models.OneToOneField(Group, on_delete=models.CASCADE, related_name="team")
    administrators = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="administered_teams",
        help_text="They choose the members and what the team's conversations show to whom.",
    )
    visibility = models.CharField(
        max_length=20,
        choices=Visibility,
        default=Visibility.INSTALLATION,
        help_text="Of conversations that begin from now on; earlier ones stay as they are.",
    )
    prompt = models.CharField(
        max_length=100,
        blank=True,
        help_text="The name of the predefined prompt with the team's layer of system prompts.",
    )

    class Meta:
        ordering = ("group__name",)

    def __str__(self) -> str:
        return self.group.name


class ServiceAccount(models.Model):
    """Makes its user one of a program: without a password, and without a memory."""

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
    """A group that is there from the start, whatever it is called by now.

    `given` are the permissions that it was given once, such as `catalog.view_application`: what
    somebody takes from the group is not given again. Without a group, somebody deleted it.
    """

    name = models.CharField(max_length=30, unique=True)
    group = models.OneToOneField(
        Group, on_delete=models.SET_NULL, null=True, related_name="installation_role"
    )
    given = models.JSONField(default=list)

    def __str__(self) -> str:
        return self.name


class ApiKey(AbstractAPIKey):
    """A key for programs: shown once, kept as a hash, with an end and a scope.

    The key of a person may use what its person may use, in the team that it was made for; one of
    the installation all applications. Applications in its scope limit either. A limited key whose
    applications are deleted may use none, instead of suddenly all.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="api_keys",
        help_text="Whose rights the key has; empty: a key of the installation.",
    )
    team = models.ForeignKey(
        Team,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="api_keys",
        help_text="Where the person works with this key.",
    )

    applications = models.ManyToManyField(
        "catalog.Application",
        blank=True,
        related_name="api_keys",
        help_text="Which applications the key may use; none chosen means all of them.",
    )
    is_limited = models.BooleanField(
        "limited",
        default=False,
        help_text="May use the chosen applications only, also when none of them is left.",
    )
    expiry_date = BoundedDateTimeField(
        "Expires",
        null=True,
        blank=True,
        help_text="Once API key expires, clients cannot use it anymore.",
    )
    version = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The number of a published version: the key goes on with it, whatever is "
        "published later. For a key of one application.",
    )
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text="Empty: as for all keys; 0: without a limit."
    )
    tokens_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Of the questions and the answers. Empty: as for all keys; 0: without a limit.",
    )
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        help_text="Empty: from the command line, or from before this was recorded.",
    )

    class Meta(AbstractAPIKey.Meta):
        verbose_name = "API key"
        verbose_name_plural = "API keys"

    @property
    def is_own(self) -> bool:
        """Return whether the person of the key made it. A service account has no person to keep data from."""
        if self.user_id is None:
            return False
        return self.created_by_id == self.user_id or hasattr(self.user, "service_account")


class Picture(models.Model):
    """Of a person, as they uploaded it: checked, small, and deleted with the account."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="picture"
    )
    content_type = models.CharField(max_length=20)
    content = models.BinaryField()
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"The picture of {self.user_id}"


class NoticeSettings(models.Model):
    """How a person wishes to be told of answers that they have not seen; without a row: not at all.

    The quiet hours are by the clocks of the time zone; without both ends there are none.
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
        return f"How {self.user_id} is told"

    @property
    def quiet_hours(self) -> QuietHours | None:
        if self.quiet_from is None or self.quiet_until is None:
            return None
        return QuietHours(self.quiet_from, self.quiet_until, self.time_zone)


class ClaimMapping(models.Model):
    """Makes members of a group of those whom an identity provider tells to be in one of its own."""

    provider = models.CharField(max_length=40, help_text="Its id in SIGN_IN_PROVIDERS.")
    value = models.CharField(max_length=255, help_text="As the claim of the provider has it.")
    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="claim_mappings")
    is_exclusive = models.BooleanField(
        "exclusive",
        default=False,
        help_text="Whoever signs in without this value leaves the group, however they joined it.",
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
