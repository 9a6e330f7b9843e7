"""Defines the database models for the message IDs and push notification settings that clients send."""

from django.db import models
from django.utils import timezone

from apps.a2a.requests import LONGEST_ID
from apps.live.models import LONGEST_KEY, Run
from apps.workspace.local.secrets.field import SecretField

LONGEST_URL = 2_000


class ClientMessage(models.Model):
    """The ID that a client gave to a message. `key` is the key of the task's question that the
    message answered, or "" if the message started the task.
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
    """A URL that receives push notifications about one task. `name` is the ID that the client
    chose.
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
