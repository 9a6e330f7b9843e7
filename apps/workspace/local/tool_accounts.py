"""The accounts with which people have signed in to tools, and the clients as which we do that."""

import uuid
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.db import models
from django.utils import timezone

from apps.accounts.buckets import of_person
from apps.manifest.secrets import Credential
from apps.workspace.local.secrets import SecretField

LONGEST_URL = 500
UNFINISHED = timedelta(days=30)
"""Longer than a person takes to sign in, or to sign in again where a sign-in has ended."""


class ToolAccount(models.Model):
    """The account of one person at one server of tools; without a token until they have signed in.

    `server` is where the token is sent: the address of an MCP server, the origin of a REST service.
    With it, `client` and `token_service`, as the manifest names them, tell two accounts apart.
    `service` says how to sign in, as `apps.workspace.oauth.services.SignInService` describes it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    bucket = models.CharField(max_length=100)
    server = models.CharField(max_length=LONGEST_URL)
    client = models.CharField(max_length=LONGEST_URL, blank=True)
    token_service = models.CharField(max_length=LONGEST_URL, blank=True)
    title = models.CharField(max_length=200)
    service = models.JSONField(default=dict)
    client_id = models.CharField(max_length=LONGEST_URL, blank=True)
    client_secret = SecretField(blank=True, default="")
    secret_name = models.CharField(max_length=100, blank=True)
    auth_method = models.CharField(max_length=30, blank=True)

    asked_at = models.DateTimeField(default=timezone.now)
    """When the person was last asked to sign in."""
    state = models.CharField(max_length=64, null=True, blank=True, unique=True)
    """A hash of what the person brings back from the sign-in service."""
    state_until = models.DateTimeField(null=True, blank=True)
    verifier = SecretField(blank=True, default="")
    redirect_url = models.CharField(max_length=LONGEST_URL, blank=True)

    access_token = SecretField(blank=True, default="")
    refresh_token = SecretField(blank=True, default="")
    scope = models.TextField(blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    connected_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=0)
    """Grows with each change of the tokens."""
    refreshing_until = models.DateTimeField(null=True, blank=True)
    """Until then one process alone may refresh the token."""

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("bucket", "server", "client", "token_service"),
                name="one_account_at_a_server",
            ),
        )

    def __str__(self) -> str:
        return f"{self.bucket} at {self.server}"

    @property
    def secret(self) -> Credential:
        """The client's secret: its text, or the name of the secret that has it."""
        return Credential(self.client_secret, self.secret_name)


class RegisteredClient(models.Model):
    """This installation as a sign-in service knows it, which it registered with by itself."""

    issuer = models.CharField(max_length=LONGEST_URL)
    redirect_url = models.CharField(max_length=LONGEST_URL)
    client_id = models.CharField(max_length=LONGEST_URL)
    client_secret = SecretField(blank=True, default="")
    auth_method = models.CharField(max_length=30)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("issuer", "redirect_url"), name="one_client_at_a_sign_in_service"
            ),
        )

    def __str__(self) -> str:
        return self.issuer


def delete_of_bucket(bucket: str) -> None:
    ToolAccount.objects.filter(bucket=bucket).delete()


def delete_unfinished(awaited: Collection[str]) -> int:
    """Delete accounts that nobody is signed in with, long after the person was asked; the number.

    `awaited` are the ids of those for which a run still waits.
    """
    old = ToolAccount.objects.filter(asked_at__lt=timezone.now() - UNFINISHED)
    return old.filter(connected_at=None).exclude(pk__in=awaited).delete()[0]


def delete_of_user(sender: object, instance: models.Model, **kwargs: Any) -> None:
    """Receives the signal that the account of somebody here was deleted."""
    ToolAccount.objects.filter(of_person(instance.pk)).delete()
