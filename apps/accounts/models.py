"""Keys for programs."""

from django.db import models
from rest_framework_api_key.models import AbstractAPIKey


class ApiKey(AbstractAPIKey):
    """A key for programs: shown once, kept as a hash, with an end and a scope.

    Without applications in its scope it may use all of them, unless it is limited: a limited key
    whose applications are deleted may use none, instead of suddenly all.
    """

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
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text="Empty: as for all keys; 0: without a limit."
    )
    tokens_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Of the questions and the answers. Empty: as for all keys; 0: without a limit.",
    )
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(AbstractAPIKey.Meta):
        verbose_name = "API key"
        verbose_name_plural = "API keys"
