"""Stores an application's widget, and the sites that may show it."""

from django.db import models

from apps.workspace.local.secrets.field import SecretField


class Widget(models.Model):
    """The settings of the widget that shows an application on other sites. They are not versioned."""

    application = models.OneToOneField(
        "catalog.Application", on_delete=models.CASCADE, primary_key=True, related_name="widget"
    )
    is_enabled = models.BooleanField("enabled", default=False)
    origins = models.JSONField(
        default=list, help_text="Pages on these origins can show the widget."
    )
    identity_key = SecretField(
        blank=True,
        default="",
        help_text="The public key that verifies the user identities signed by the other site.",
    )

    class Meta:
        app_label = "catalog"

    def __str__(self) -> str:
        return f"widget of application {self.pk}"
