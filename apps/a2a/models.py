"""Defines the database models for clients' message IDs and push notification settings."""

from django.db import models
from django.utils import timezone

from apps.a2a.requests import LONGEST_ID
from apps.live.models import LONGEST_KEY, Run
from apps.workspace.local.secrets.field import SecretField

LONGEST_URL = 2_000


class ClientMessage(models.Model):
    """The client's ID for a message. `key` identifies the question that the message answered, or is
    "" if the message started the task.
    """

    QUESTION = ""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=LONGEST_KEY, blank=True)
    message_id = models.CharField(max_length=LONGEST_ID)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("run", "key"), name="a_client_message_is_named_once"),
        )

    def __str__(self) -> str:
        return f"message {self.message_id} of {self.run_id}"


class PushConfig(models.Model):
    """A URL that receives push notifications about a task. `name` is the client's ID for this
    configuration.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=LONGEST_ID)
    url = models.CharField(max_length=LONGEST_URL)
    token = SecretField(blank=True, default="")
    scheme = models.CharField(max_length=50, blank=True)
    credentials = SecretField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("run", "name"), name="a_push_config_is_named_once"),
        )

    def __str__(self) -> str:
        return f"push notifications of {self.run_id}"
